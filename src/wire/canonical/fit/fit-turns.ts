import { rejectField } from "../../../base/failures/errors.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { ModelTarget } from "../model/format.ts";
import type { Part } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";
import { stripSpelling } from "./strip-reasoning.ts";

type TurnsByFormat = Readonly<Record<ProviderFormat, Pick<FormatTraits, "turns">>>;

interface FittedTurns {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Adapts the turns of a conversation to the limits of a model. It may accept system messages only at the start, or thinking only with a
 * signature, or no prefill (a last message of the assistant to continue). `formats` gives the meaning of the client's turns.
 * @throws GatewayError `invalid_request` for a prefill, if it means the beginning of the answer in the client's format.
 */
export function fitTurns(
  request: ConversationRequest,
  model: Pick<ModelTarget, "takesMidSystem" | "takesPrefill" | "takesUnsigned">,
  formats: TurnsByFormat,
): FittedTurns {
  const placed =
    model.takesMidSystem === false && request.messages.some((message) => isMidSystem(message, formats))
      ? { ...request, messages: request.messages.map((message) => withoutSpelling(message, formats)) }
      : request;
  const signed =
    model.takesUnsigned === false
      ? removeUnsigned(placed, formats)
      : { request: placed, warnings: NO_WARNINGS };
  return model.takesPrefill === false ? fitPrefill(signed, formats) : signed;
}

/** Removes unsigned thinking, if the client's format has signatures: a model of another vendor made it. */
function removeUnsigned(request: ConversationRequest, formats: TurnsByFormat): FittedTurns {
  const isLost = (part: Part) => isUnsigned(part, formats);
  if (!request.messages.some(({ parts }) => parts.some(isLost))) return { request, warnings: NO_WARNINGS };
  const messages = request.messages.flatMap((message): Message[] => {
    const parts = message.parts.filter((part) => !isLost(part));
    if (parts.length === message.parts.length) return [message];
    return parts.length === 0 ? [] : [{ ...message, parts, lacksReasoning: true }];
  });
  const reasoning = request.reasoning === null ? null : stripSpelling(request.reasoning);
  return { request: { ...request, messages, reasoning }, warnings: [UNSIGNED] };
}

function isUnsigned(part: Part, formats: TurnsByFormat): boolean {
  return (
    part.kind === "reasoning" &&
    part.extras !== undefined &&
    formats[part.extras.format].turns.signsThinking === true &&
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

/** Whether a message is a system message of a client that may have it among the turns. */
function isMidSystem({ role, extras }: Message, formats: TurnsByFormat): boolean {
  return role === "system" && extras !== undefined && formats[extras.format].turns.hasMidSystem === true;
}

/** A message of another format, whose place the encoder decides. */
function withoutSpelling(message: Message, formats: TurnsByFormat): Message {
  if (!isMidSystem(message, formats)) return message;
  const { extras: _, ...rest } = message;
  return rest;
}

function fitPrefill(fitted: FittedTurns, formats: TurnsByFormat): FittedTurns {
  const { request, warnings } = fitted;
  const last = request.messages.at(-1);
  if (last?.role !== "assistant" || last.parts.some(({ kind }) => kind === "tool-call")) return fitted;
  if (last.extras !== undefined && formats[last.extras.format].turns.continuesLast === true)
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

/** The message that requests another answer after a last message of the assistant, as clients of other APIs expect. */
const GO_ON: Message = { role: "user", parts: [{ kind: "text", text: "Continue." }] };
