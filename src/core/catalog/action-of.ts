import type { ModelRecord } from "./records.ts";

/** Returns what requests to a model ask for, by its output modalities. */
export function actionOf({ outputModalities }: ModelRecord): "chat" | "embeddings" {
  return outputModalities.includes("embedding") ? "embeddings" : "chat";
}
