import { openChatRequest } from "../../wire/dialects/chat-request.ts";
import { inferenceHandler } from "../inference.ts";
import { renderError } from "../render-error.ts";

/** `POST chat/completions` (specification 4.1). */
export const chatCompletions = inferenceHandler({ open: openChatRequest, renderError });
