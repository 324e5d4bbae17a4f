/** The function calls that a conversation has made so far, by id. If an id is used again, the newest call counts. */
export class KnownCalls {
  private readonly calls = new Map<string, { readonly name: string; readonly index: number }>();
  private added = 0;

  /** Records a call under the name that Gemini knows its function by. */
  add(id: string, name: string): void {
    this.calls.set(id, { name, index: this.added++ });
  }

  nameOf(id: string): string | null {
    return this.calls.get(id)?.name ?? null;
  }

  /** Returns the position of a call among all calls; unknown calls come last. */
  indexOf(id: string): number {
    return this.calls.get(id)?.index ?? Number.MAX_SAFE_INTEGER;
  }
}
