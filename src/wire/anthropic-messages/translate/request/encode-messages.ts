import type { Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { bareTextOf, encodeContent, encodePart, isBareText } from "../parts/encode-part.ts";
import { isOwn, keptFields } from "../parts/extras.ts";

/** A conversation in the form of this API. */
export interface EncodedMessages {
  readonly system: string | readonly Fields[] | null;
  readonly messages: readonly Fields[];
}

/** A message while it is put together from canonical messages. */
interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly parts: Part[];
  /** Whether it came in this format, so that it keeps its boundaries and all its parts. */
  readonly isOwn: boolean;
  readonly rest: Fields;
}

/**
 * Encodes a conversation (the README says how message boundaries are known). For messages of other formats, leading system
 * messages go to `system`, neighbouring messages of one role become one message, and tool results come first in theirs.
 * @throws GatewayError as `encodePart`.
 */
export function encodeMessages(messages: readonly Message[], warn: Warn): EncodedMessages {
  const leading = countLeadingSystem(messages);
  const turns: Turn[] = [];
  for (let at = leading; at < messages.length; at++) {
    const message = messages[at] as Message;
    const isMarked = isInstruction(message) && !isOwn(message);
    addMessage(turns, message, isMarked ? markInstruction(message, `messages[${at}]`, warn) : message.parts);
  }
  const fieldOf = createFieldNames(messages);
  const encode = (part: Part): Fields | null => encodePart(part, fieldOf(part), warn);
  const encoded = turns.map((turn, at) => encodeTurn(turn, at === turns.length - 1, encode));
  const first = encoded.findIndex((message) => message !== null);
  // System messages keep their position, so that it is the same in the next turn.
  const lacksUser = first < 0 ? leading > 0 : turns[first]?.role === "assistant" && !turns[first].isOwn;
  return {
    system: encodeSystem(messages.slice(0, leading), warn),
    messages: [...(lacksUser ? [addOpening(warn)] : []), ...encoded.filter((message) => message !== null)],
  };
}

/** Adds a user message before a conversation that begins with the assistant, which this API rejects. */
function addOpening(warn: Warn): Fields {
  warn("messages", "The conversation does not begin with the user; a first message was added.");
  return { role: "user", content: "Continue." };
}

function countLeadingSystem(messages: readonly Message[]): number {
  const first = messages.findIndex((message) => !isInstruction(message) || isOwn(message));
  return first < 0 ? messages.length : first;
}

function isInstruction({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

function encodeSystem(messages: readonly Message[], warn: Warn): EncodedMessages["system"] {
  const parts = messages.flatMap((message) => message.parts).filter((part) => !isBlank(part));
  if (parts.length === 0) return null;
  return encodeContent(parts, (part, at) => encodePart(part, `system[${at}]`, warn));
}

function addMessage(turns: Turn[], message: Message, parts: readonly Part[]): void {
  const role = message.role === "assistant" ? "assistant" : isOwnSystem(message) ? "system" : "user";
  const last = turns.at(-1);
  const begins = last === undefined || last.role !== role || (isOwn(message) && last.isOwn);
  if (begins) turns.push({ role, parts: [...parts], isOwn: isOwn(message), rest: keptFields(message) });
  else for (const part of parts) last.parts.push(part);
}

function isOwnSystem(message: Message): boolean {
  return message.role === "system" && isOwn(message);
}

/**
 * Marks an instruction in the middle of the conversation. It stays in its position, so that what came before it stays cached, but
 * is sent as a user message, and the client is warned.
 */
function markInstruction(message: Message, field: string, warn: Warn): readonly Part[] {
  warn(field, `A ${message.role} message after other messages was sent as a user message, marked <system>.`);
  return message.parts.map((part) =>
    part.kind === "text" ? { ...part, text: `<system>\n${part.text}\n</system>` } : part,
  );
}

/** Encodes a turn; null if nothing of it is left. */
function encodeTurn(turn: Turn, isLast: boolean, encode: (part: Part) => Fields | null): Fields | null {
  const content = encodeContent(turn.isOwn ? turn.parts : normalize(turn, isLast), encode);
  const isEmptied = content.length === 0 && turn.parts.some((part) => !isBareText(part));
  if (content.length === 0 && (isEmptied || !turn.isOwn)) return null;
  return { role: turn.role, content, ...turn.rest };
}

/**
 * Returns a function that names a part's field to the client, for warnings and errors; "" for texts and calls and results of one text,
 * about which there are none. Most requests need no names, so the positions are only listed for the first.
 */
function createFieldNames(messages: readonly Message[]): (part: Part) => string {
  let names: ReadonlyMap<Part, string> | null = null;
  return (part) => {
    if (part.kind === "text" || part.kind === "tool-call") return "";
    if (part.kind === "tool-result" && bareTextOf(part.content) !== null) return "";
    names ??= listFieldNames(messages);
    return names.get(part) ?? "messages";
  };
}

function listFieldNames(messages: readonly Message[]): ReadonlyMap<Part, string> {
  const names = new Map<Part, string>();
  for (const [at, { parts }] of messages.entries())
    for (const [index, part] of parts.entries()) names.set(part, `messages[${at}].content[${index}]`);
  return names;
}

/** Fixes what this API rejects and other formats allow: blank texts, results after texts, whitespace at the end of a prefill. */
function normalize({ role, parts }: Turn, isLast: boolean): readonly Part[] {
  const ordered = isOrdered(parts) ? parts : [...parts.filter(isResult), ...parts.filter(isOther)];
  const end = ordered.at(-1);
  if (!isLast || role !== "assistant" || end?.kind !== "text") return ordered;
  return ordered.with(-1, { ...end, text: end.text.trimEnd() });
}

/** Whether results come first and nothing is blank, as in most turns. */
function isOrdered(parts: readonly Part[]): boolean {
  let hasOthers = false;
  for (const part of parts) {
    if (isResult(part) ? hasOthers : isBlank(part)) return false;
    hasOthers ||= !isResult(part);
  }
  return true;
}

function isResult({ kind }: Part): boolean {
  return kind === "tool-result";
}

function isOther(part: Part): boolean {
  return !isResult(part) && !isBlank(part);
}

function isBlank(part: Part): boolean {
  return (isBareText(part) || part.kind === "refusal") && part.text.trim() === "";
}
