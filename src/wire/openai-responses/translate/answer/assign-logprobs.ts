import { asFields, asList, type Fields } from "../../../../base/json/fields.ts";

/** The log probabilities of one text, and the number of characters of their tokens. */
export interface TextLogprobs {
  readonly list: Fields[];
  chars: number;
}

/**
 * Assigns the log probabilities of an answer to its texts. The lengths of their tokens tell which text they belong to, whether
 * they come before or after it.
 */
export class LogprobQueue {
  private readonly entries: Fields[] = [];
  private taken = 0;

  /** Adds the value of a `logprobs` event. */
  add(value: unknown): void {
    for (const entry of asList(asFields(value)?.["content"])) this.entries.push(asFields(entry) ?? {});
  }

  get isEmpty(): boolean {
    return this.taken === this.entries.length;
  }

  /** Moves log probabilities to a text of `chars` characters so far. Returns those that were moved. */
  takeFor(text: TextLogprobs, chars: number): Fields[] {
    const moved: Fields[] = [];
    while (text.chars < chars && !this.isEmpty) {
      const next = this.entries[this.taken++] as Fields;
      text.chars += lengthOf(next);
      text.list.push(next);
      moved.push(next);
    }
    return moved;
  }
}

function lengthOf({ token }: Fields): number {
  return typeof token === "string" ? token.length : 1;
}
