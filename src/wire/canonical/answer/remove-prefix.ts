import type { AnswerEvent } from "../model/answer.ts";

/**
 * Returns a function that removes a prefill which the vendor repeats in its answer. It is removed from the beginning of each choice's first
 * text. A text is held back while it may still turn out to be the prefix.
 */
export function createPrefixRemover(prefix: string): (event: AnswerEvent) => readonly AnswerEvent[] {
  /** The state of the match by choice; absent before the first text. */
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
    return event.kind === "part-end" ? [...releaseText(state, prefix, event), event] : [event];
  };
}

interface PrefixState {
  /** The text part that may begin with the prefix. */
  readonly at: number;
  /** The rest of the prefix that is still to be matched. Empty when the match is over. */
  rest: string;
}

/**
 * Matches a piece against the rest of the prefix and removes the matching part. Returns the remainder of the piece, preceded by the
 * held-back text if it was not the prefix.
 */
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

/** Releases a text that ended within the prefix, and so did not repeat it. */
function releaseText(
  state: PrefixState,
  prefix: string,
  { choice, at }: { readonly choice: number; readonly at: number },
): readonly AnswerEvent[] {
  const text = prefix.slice(0, prefix.length - state.rest.length);
  state.rest = "";
  return text === "" ? [] : [{ kind: "part-delta", choice, at, delta: { kind: "text", text } }];
}
