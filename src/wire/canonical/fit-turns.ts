import type { Warning } from "../conversation/warning.ts";
import { rejectField } from "../../base/errors.ts";
import type { ModelTarget } from "./format.ts";
import type { ConversationRequest, Message } from "./request.ts";

interface FittedTurns {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Fits the turns of a conversation to a model that takes no system messages behind the first, or does not continue a last message of the
 * assistant (a prefill).
 * @throws GatewayError `invalid_request` for a prefill of a Messages client, to whom it means the beginning of the answer.
 */
export function fitTurns(
  request: ConversationRequest,
  { takesMidSystem, takesPrefill }: Pick<ModelTarget, "takesMidSystem" | "takesPrefill">,
): FittedTurns {
  const fitted =
    takesMidSystem === false && request.messages.some(isOwnSystem)
      ? { ...request, messages: request.messages.map(withoutSpelling) }
      : request;
  return takesPrefill === false ? fitPrefill(fitted) : { request: fitted, warnings: NO_WARNINGS };
}

const NO_WARNINGS: readonly Warning[] = [];

/** Whether a message is a system message among the turns, as only Messages has it. */
function isOwnSystem({ role, extras }: Message): boolean {
  return role === "system" && extras?.format === MESSAGES;
}

const MESSAGES = "anthropic-messages";

/** A message of another format, whose place the encoder decides. */
function withoutSpelling(message: Message): Message {
  if (!isOwnSystem(message)) return message;
  const { extras: _, ...rest } = message;
  return rest;
}

function fitPrefill(request: ConversationRequest): FittedTurns {
  const last = request.messages.at(-1);
  if (last?.role !== "assistant" || last.parts.some(({ kind }) => kind === "tool-call"))
    return { request, warnings: NO_WARNINGS };
  if (last.extras?.format === MESSAGES)
    rejectField(
      `messages[${request.messages.length - 1}]`,
      "must not be an assistant message at the end: this model does not continue it. End with a user message, or ask for a format of the answer with output_config",
    );
  return {
    request: { ...request, messages: [...request.messages, GO_ON] },
    warnings: [
      {
        field: "messages",
        message: "The model does not answer an assistant message; a user message was added.",
      },
    ],
  };
}

/** Asks for the next answer, as clients of other APIs expect it after an answer. */
const GO_ON: Message = { role: "user", parts: [{ kind: "text", text: "Continue." }] };
