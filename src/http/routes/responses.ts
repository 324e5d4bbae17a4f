import { parseResponsesRequest } from "../../wire/client-apis/responses-request.ts";
import { renderResponsesError } from "../errors/client-api-errors.ts";
import { inferenceHandler } from "../inference/inference-handler.ts";

/** `POST responses` (docs/contract.md, "Responses and Messages"). */
export const responses = inferenceHandler({
  access: { kind: "open_inference" },
  parse: parseResponsesRequest,
  renderError: renderResponsesError,
});
