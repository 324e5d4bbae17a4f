import { isVerifiable } from "../answer/called-turn.ts";
import { mapSame } from "../model/map-same.ts";
import type { Part, ReasoningPart, Signature } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/** The parts to restore in one turn of the model. */
export interface RestoredTurn {
  /** The id of the turn's first call; null for a turn of texts. */
  readonly callId: string | null;
  readonly reasoning: readonly ReasoningPart[];
  /** Signatures of its calls by id. */
  readonly signatures: ReadonlyMap<string, Signature>;
  /** Signatures of its texts that are not empty, in order. */
  readonly texts: readonly (Signature | undefined)[];
}

/**
 * Restores parts that the client dropped from earlier turns. Never replaces what the client sent: its signatures stay, and so does
 * reasoning that differs from the stored one. `turns` are the turns of the conversation with calls or texts, the last one first.
 */
export function restoreTurns(
  request: ConversationRequest,
  turns: readonly (RestoredTurn | EmptyTurn)[],
): ConversationRequest {
  if (!turns.some(isRestored)) return request;
  const messages = [...request.messages];
  let next = 0;
  for (let at = messages.length - 1; at >= 0 && next < turns.length; at--) {
    const message = messages[at] as Message;
    if (!isTurn(message)) continue;
    const turn = turns[next++] as RestoredTurn | EmptyTurn;
    // The request has turns that were not read from the client's bytes, so earlier turns cannot be matched reliably.
    if (turn.callId !== callOf(message)) break;
    if (isRestored(turn)) messages[at] = restoreMessage(message, turn);
  }
  return { ...request, messages };
}

/** A turn in which nothing is restored. */
export type EmptyTurn = Pick<RestoredTurn, "callId">;

function isRestored(turn: RestoredTurn | EmptyTurn): turn is RestoredTurn {
  return "reasoning" in turn;
}

function isTurn({ role, parts }: Message): boolean {
  return role === "assistant" && parts.some(isOfTurn);
}

/** Returns whether a message with this part is a turn that is looked up. */
function isOfTurn(part: Part): boolean {
  return part.kind === "tool-call" ? part.id !== "" : part.kind === "text" && part.text !== "";
}

/** Returns the first call of a message with an id; null if it has none. */
function callOf({ parts }: Message): string | null {
  for (const part of parts) if (part.kind === "tool-call" && part.id !== "") return part.id;
  return null;
}

function restoreMessage(message: Message, turn: RestoredTurn): Message {
  let texts = 0;
  const parts = mapSame(message.parts, (part) => {
    if (part.kind === "tool-call") return withSignature(part, turn.signatures.get(part.id));
    return part.kind === "text" && isOfTurn(part) ? withSignature(part, turn.texts[texts++]) : part;
  });
  const sent = parts.filter((part) => part.kind === "reasoning");
  if (!isMissing(sent, turn.reasoning)) return { ...message, parts };
  return { ...message, parts: [...turn.reasoning, ...parts.filter((part) => part.kind !== "reasoning")] };
}

function withSignature(part: Part, signature: Signature | undefined): Part {
  if (signature === undefined || ("signature" in part && part.signature !== undefined)) return part;
  return { ...part, signature } as Part;
}

/** Returns whether the client dropped some of the reasoning and changed none of the rest. */
function isMissing(sent: readonly ReasoningPart[], made: readonly ReasoningPart[]): boolean {
  const known = new Set(sent.map(contentKeyOf));
  if (made.every((part) => known.has(contentKeyOf(part)))) return false;
  const proofs = new Set(made.flatMap(({ signature, encrypted }) => [signature, encrypted]));
  const text = withoutSpace(made);
  return sent.every(
    (part) =>
      (!isVerifiable(part) ||
        ((part.signature === null || proofs.has(part.signature)) &&
          (part.encrypted === null || proofs.has(part.encrypted)))) &&
      text.includes(withoutSpace([part])),
  );
}

/** Joins texts. Clients join the pieces of a stream, and the paragraphs of a summary, in different ways. */
function withoutSpace(parts: readonly ReasoningPart[]): string {
  return parts.map(({ text }) => text.replace(/\s+/g, "")).join("");
}

function contentKeyOf({ signature, encrypted, text }: ReasoningPart): string {
  return JSON.stringify([signature, encrypted, text]);
}
