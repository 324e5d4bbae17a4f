/** Arguments as JSON text of an object: Cohere writes none as "" and as "null". */
export function completeArguments(text: string): string {
  const trimmed = text.trim();
  return trimmed === "" || trimmed === "null" ? "{}" : text;
}

/** Holds arguments that come in pieces back until they cannot mean none any more. */
export interface ArgumentsHold {
  /** Takes a piece; gives what can go on, or "". */
  push(piece: string): string;
  /** What was held, completed; "" where all went on. */
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
