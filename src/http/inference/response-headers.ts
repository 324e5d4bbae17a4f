import { type HeaderSink, printHeader } from "../../core/limits/limit-headers.ts";

/**
 * Makes the headers of responses that mostly have the same names and many of the same values. Writes only values that differ from the
 * previous response: each write costs a call of the runtime, which checks and copies name and value. A response copies the result as a
 * whole.
 */
export class ResponseHeaders implements HeaderSink {
  private headers = new Headers();
  /** Names, values and units in the order in which they were put. */
  private readonly names: string[] = [];
  private readonly values: (string | number)[] = [];
  private readonly units: string[] = [];
  private count = 0;
  /** Whether `headers` has exactly these names and values. */
  private isWritten = true;

  /** Begins the headers of the next response. */
  begin(): this {
    this.count = 0;
    return this;
  }

  /** Adds a header; of a repeated name, the last value counts. Throws a TypeError if the runtime rejects the value, perhaps at `end`. */
  put(name: string, value: string | number, unit = ""): void {
    const at = this.count++;
    if (this.names[at] !== name) this.isWritten = false;
    else if (this.values[at] === value) return;
    else if (this.isWritten) this.headers.set(name, printHeader(value, unit));
    this.names[at] = name;
    this.values[at] = value;
    this.units[at] = unit;
  }

  /** Returns the headers that were put since `begin`. They are valid until the next `begin`. */
  end(): Headers {
    if (this.isWritten && this.count === this.names.length) return this.headers;
    this.isWritten = false;
    this.names.length = this.count;
    this.values.length = this.count;
    this.units.length = this.count;
    const headers = new Headers();
    for (let at = 0; at < this.count; at++) {
      const value = printHeader(this.values[at] as string | number, this.units[at] as string);
      headers.set(this.names[at] as string, value);
    }
    this.headers = headers;
    // If a name is repeated, only its last value may be written.
    this.isWritten = new Set(this.names).size === this.count;
    return headers;
  }
}
