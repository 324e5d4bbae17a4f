import { rejectField } from "../../../base/failures/errors.ts";
import { type BlankTexts, isBlank } from "../../conversation/blank-texts.ts";
import type { ProviderFormat } from "../../conversation/traits/format-name.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { ModelTarget } from "../model/format.ts";
import type { Part } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

interface FittedBlanks {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Adapts blank texts to a model that rejects them. A blank text next to other content is omitted. A user's turn without content is kept, so
 * that the turns around it stay separate; it gets a space, or a text that says that it is empty. Each turn is treated on its own, so that
 * earlier turns stay the same in later requests.
 * @throws GatewayError `invalid_request` if the last turn says nothing to a model that takes no spaces, or has only what the target's
 * format does not have.
 */
export function fitBlankTexts(
  request: ConversationRequest,
  {
    format,
    model,
  }: {
    readonly format: Pick<FormatTraits, "name" | "contents">;
    readonly model: Pick<ModelTarget, "blankTexts">;
  },
): FittedBlanks {
  const blankTexts = model.blankTexts ?? format.contents.blankTexts;
  const { messages } = request;
  const isEmpty = (part: Part) => blankTexts !== undefined && isBlankText(part, blankTexts);
  const isNothing = (part: Part) => isEmpty(part) || isLost(part, format.name);
  rejectLostTurn(messages, { isNothing, format: format.name });
  if (
    blankTexts === undefined ||
    !messages.some(({ parts }) => parts.length === 0 || parts.some(holds(isEmpty)))
  )
    return { request, warnings: NO_WARNINGS };
  const warnings: Warning[] = [];
  const fitted: Message[] = [];
  for (let at = 0; at < messages.length; ) {
    const message = messages[at] as Message;
    const end = message.role === "assistant" ? at + 1 : endOfTurn(messages, at);
    const turn = messages.slice(at, end);
    const full = turn.flatMap((one) => withoutBlanks(one, isEmpty));
    const saysNothing = turn.some(isUsers) && !full.some(({ role }) => role === "user" || role === "tool");
    const hasInstruction = at > 0 && full.length > 0;
    if (!saysNothing || hasInstruction) fitted.push(...full);
    else {
      const first = at + turn.findIndex(isUsers);
      if (blankTexts === "none") {
        if (end === messages.length) rejectField(`messages[${first}].content`, SAYS_NOTHING);
        warnings.push({ field: `messages[${first}].content`, message: NAMED_EMPTY });
      }
      const text = blankTexts === "none" ? EMPTY : " ";
      fitted.push(...full, { ...(messages[first] as Message), parts: [{ kind: "text", text }] });
    }
    at = end;
  }
  return { request: { ...request, messages: fitted }, warnings };
}

const NO_WARNINGS: readonly Warning[] = [];

/** The text of a user's turn without content, for models that reject blank texts. */
const EMPTY = "(empty message)";
const NAMED_EMPTY = `The model takes no message without a text; "${EMPTY}" was sent in its place.`;
const SAYS_NOTHING = "must not be empty: this model takes no message without a text";

/** Returns whether a text is blank for the model. A signed text carries reasoning and is kept. */
function isBlankText(part: Part, rejected: BlankTexts): boolean {
  if (part.kind !== "text" && part.kind !== "refusal") return false;
  if (part.kind === "text" && part.signature !== undefined) return false;
  return isBlank(part.text, rejected);
}

/** Returns whether a part exists only in another format and has no text to replace it. */
function isLost(part: Part, format: ProviderFormat): boolean {
  return part.kind === "native" && part.format !== format && part.text === undefined;
}

/** Returns a function that applies a test to a part and to the parts of a result. */
function holds(isEmpty: (part: Part) => boolean): (part: Part) => boolean {
  return (part) => isEmpty(part) || (part.kind === "tool-result" && part.content.some(isEmpty));
}

function isUsers({ role }: Message): boolean {
  return role === "user";
}

/** Returns the index after the run of messages from `at` on that are not the assistant's. */
function endOfTurn(messages: readonly Message[], at: number): number {
  let end = at;
  while (end < messages.length && messages[end]?.role !== "assistant") end++;
  return end;
}

/** Returns the message without its blank texts; no message if nothing is left. */
function withoutBlanks(message: Message, isEmpty: (part: Part) => boolean): readonly Message[] {
  const kept = message.parts.filter((part) => !isEmpty(part)).map((part) => withoutInner(part, isEmpty));
  if (kept.length === 0) return [];
  const isSame = kept.length === message.parts.length && kept.every((part, at) => part === message.parts[at]);
  return [isSame ? message : { ...message, parts: keepMark(message.parts, kept) }];
}

/** A result that is one plain text is sent as a string, which may be empty. */
function withoutInner(part: Part, isEmpty: (part: Part) => boolean): Part {
  if (part.kind !== "tool-result") return part;
  const [only] = part.content;
  if (part.content.length === 1 && only?.extras === undefined && only?.cache === undefined) return part;
  const content = part.content.filter((inner) => !isEmpty(inner));
  return content.length === part.content.length ? part : { ...part, content };
}

/** Moves the cache mark of trailing blank texts to the last part that is kept. */
function keepMark(parts: readonly Part[], kept: readonly Part[]): readonly Part[] {
  const last = kept.at(-1) as Part;
  const mark = parts.at(-1)?.cache;
  return mark === undefined || last.cache !== undefined ? kept : kept.with(-1, { ...last, cache: mark });
}

/** Rejects a request if the target's format cannot express any content of its last turn. */
function rejectLostTurn(
  messages: readonly Message[],
  { isNothing, format }: { readonly isNothing: (part: Part) => boolean; readonly format: ProviderFormat },
): void {
  const start = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  const turn = messages.slice(start);
  const at = turn.findIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => isLost(part, format)),
  );
  const isAllLost = turn.every(({ role, parts }) =>
    role === "user" ? parts.every(isNothing) : role !== "tool",
  );
  if (at < 0 || !isAllLost) return;
  const { parts } = turn[at] as Message;
  const index = parts.findIndex((part) => isLost(part, format));
  const lost = parts[index];
  const type = lost?.kind === "native" ? lost.type : "";
  rejectField(
    `messages[${start + at}].content[${index}]`,
    `is of the type ${JSON.stringify(type)}, which this model's provider does not have, and the message has nothing else`,
  );
}
