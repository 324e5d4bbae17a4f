import { parseCompletionsRequest } from "../../../wire/client-apis/completions-request.ts";
import { renderError } from "../../errors/render-error.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST completions` (docs/api/completions.md). */
export const completions = inferenceHandler({
  api: "completions",
  access: { kind: "open_inference" },
  parse: parseCompletionsRequest,
  renderError,
});
