import {
  type EmbeddingsParameters,
  listPresent,
  nameLeftOut,
  requireTexts,
} from "../canonical/embeddings.ts";
import type { EncodedRequest } from "../canonical/format.ts";

/** Texts that one call takes. */
const MAX_TEXTS = 96;

/** What is not a query is what queries are held against, and Cohere wants to know which. */
const USUAL_INPUT_TYPE = "search_document";

/** Fields of Cohere that no other format has. */
const OWN_FIELDS = ["truncate", "priority", "max_tokens"];

/**
 * The body of an embed request. Numbers are asked for, whatever the client wants: all models give them.
 * @throws GatewayError `invalid_request` for token ids and for more texts than one call takes.
 */
export function encodeCohereEmbeddings(wish: EmbeddingsParameters, model: string): EncodedRequest {
  const { dimensions, extras } = wish;
  const own = OWN_FIELDS.flatMap((field) => (field in extras ? [[field, extras[field]]] : []));
  const body = {
    model,
    texts: requireTexts(wish.inputs, MAX_TEXTS),
    input_type: wish.inputType ?? USUAL_INPUT_TYPE,
    embedding_types: ["float"],
    ...(dimensions === null ? {} : { output_dimension: dimensions }),
    ...Object.fromEntries(own),
  };
  return { body, warnings: nameLeftOut(listPresent(extras).filter((field) => !OWN_FIELDS.includes(field))) };
}
