import type { ModelRecord } from "./records.ts";

/** What a model is asked for: its output says so. */
export function actionOf({ outputModalities }: ModelRecord): "chat" | "embeddings" {
  return outputModalities.includes("embedding") ? "embeddings" : "chat";
}
