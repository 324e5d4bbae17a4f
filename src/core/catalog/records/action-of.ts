import type { InferenceAction } from "../../../wire/client-apis/request/inference-request.ts";
import type { ModelRecord } from "./records.ts";

/** The purpose of a model. Models for conversations also serve text completions and fill in the middle. */
export type ModelAction = Exclude<InferenceAction, "completions" | "fim">;

/** The actions of models with a single output modality. A model whose only output is text is for conversations. */
const ACTIONS: Readonly<Record<string, ModelAction>> = {
  embedding: "embeddings",
  moderation: "moderations",
  rerank: "rerank",
  image: "images",
  speech: "speech",
  transcription: "transcriptions",
};

/** Returns the action of requests to a model, from its output modalities. */
export function actionOf({ outputModalities }: Pick<ModelRecord, "outputModalities">): ModelAction {
  const [only = "", another] = outputModalities;
  return another === undefined ? (ACTIONS[only] ?? "chat") : "chat";
}
