import {
  type EmbeddingsParameters,
  listPresent,
  requireTexts,
  warnOfDropped,
} from "../../canonical/embeddings/embeddings.ts";
import type { EncodedRequest } from "../../canonical/model/format.ts";

/** Maximum number of texts in one call. */
const MAX_TEXTS = 96;

/** The input type that Cohere demands if the client sends none: text to be searched. */
const DEFAULT_INPUT_TYPE = "search_document";

/** Fields that only Cohere has. */
const OWN_FIELDS = ["truncate", "priority", "max_tokens"];

/**
 * Encodes the body of an embed request. Vectors are requested as floats whatever the client wants, because all models support
 * them.
 * @throws GatewayError `invalid_request` for token ids and for more texts than one call takes.
 */
export function encodeCohereEmbeddings(parameters: EmbeddingsParameters, model: string): EncodedRequest {
  const { dimensions, extras } = parameters;
  const own = OWN_FIELDS.flatMap((field) => (field in extras ? [[field, extras[field]]] : []));
  const body = {
    model,
    texts: requireTexts(parameters.inputs, MAX_TEXTS),
    input_type: parameters.inputType ?? DEFAULT_INPUT_TYPE,
    embedding_types: ["float"],
    ...(dimensions === null ? {} : { output_dimension: dimensions }),
    ...Object.fromEntries(own),
  };
  return {
    body,
    warnings: warnOfDropped(listPresent(extras).filter((field) => !OWN_FIELDS.includes(field))),
  };
}
