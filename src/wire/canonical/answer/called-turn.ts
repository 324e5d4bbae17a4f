import { identifyCall, identifyText } from "../../conversation/sent-turns.ts";
import type { AnswerEvent, PartDelta } from "../model/answer.ts";
import type { Part, ReasoningPart, Signature, ToolCallPart } from "../model/parts.ts";
import { growPart } from "./collect-answer.ts";

/**
 * The parts of a model's turn with tool calls that its vendor needs back: the reasoning and the signatures of the calls. A signed text is
 * stored as a separate turn. `restoreTurns` puts them into a later request.
 */
export interface CalledTurn {
  /** Identifies its calls (`identifyCall`), or its text (`identifyText`). */
  readonly keys: readonly string[];
  readonly reasoning: readonly ReasoningPart[];
  /** Signatures by key. */
  readonly signatures: Readonly<Record<string, Signature>>;
}

/** A text that is being streamed. */
interface WatchedText {
  readonly pieces: string[];
  signature: Signature | undefined;
}

/**
 * Returns an observer of normalised events. It calls `onTurn` for a turn with calls that has something its vendor needs back, and for
 * signed texts. It observes only the first choice, which is the one that clients continue.
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
  const key = identifyText(pieces.join(""));
  return { keys: [key], reasoning: [], signatures: signature === undefined ? {} : { [key]: signature } };
}

function isWatched(part: Part): part is ReasoningPart | ToolCallPart {
  return part.kind === "reasoning" || part.kind === "tool-call";
}

function describeTurn(parts: readonly (ReasoningPart | ToolCallPart)[]): CalledTurn | null {
  const calls = parts.filter((part) => part.kind === "tool-call");
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  const isWanted = reasoning.some(isVerifiable) || calls.some(({ signature }) => signature !== undefined);
  if (calls.length === 0 || !isWanted) return null;
  const keys = calls.map(({ id, name, arguments: args }) => identifyCall(id, name, args));
  const signatures: Record<string, Signature> = {};
  for (const [at, { signature }] of calls.entries())
    if (signature !== undefined) signatures[keys[at] as string] = signature;
  return { keys, reasoning, signatures };
}

/** Returns whether the vendor can verify that it made the reasoning. */
export function isVerifiable({ signature, encrypted }: ReasoningPart): boolean {
  return signature !== null || encrypted !== null;
}
