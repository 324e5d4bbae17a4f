import { parseMessagesRequest } from "../../../wire/client-apis/messages-request.ts";
import { renderMessagesError } from "../../errors/client-api-errors.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST messages` (docs/api/messages.md). */
export const messages = inferenceHandler({
  api: "messages",
  access: { kind: "open_inference" },
  parse: parseMessagesRequest,
  renderError: renderMessagesError,
  requestIdHeader: "request-id",
});
