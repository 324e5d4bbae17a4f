import { openEmbeddingsRequest } from "../../wire/dialects/embeddings-request.ts";
import { inferenceHandler } from "../inference.ts";
import { renderError } from "../render-error.ts";

/** `POST embeddings` (docs/contract.md, "Embeddings"). */
export const embeddings = inferenceHandler({ open: openEmbeddingsRequest, renderError });
