import {
  type EmbeddingsParameters,
  listPresent,
  requireTexts,
  warnOfDropped,
} from "../../canonical/embeddings/embeddings.ts";
import type { EncodedRequest } from "../../canonical/model/format.ts";

/** Maximum number of texts in one call of `batchEmbedContents`. */
const MAX_TEXTS = 100;

/** Gemini's task types by input type. */
const TASK_TYPES: Readonly<Record<string, string>> = {
  search_document: "RETRIEVAL_DOCUMENT",
  search_query: "RETRIEVAL_QUERY",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

/**
 * Encodes the body of `batchEmbedContents`, which has one request for each text. `model` is the provider's name of the model.
 * @throws GatewayError `invalid_request` for token ids and for more texts than one call takes.
 */
export function encodeGeminiEmbeddings(parameters: EmbeddingsParameters, model: string): EncodedRequest {
  const { dimensions, inputType, extras } = parameters;
  const taskType = inputType === null ? undefined : TASK_TYPES[inputType];
  const requests = requireTexts(parameters.inputs, MAX_TEXTS).map((text) => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...(taskType === undefined ? {} : { taskType }),
    ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
  }));
  const unknown = inputType !== null && taskType === undefined ? ["input_type"] : [];
  return { body: { requests }, warnings: warnOfDropped([...listPresent(extras), ...unknown]) };
}
