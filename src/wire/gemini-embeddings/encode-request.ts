import {
  type EmbeddingsParameters,
  listPresent,
  nameLeftOut,
  requireTexts,
} from "../canonical/embeddings.ts";
import type { EncodedRequest } from "../canonical/format.ts";

/** Texts that one call of `batchEmbedContents` takes. */
const MAX_TEXTS = 100;

/** What vectors are for, in Gemini's words. */
const TASK_TYPES: Readonly<Record<string, string>> = {
  search_document: "RETRIEVAL_DOCUMENT",
  search_query: "RETRIEVAL_QUERY",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

/**
 * The body of `batchEmbedContents`: a request a text. `model` is the model's name there.
 * @throws GatewayError `invalid_request` for token ids and for more texts than one call takes.
 */
export function encodeGeminiEmbeddings(wish: EmbeddingsParameters, model: string): EncodedRequest {
  const { dimensions, inputType, extras } = wish;
  const taskType = inputType === null ? undefined : TASK_TYPES[inputType];
  const requests = requireTexts(wish.inputs, MAX_TEXTS).map((text) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...(taskType === undefined ? {} : { taskType }),
    ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
  }));
  const unknown = inputType !== null && taskType === undefined ? ["input_type"] : [];
  return { body: { requests }, warnings: nameLeftOut([...listPresent(extras), ...unknown]) };
}
