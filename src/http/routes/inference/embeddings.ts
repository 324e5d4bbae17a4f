import { parseEmbeddingsRequest } from "../../../wire/client-apis/embeddings-request.ts";
import { renderError } from "../../errors/render-error.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST embeddings` (docs/api/embeddings.md). */
export const embeddings = inferenceHandler({
  api: "embeddings",
  access: { kind: "open_inference" },
  parse: parseEmbeddingsRequest,
  renderError,
});
