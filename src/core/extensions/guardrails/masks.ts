/** The masks of one request: equal values get equal masks, `[EMAIL_1]`, so that the model can tell them apart. */
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
}
