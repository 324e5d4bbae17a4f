import { rejectField } from "../../base/errors.ts";
import type { Warning } from "../conversation/warning.ts";
import type { ModelTarget } from "./format.ts";
import type { Part } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";
import { stripSpelling } from "./strip-reasoning.ts";

interface FittedTurns {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Fits the turns of a conversation to a model that takes no system messages behind the first, no thinking without a signature, or does not
 * continue a last message of the assistant (a prefill).
 * @throws GatewayError `invalid_request` for a prefill of a Messages client, to whom it means the beginning of the answer.
 */
export function fitTurns(
  request: ConversationRequest,
  model: Pick<ModelTarget, "takesMidSystem" | "takesPrefill" | "takesUnsigned">,
): FittedTurns {
  const placed =
    model.takesMidSystem === false && request.messages.some(isOwnSystem)
      ? { ...request, messages: request.messages.map(withoutSpelling) }
      : request;
  const signed =
    model.takesUnsigned === false ? leaveOutUnsigned(placed) : { request: placed, warnings: NO_WARNINGS };
  return model.takesPrefill === false ? fitPrefill(signed) : signed;
}

/** Leaves out thinking of Messages clients that no vendor has signed: a model of another vendor made it. */
function leaveOutUnsigned(request: ConversationRequest): FittedTurns {
  if (!request.messages.some(({ parts }) => parts.some(isUnsigned)))
    return { request, warnings: NO_WARNINGS };
  const messages = request.messages.flatMap((message): Message[] => {
    const parts = message.parts.filter((part) => !isUnsigned(part));
    if (parts.length === message.parts.length) return [message];
    return parts.length === 0 ? [] : [{ ...message, parts, lacksReasoning: true }];
  });
  const reasoning = request.reasoning === null ? null : stripSpelling(request.reasoning);
  return { request: { ...request, messages, reasoning }, warnings: [UNSIGNED] };
}

function isUnsigned(part: Part): boolean {
  return (
    part.kind === "reasoning" &&
    part.extras?.format === MESSAGES &&
    part.signature === null &&
    part.encrypted === null
  );
}

const UNSIGNED: Warning = {
  field: "messages",
  message:
    "Thinking without a signature was left out: the model's vendor rejects thinking that it has not signed.",
};

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

function fitPrefill(fitted: FittedTurns): FittedTurns {
  const { request, warnings } = fitted;
  const last = request.messages.at(-1);
  if (last?.role !== "assistant" || last.parts.some(({ kind }) => kind === "tool-call")) return fitted;
  if (last.extras?.format === MESSAGES)
    rejectField(
      `messages[${request.messages.length - 1}]`,
      "must not be an assistant message at the end: this model does not continue it. End with a user message, or ask for a format of the answer with output_config",
    );
  return {
    request: { ...request, messages: [...request.messages, GO_ON] },
    warnings: [
      ...warnings,
      {
        field: "messages",
        message: "The model does not answer an assistant message; a user message was added.",
      },
    ],
  };
}

/** Asks for the next answer, as clients of other APIs expect it after an answer. */
const GO_ON: Message = { role: "user", parts: [{ kind: "text", text: "Continue." }] };
