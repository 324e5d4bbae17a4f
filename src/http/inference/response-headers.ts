/** Header values by lower-case name. */
export type HeaderValues = Readonly<Record<string, string>>;

/**
 * Makes the headers of responses that mostly have the same names, and many of the same values. Only values that differ from those of the
 * response before are written: each costs a call of the runtime, which checks and copies name and value, and a response copies the
 * result as a whole.
 */
export class ResponseHeaders {
  private headers = new Headers();
  private names: string[] = [];
  private values: string[] = [];

  /** Returns headers with the names and values of all parts; of a repeated name, the last value. They are valid until the next call. */
  fill(parts: readonly HeaderValues[]): Headers {
    let at = 0;
    for (const part of parts) {
      for (const name in part) {
        if (this.names[at] !== name) return this.replace(parts);
        this.write(at++, name, part[name] as string);
      }
    }
    return at === this.names.length ? this.headers : this.replace(parts);
  }

  private write(at: number, name: string, value: string): void {
    if (this.values[at] === value) return;
    this.headers.set(name, value);
    this.values[at] = value;
  }

  private replace(parts: readonly HeaderValues[]): Headers {
    const entries = parts.flatMap((part) => Object.entries(part));
    const values = Object.fromEntries(entries);
    const headers = new Headers(values);
    // Of a name that is repeated, only its last value may be written.
    const isDistinct = Object.keys(values).length === entries.length;
    this.headers = isDistinct ? headers : new Headers();
    this.names = isDistinct ? entries.map(([name]) => name) : [];
    this.values = isDistinct ? entries.map(([, value]) => value) : [];
    return headers;
  }
}
