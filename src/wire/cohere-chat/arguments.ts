/** Returns arguments as the JSON text of an object. Cohere sends "" and "null" for none. */
export function completeArguments(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || trimmed === "null" ? "{}" : text;
}

/** Holds back arguments that come in pieces until it is certain that there are some. */
export interface ArgumentsHold {
  /** Adds a piece. Returns the text that can be sent now, or "". */
  push(piece: string): string;
  /** Returns the rest, which completes the arguments; "" if everything was sent. */
  end(): string;
}

export function createArgumentsHold(): ArgumentsHold {
  let held: string | null = "";
  return {
    push(piece) {
      if (held === null) return piece;
      held += piece;
      if ("null".startsWith(held.trim())) return "";
      const text = held;
      held = null;
      return text;
    },
    end() {
      const text = held === null ? "" : completeArguments(held);
      held = null;
      return text;
    },
  };
}
