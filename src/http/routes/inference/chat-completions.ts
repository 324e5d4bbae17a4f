import { toChatBody } from "../../../wire/client-apis/chat-from-responses.ts";
import { parseChatRequest } from "../../../wire/client-apis/chat-request.ts";
import { renderError } from "../../errors/render-error.ts";
import { inferenceHandler } from "../../inference/inference-handler.ts";

/** `POST chat/completions` (specification 4.1). */
export const chatCompletions = inferenceHandler({
  api: "chat.completions",
  access: { kind: "open_inference" },
  parse: parseChatRequest,
  convert: toChatBody,
  renderError,
});
