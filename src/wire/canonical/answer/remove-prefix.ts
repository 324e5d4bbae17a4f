import type { AnswerEvent } from "../model/answer.ts";

/**
 * Returns a function that takes a prefill off an answer whose vendor repeats it: the first text of each choice loses the prefix, as far as
 * it begins with it. Texts that may still become the prefix are held back.
 */
export function createPrefixRemover(prefix: string): (event: AnswerEvent) => readonly AnswerEvent[] {
  /** What is left to be matched, by choice; absent before the first text. */
  const states = new Map<number, PrefixState>();
  return (event) => {
    if (event.kind === "part-start" && event.part.kind === "text") {
      if (states.has(event.choice)) return [event];
      const state: PrefixState = { at: event.at, rest: prefix };
      states.set(event.choice, state);
      return [{ ...event, part: { ...event.part, text: match(state, prefix, event.part.text) } }];
    }
    if (event.kind !== "part-delta" && event.kind !== "part-end") return [event];
    const state = states.get(event.choice);
    if (state === undefined || state.at !== event.at || state.rest === "") return [event];
    if (event.kind === "part-delta" && event.delta.kind === "text") {
      const text = match(state, prefix, event.delta.text);
      return text === "" ? [] : [{ ...event, delta: { kind: "text", text } }];
    }
    return event.kind === "part-end" ? [...giveBack(state, prefix, event), event] : [event];
  };
}

interface PrefixState {
  /** The text part that may begin with the prefix. */
  readonly at: number;
  /** Of the prefix. Empty: nothing is matched any more. */
  rest: string;
}

/** Takes as much of the prefix off a piece as it has; returns the rest of the piece, with what was held back if it is no prefix. */
function match(state: PrefixState, prefix: string, piece: string): string {
  const { rest } = state;
  if (piece.length < rest.length && rest.startsWith(piece)) {
    state.rest = rest.slice(piece.length);
    return "";
  }
  state.rest = "";
  if (piece.startsWith(rest)) return piece.slice(rest.length);
  return prefix.slice(0, prefix.length - rest.length) + piece;
}

/** A text that ends within the prefix was not a repetition of it. */
function giveBack(
  state: PrefixState,
  prefix: string,
  { choice, at }: { readonly choice: number; readonly at: number },
): readonly AnswerEvent[] {
  const text = prefix.slice(0, prefix.length - state.rest.length);
  state.rest = "";
  return text === "" ? [] : [{ kind: "part-delta", choice, at, delta: { kind: "text", text } }];
}
