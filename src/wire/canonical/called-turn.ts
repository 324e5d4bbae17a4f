import { hashText } from "../json/hash-nodes.ts";
import type { AnswerEvent, PartDelta } from "./answer.ts";
import { growPart } from "./collect-answer.ts";
import { mapSame } from "./map-same.ts";
import type { Part, ReasoningPart, Signature, ToolCallPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/**
 * A model's turn that called tools, and what its vendor wants back of it: its reasoning, and the proofs on its calls. Or a
 * text with a proof, which stands for a call under the name that `nameText` gives it.
 */
export interface CalledTurn {
  readonly callIds: readonly string[];
  readonly reasoning: readonly ReasoningPart[];
  /** By call id. */
  readonly proofs: Readonly<Record<string, Signature>>;
}

/** A text while it comes. */
interface WatchedText {
  readonly pieces: string[];
  signature: Signature | undefined;
}

/**
 * Watches the events of an answer, set right, and tells `onTurn` of a turn with calls whose vendor wants something back,
 * and of texts with a proof where the vendor signs texts. Of several choices the first alone: it is the one that clients
 * go on with.
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

function growText(text: WatchedText | undefined, delta: PartDelta): void {
  if (text === undefined) return;
  if (delta.kind === "text") text.pieces.push(delta.text);
  if (delta.kind === "proof") text.signature = { value: delta.value, origin: delta.origin };
}

function describeText({ pieces, signature }: WatchedText): CalledTurn {
  const name = nameText(pieces.join(""));
  return { callIds: [name], reasoning: [], proofs: signature === undefined ? {} : { [name]: signature } };
}

/** What a text is remembered by, in place of a call's id. */
function nameText(text: string): string {
  return `text:${hashText(text)}:${text.length}`;
}

function isWatched(part: Part): part is ReasoningPart | ToolCallPart {
  return part.kind === "reasoning" || part.kind === "tool-call";
}

function describeTurn(parts: readonly (ReasoningPart | ToolCallPart)[]): CalledTurn | null {
  const calls = parts.filter((part) => part.kind === "tool-call");
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  const proofs: Record<string, Signature> = {};
  for (const call of calls) if (call.signature !== undefined) proofs[call.id] = call.signature;
  const wantsBack = reasoning.some(isProven) || Object.keys(proofs).length > 0;
  return calls.length > 0 && wantsBack ? { callIds: calls.map(({ id }) => id), reasoning, proofs } : null;
}

function isProven({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}

/**
 * Gives turns back what the client dropped of them. What the client did send back stays as it is; reasoning that it sent
 * without its proof, or with the proof and not all of its text, makes room for the whole of it. `wantsTexts`: the vendor
 * signs texts as well.
 */
export function restoreTurns(
  request: ConversationRequest,
  recall: Recall,
  wantsTexts: boolean,
): ConversationRequest {
  const restore = (message: Message): Message => {
    if (message.role !== "assistant") return message;
    const restored = restoreCalls(message, recall);
    return wantsTexts ? restoreTexts(restored, recall) : restored;
  };
  return { ...request, messages: mapSame(request.messages, restore) };
}

type Recall = (callId: string) => CalledTurn | null;

function restoreTexts(message: Message, recall: Recall): Message {
  const parts = mapSame(message.parts, (part) => {
    if (part.kind !== "text" || part.text === "" || part.signature !== undefined) return part;
    const name = nameText(part.text);
    const signature = recall(name)?.proofs[name];
    return signature === undefined ? part : { ...part, signature };
  });
  return parts === message.parts ? message : { ...message, parts };
}

function restoreCalls(message: Message, recall: Recall): Message {
  const call = message.parts.find((part) => part.kind === "tool-call");
  if (call === undefined) return message;
  const turn = recall(call.id);
  if (turn === null) return message;
  const parts = message.parts.map((part) => restoreProof(part, turn));
  const sent = message.parts.filter((part) => part.kind === "reasoning").filter(isProven);
  if (sent.length > 0 && !isDamaged(sent, turn)) return { ...message, parts };
  return { ...message, parts: [...turn.reasoning, ...parts.filter((part) => part.kind !== "reasoning")] };
}

/** Whether what was sent is the turn's own reasoning, and not all of it: libraries that join a stream lose pieces. */
function isDamaged(sent: readonly ReasoningPart[], { reasoning }: CalledTurn): boolean {
  const given = reasoning.filter(isProven);
  const isOwn = given.some((part) => sent.some((other) => hasSameProof(part, other)));
  return (
    isOwn &&
    !given.every((part) => sent.some((other) => hasSameProof(part, other) && part.text === other.text))
  );
}

function hasSameProof(a: ReasoningPart, b: ReasoningPart): boolean {
  return a.signature === b.signature && a.encrypted === b.encrypted;
}

function restoreProof(part: Part, { proofs }: CalledTurn): Part {
  if (part.kind !== "tool-call" || part.signature !== undefined) return part;
  const signature = proofs[part.id];
  return signature === undefined ? part : { ...part, signature };
}
