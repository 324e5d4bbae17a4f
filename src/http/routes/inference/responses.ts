import { parseResponsesRequest } from "../../../wire/client-apis/responses-request.ts";
import { renderResponsesError } from "../../errors/client-api-errors.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST responses` (docs/api/responses.md). */
export const responses = inferenceHandler({
  api: "responses",
  access: { kind: "open_inference" },
  parse: parseResponsesRequest,
  renderError: renderResponsesError,
});
