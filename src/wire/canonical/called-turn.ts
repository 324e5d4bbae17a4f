import type { AnswerEvent } from "./answer.ts";
import { growPart } from "./collect-answer.ts";
import { mapSame } from "./map-same.ts";
import type { Part, ReasoningPart, Signature, ToolCallPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/** A model's turn that called tools, and what its vendor wants back of it: its reasoning, and the proofs on its calls. */
export interface CalledTurn {
  readonly callIds: readonly string[];
  readonly reasoning: readonly ReasoningPart[];
  /** By call id. */
  readonly proofs: Readonly<Record<string, Signature>>;
}

/**
 * Watches the events of an answer, set right, and tells `onTurn` of a turn with calls whose vendor wants something back.
 * Of several choices the first alone: it is the one that clients go on with.
 */
export function createTurnWatcher(onTurn: (turn: CalledTurn) => void): (event: AnswerEvent) => void {
  const parts = new Map<number, ReasoningPart | ToolCallPart>();
  return (event) => {
    if (!("choice" in event) || event.choice !== 0) return;
    if (event.kind === "part-start" && isWatched(event.part)) parts.set(event.at, event.part);
    if (event.kind === "part-delta") {
      const part = parts.get(event.at);
      if (part !== undefined) parts.set(event.at, growPart(part, event.delta) as typeof part);
    }
    if (event.kind !== "finish") return;
    const turn = describeTurn([...parts.values()]);
    if (turn !== null) onTurn(turn);
  };
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
 * without its proof, or with the proof and not all of its text, makes room for the whole of it.
 */
export function restoreTurns(
  request: ConversationRequest,
  recall: (callId: string) => CalledTurn | null,
): ConversationRequest {
  return { ...request, messages: mapSame(request.messages, (message) => restoreMessage(message, recall)) };
}

function restoreMessage(message: Message, recall: (callId: string) => CalledTurn | null): Message {
  const call =
    message.role === "assistant" ? message.parts.find((part) => part.kind === "tool-call") : undefined;
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
