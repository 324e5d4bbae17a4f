import { hashText } from "../json/hash-nodes.ts";
import type { AnswerEvent, PartDelta } from "./answer.ts";
import { growPart } from "./collect-answer.ts";
import { mapSame } from "./map-same.ts";
import type { Part, ReasoningPart, Signature, ToolCallPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/**
 * What a vendor wants back of a model's turn that called tools: its reasoning and the signatures of its calls. A signed text is
 * stored as a turn as well, under the name that `nameText` gives it.
 */
export interface CalledTurn {
  readonly callIds: readonly string[];
  readonly reasoning: readonly ReasoningPart[];
  /** Signatures by call id. */
  readonly signatures: Readonly<Record<string, Signature>>;
}

/** A text that is being streamed. */
interface WatchedText {
  readonly pieces: string[];
  signature: Signature | undefined;
}

/**
 * Returns an observer of normalised events that calls `onTurn` for a turn with calls whose vendor wants something back, and for
 * signed texts. It only observes the first choice, which is the one that clients continue.
 */
export function createTurnWatcher(
  onTurn: (turn: CalledTurn) => void,
  signsTexts: boolean,
): (event: AnswerEvent) => void {
  const parts = new Map<number, ReasoningPart | ToolCallPart>();
  const texts = new Map<number, WatchedText>();
  return (event) => {
    if (!("choice" in event) || event.choice !== 0) return;
    if (event.kind === "part-start") {
      const { part } = event;
      if (isWatched(part)) parts.set(event.at, part);
      else if (signsTexts && part.kind === "text")
        texts.set(event.at, { pieces: [part.text], signature: part.signature });
    }
    if (event.kind === "part-delta") {
      const part = parts.get(event.at);
      if (part !== undefined) parts.set(event.at, growPart(part, event.delta) as typeof part);
      else growText(texts.get(event.at), event.delta);
    }
    if (event.kind !== "finish") return;
    const turn = describeTurn([...parts.values()]);
    if (turn !== null) onTurn(turn);
    for (const text of texts.values()) if (text.signature !== undefined) onTurn(describeText(text));
  };
}

/** Calls `onTurn` as a turn watcher does, for the parts of a whole first choice. Signed texts count. */
export function observeParts(parts: readonly Part[], onTurn: (turn: CalledTurn) => void): void {
  const turn = parts.some((part) => part.kind === "tool-call") ? describeTurn(parts.filter(isWatched)) : null;
  if (turn !== null) onTurn(turn);
  for (const part of parts)
    if (part.kind === "text" && part.signature !== undefined)
      onTurn(describeText({ pieces: [part.text], signature: part.signature }));
}

function growText(text: WatchedText | undefined, delta: PartDelta): void {
  if (text === undefined) return;
  if (delta.kind === "text") text.pieces.push(delta.text);
  if (delta.kind === "part-signature") text.signature = { value: delta.value, origin: delta.origin };
}

function describeText({ pieces, signature }: WatchedText): CalledTurn {
  const name = nameText(pieces.join(""));
  return { callIds: [name], reasoning: [], signatures: signature === undefined ? {} : { [name]: signature } };
}

/** Returns the key under which a text is stored, where a turn has no call id. */
export function nameText(text: string): string {
  return `text:${hashText(text)}:${text.length}`;
}

function isWatched(part: Part): part is ReasoningPart | ToolCallPart {
  return part.kind === "reasoning" || part.kind === "tool-call";
}

function describeTurn(parts: readonly (ReasoningPart | ToolCallPart)[]): CalledTurn | null {
  const calls = parts.filter((part) => part.kind === "tool-call");
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  const signatures: Record<string, Signature> = {};
  for (const call of calls) if (call.signature !== undefined) signatures[call.id] = call.signature;
  const wantsBack = reasoning.some(isVerifiable) || Object.keys(signatures).length > 0;
  return calls.length > 0 && wantsBack ? { callIds: calls.map(({ id }) => id), reasoning, signatures } : null;
}

function isVerifiable({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}

/**
 * Restores what the client dropped from earlier turns. What the client did send back is kept; reasoning without its signature, or
 * with the signature and only part of its text, is replaced by the whole. `wantsTexts`: the vendor signs texts as well.
 */
export function restoreTurns(
  request: ConversationRequest,
  recall: Recall,
  wantsTexts: boolean,
): ConversationRequest {
  if (!request.messages.some(({ role }) => role === "assistant")) return request;
  const last = findLastTurns(request.messages);
  const restore = (message: Message): Message => {
    if (message.role !== "assistant") return message;
    const callId = callOf(message);
    const turn = callId === null || last.get(callId) !== message ? null : recall(callId);
    const restored = turn === null ? message : restoreMessage(message, turn);
    return wantsTexts ? restoreTexts(restored, recall) : restored;
  };
  const messages = mapSame(request.messages, restore);
  return messages === request.messages ? request : { ...request, messages };
}

type Recall = (callId: string) => CalledTurn | null;

function restoreTexts(message: Message, recall: Recall): Message {
  const parts = mapSame(message.parts, (part) => {
    if (part.kind !== "text" || part.text === "" || part.signature !== undefined) return part;
    const name = nameText(part.text);
    const signature = recall(name)?.signatures[name];
    return signature === undefined ? part : { ...part, signature };
  });
  return parts === message.parts ? message : { ...message, parts };
}

/**
 * The maximum number of turns that are looked up for one request, counted from its end: a lookup costs as much as encoding the
 * turn.
 */
export const MAX_RECALLED = 1_000;

/** Returns the last message of each first call. The store keeps the latest turn of a call, which belongs to one message only. */
function findLastTurns(messages: readonly Message[]): ReadonlyMap<string, Message> {
  const last = new Map<string, Message>();
  for (let at = messages.length - 1; at >= 0 && last.size < MAX_RECALLED; at--) {
    const message = messages[at] as Message;
    const callId = callOf(message);
    if (callId !== null && !last.has(callId)) last.set(callId, message);
  }
  return last;
}

/** Returns the first call of an assistant message; null where it has none. */
function callOf({ role, parts }: Message): string | null {
  const call = role === "assistant" ? parts.find((part) => part.kind === "tool-call") : undefined;
  return call?.id ?? null;
}

function restoreMessage(message: Message, turn: CalledTurn): Message {
  const parts = message.parts.map((part) => restoreSignature(part, turn));
  const sent = message.parts.filter((part) => part.kind === "reasoning").filter(isVerifiable);
  if (sent.length > 0 && !isDamaged(sent, turn)) return { ...message, parts };
  return { ...message, parts: [...turn.reasoning, ...parts.filter((part) => part.kind !== "reasoning")] };
}

/** Whether the client sent the turn's own reasoning incompletely: some libraries lose pieces when they join a stream. */
function isDamaged(sent: readonly ReasoningPart[], { reasoning }: CalledTurn): boolean {
  const given = reasoning.filter(isVerifiable);
  const signatures = new Set(sent.map(signatureKeyOf));
  const wholes = new Set(sent.map(contentKeyOf));
  return (
    given.some((part) => signatures.has(signatureKeyOf(part))) &&
    !given.every((part) => wholes.has(contentKeyOf(part)))
  );
}

function signatureKeyOf({ signature, encrypted }: ReasoningPart): string {
  return JSON.stringify([signature, encrypted]);
}

function contentKeyOf({ signature, encrypted, text }: ReasoningPart): string {
  return JSON.stringify([signature, encrypted, text]);
}

function restoreSignature(part: Part, { signatures }: CalledTurn): Part {
  if (part.kind !== "tool-call" || part.signature !== undefined) return part;
  const signature = signatures[part.id];
  return signature === undefined ? part : { ...part, signature };
}
