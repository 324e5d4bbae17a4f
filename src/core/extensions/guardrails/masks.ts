import type { Match } from "./find-in-text.ts";

/** The masks of one request and its answer: equal values get equal masks, `[EMAIL_1]`, so that the model can tell them apart. */
export class Masks {
  private readonly byKind = new Map<string, Map<string, string>>();

  /** Returns the mask of a value. */
  maskOf(kind: string, value: string): string {
    const known = this.byKind.get(kind) ?? new Map<string, string>();
    this.byKind.set(kind, known);
    const mask = known.get(value) ?? `[${kind}_${known.size + 1}]`;
    known.set(value, mask);
    return mask;
  }

  /** Replaces matches in a text, which are in order and without overlaps. */
  apply(text: string, matches: readonly Match[]): string {
    let result = "";
    let at = 0;
    for (const { start, end, kind } of matches) {
      result += text.slice(at, start) + this.maskOf(kind, text.slice(start, end));
      at = end;
    }
    return result + text.slice(at);
  }
}
