import { parseFimRequest } from "../../../wire/client-apis/fim-request.ts";
import { renderError } from "../../errors/render-error.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST fim/completions` (specification 4.2). */
export const fimCompletions = inferenceHandler({
  api: "fim",
  access: { kind: "inference" },
  parse: parseFimRequest,
  renderError,
});
