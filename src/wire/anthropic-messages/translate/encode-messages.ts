import type { Part } from "../../canonical/parts.ts";
import type { Message } from "../../canonical/request.ts";
import type { Warn } from "../../canonical/warn.ts";
import type { Fields } from "../../json/fields.ts";
import { encodeContent, encodePart, isBareText } from "./encode-part.ts";
import { isOwn, keptFields } from "./extras.ts";

/** A conversation in the form of this API. */
export interface EncodedMessages {
  readonly system: string | readonly Fields[] | null;
  readonly messages: readonly Fields[];
}

/** A part, and its position in the client's request: the message, and the part within it. */
interface Entry {
  readonly part: Part;
  readonly message: number;
  readonly index: number;
}

/** A message while it is put together from canonical messages. */
interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly entries: Entry[];
  /** It came in this format, so it keeps its boundaries and all its parts. */
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
  // A conversation that is only a system message is sent as a user message, because there must be something to answer.
  const hoisted = leading === messages.length ? 0 : leading;
  const turns: Turn[] = [];
  for (const [at, message] of messages.entries()) {
    if (at < hoisted) continue;
    const isMarked = at >= leading && isInstruction(message) && !isOwn(message);
    const parts = isMarked ? markInstruction(message, `messages[${at}]`, warn) : message.parts;
    addMessage(turns, message, { parts, at });
  }
  const encoded = turns.map((turn, at) => encodeTurn(turn, at === turns.length - 1, warn));
  const first = encoded.findIndex((message) => message !== null);
  const lacksUser = turns[first]?.role === "assistant" && !turns[first].isOwn;
  return {
    system: encodeSystem(messages.slice(0, hoisted), warn),
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

function addMessage(
  turns: Turn[],
  message: Message,
  { parts, at }: { readonly parts: readonly Part[]; readonly at: number },
): void {
  const entries = parts.map((part, index) => ({ part, message: at, index }));
  const role = message.role === "assistant" ? "assistant" : isOwnSystem(message) ? "system" : "user";
  const last = turns.at(-1);
  const begins = last === undefined || last.role !== role || (isOwn(message) && last.isOwn);
  if (begins) turns.push({ role, entries, isOwn: isOwn(message), rest: keptFields(message) });
  else for (const entry of entries) last.entries.push(entry);
}

function isOwnSystem(message: Message): boolean {
  return message.role === "system" && isOwn(message);
}

/**
 * Marks an instruction in the middle of the conversation. It stays in its position, so that what came before it stays cached, but
 * is sent as a user message, and the client is warned.
 */
function markInstruction(message: Message, field: string, warn: Warn): readonly Part[] {
  warn(field, `A ${message.role} message behind the first others was sent as a user's, marked <system>.`);
  return message.parts.map((part) =>
    part.kind === "text" ? { ...part, text: `<system>\n${part.text}\n</system>` } : part,
  );
}

/** Encodes a turn; null if nothing of it is left. */
function encodeTurn(turn: Turn, isLast: boolean, warn: Warn): Fields | null {
  const entries = turn.isOwn ? turn.entries : normalize(turn, isLast);
  const content = encodeContent(
    entries.map(({ part }) => part),
    (part, at) => encodePart(part, nameField(entries[at] as Entry), warn),
  );
  const isEmptied = content.length === 0 && turn.entries.some(({ part }) => !isBareText(part));
  if (content.length === 0 && (isEmptied || !turn.isOwn)) return null;
  return { role: turn.role, content, ...turn.rest };
}

/** Returns the name of a part for warnings and errors; "" for texts and calls, about which there are none. */
function nameField({ part, message, index }: Entry): string {
  return part.kind === "text" || part.kind === "tool-call" ? "" : `messages[${message}].content[${index}]`;
}

/** Fixes what this API rejects and other formats allow: blank texts, results after texts, whitespace at the end of a prefill. */
function normalize(turn: Turn, isLast: boolean): Entry[] {
  const results: Entry[] = [];
  const others: Entry[] = [];
  for (const entry of turn.entries) {
    if (entry.part.kind === "tool-result") results.push(entry);
    else if (!isBlank(entry.part)) others.push(entry);
  }
  const ordered = others.length === 0 ? results : results.concat(others);
  const end = ordered.at(-1);
  if (isLast && turn.role === "assistant" && end?.part.kind === "text") {
    ordered[ordered.length - 1] = { ...end, part: { ...end.part, text: end.part.text.trimEnd() } };
  }
  return ordered;
}

function isBlank(part: Part): boolean {
  return (isBareText(part) || part.kind === "refusal") && part.text.trim() === "";
}
