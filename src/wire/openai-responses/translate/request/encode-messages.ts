import { fail } from "../../../../base/failures/errors.ts";
import { omit } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { ModelTarget } from "../../../canonical/model/format.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { takesPlainReasoning } from "../../encrypted-reasoning.ts";
import { originOfModel } from "../../reasoning-origin.ts";
import { encodeItem, encodeResult, groupParts, type ItemGroup } from "../parts/encode-items.ts";
import { encodePart } from "../parts/encode-part.ts";
import { readSpelling } from "../parts/extras.ts";
import { isOwnReasoning, pickFirst } from "../parts/reasoning-parts.ts";

interface EncodedInput {
  readonly instructions?: string;
  readonly input: unknown;
}

/**
 * Encodes a conversation as `input`, with `instructions` if they came as such and the target takes them. What this format cannot
 * express is left out with a warning. Reasoning that the vendor cannot read is left out silently: another vendor's, and what it
 * would look up in its store.
 * @throws GatewayError `invalid_request` for media that this format has no form for.
 */
export function encodeMessages(messages: readonly Message[], target: ModelTarget, warn: Warn): EncodedInput {
  const items: unknown[] = [];
  let instructions: string | null = null;
  for (const [index, message] of messages.entries()) {
    if (readSpelling(message)?.asInstructions === true) instructions = textOf(message.parts);
    else for (const item of encodeMessage(message, { index, target, warn })) items.push(item);
  }
  const plain = readPlainInput(messages, items);
  return { ...(instructions === null ? {} : { instructions }), input: plain ?? items };
}

/** Returns an input that came as text if nothing was added to it. */
function readPlainInput(messages: readonly Message[], items: readonly unknown[]): string | null {
  const last = messages.at(-1);
  const spelling = last === undefined ? null : readSpelling(last);
  const isPlain = spelling?.asText === true && spelling.item === undefined && items.length === 1;
  return isPlain ? textOf(last?.parts ?? []) : null;
}

/** The message that is encoded, and for which model. */
interface MessageContext {
  readonly index: number;
  readonly target: ModelTarget;
  readonly warn: Warn;
}

function encodeMessage(message: Message, at: MessageContext): unknown[] {
  switch (message.role) {
    case "assistant":
      return encodeTurn(message, at);
    case "tool":
      return message.parts.flatMap((part, i) =>
        encodeToolPart(part, `messages[${at.index}].content[${i}]`, at),
      );
    default:
      return [encodePrompt(message, at)];
  }
}

function encodePrompt(message: Message, at: MessageContext): Record<string, unknown> {
  const spelling = readSpelling(message);
  const head = { ...(spelling?.item ?? { type: "message" }), role: message.role };
  if (spelling?.asText) return { ...head, content: textOf(message.parts) };
  return { ...head, content: encodeContent(message.parts, `messages[${at.index}].content`, at.warn) };
}

function encodeContent(parts: readonly Part[], field: string, warn: Warn): unknown[] {
  const encoded = parts.map((part, i) => {
    const one = encodePart(part, "input_text");
    if (one === null && isMedia(part)) rejectMedia(`${field}[${i}]`, part);
    if (one === null) warnLeftOut(`${field}[${i}]`, part, warn);
    return one;
  });
  return encoded.filter((part) => part !== null);
}

function isMedia({ kind }: Part): boolean {
  return kind === "image" || kind === "audio" || kind === "video" || kind === "file";
}

/** Rejects media that cannot be sent, because without it the model would answer another question. */
function rejectMedia(field: string, { kind }: Part): never {
  const problem =
    kind === "audio" || kind === "video"
      ? `is ${kind}, which this model does not take. Remove it or choose another model.`
      : `is ${kind === "image" ? "an" : "a"} ${kind} that this model does not take in this form. Send it as base64, or choose another model.`;
  return fail("invalid_request", `${field} ${problem}`, { metadata: { field } });
}

function warnLeftOut(field: string, part: Part, warn: Warn): void {
  const name = part.kind === "native" ? part.type : part.kind;
  warn(field, `This model's provider cannot represent this ${name}; it was left out.`);
}

function encodeToolPart(part: Part, field: string, { warn }: MessageContext): unknown[] {
  if (part.kind !== "tool-result") return [];
  const encoded = encodeResult(part);
  const isReduced = part.content.some((inner) => encodePart(inner, "input_text") === null);
  if (isReduced) {
    warn(field, "This model's provider cannot represent some parts of this result; they were left out.");
  }
  return [encoded];
}

function encodeTurn(message: Message, at: MessageContext): unknown[] {
  const { groups, rest } = groupParts(message.parts);
  const field = `messages[${at.index}]`;
  for (const part of rest) warnLeftOut(field, part, at.warn);
  const sent = groups.filter((group) => isSent(group, field, at));
  const isCut =
    message.lacksReasoning === true || sent.filter(isReasoning).length < groups.filter(isReasoning).length;
  return sent.map((group) => encodeSentItem(group, isCut));
}

/** Returns whether an item is reasoning, decoded or native. */
function isReasoning({ kind, parts }: ItemGroup): boolean {
  return kind === "reasoning" || (kind === "native" && parts[0]?.type === "reasoning");
}

function isSent(group: ItemGroup, field: string, { target, warn }: MessageContext): boolean {
  if (isReasoning(group)) {
    const isSent = canReplay(group, target);
    if (!isSent && isOfThisFormat(group)) warn(field, LOST_ITEM);
    return isSent;
  }
  if (group.kind !== "native" || group.parts[0]?.type !== "item_reference") return true;
  const message = "Items are not stored here, so this reference was left out. Send the item itself.";
  warn(field, message);
  return false;
}

const LOST_ITEM =
  "Reasoning of an earlier turn was left out: the provider reads only what it encrypted itself, and this came from another or is not encrypted.";

/** Whether an item of reasoning came in this format; that of other formats is never readable here. */
function isOfThisFormat(group: ItemGroup): boolean {
  return group.kind !== "reasoning" || isOwnReasoning(group.parts);
}

/** Returns whether the vendor can read a reasoning item that it has not stored. */
function canReplay(group: ItemGroup, target: ModelTarget): boolean {
  if (group.kind !== "reasoning") {
    const encrypted = group.kind === "native" ? group.parts[0]?.value["encrypted_content"] : null;
    return (typeof encrypted === "string" && encrypted !== "") || takesPlainReasoning(target);
  }
  if (!isOwnReasoning(group.parts)) return false;
  if (pickFirst(group.parts, "encrypted") === null) return takesPlainReasoning(target);
  const origin = pickFirst(group.parts, "origin");
  return origin === null || origin === originOfModel(target.name);
}

/** Items whose id names the reasoning that they belong to, and that can do without it. */
const NEEDS_NO_ID: ReadonlySet<unknown> = new Set(["message", "function_call", "custom_tool_call"]);
const ID: ReadonlySet<string> = new Set(["id"]);

/** Arguments are JSON, even if another format sent none. In a turn without its reasoning, ids would refer to it. */
function encodeSentItem(group: ItemGroup, isCut: boolean): Record<string, unknown> {
  const encoded = encodeItem(group);
  const item = isCut && NEEDS_NO_ID.has(encoded["type"]) ? omit(encoded, ID) : encoded;
  const isBare =
    item["type"] === "function_call" && item["arguments"] === "" && !readSpelling(group.parts[0] as Part);
  return isBare ? { ...item, arguments: "{}" } : item;
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}
