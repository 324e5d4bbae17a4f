import { CLOSING_QUOTES_WASM } from "./closing-quotes-wasm.ts";

/**
 * The closing quotes of the strings in JSON, found by WebAssembly (assembly/closing-quotes.ts) in a third of the time that searches take
 * where escaped quotes are frequent, as in source code. Its memory does not grow: a text is read in chunks, as far as it is asked for.
 */
export class ClosingQuotes {
  private from = 0;
  private count = 0;
  private next = 0;

  private constructor(
    private readonly bytes: Uint8Array,
    private readonly finder: Finder,
  ) {
    finder.begin();
  }

  /**
   * Opens a text. It is not read further once another is opened, because they share the memory. Null where the runtime cannot run the
   * code: then quotes are searched for.
   */
  static open(bytes: Uint8Array): ClosingQuotes | null {
    finder ??= createFinder();
    return finder === "impossible" ? null : new ClosingQuotes(bytes, finder);
  }

  /** Returns the position of the next closing quote; -1 where there is none. */
  take(): number {
    return this.next < this.count ? (this.finder.positions[this.next++] as number) : this.takeFromRest();
  }

  private takeFromRest(): number {
    while (this.from < this.bytes.length) {
      this.findInChunk();
      if (this.count > 0) return this.finder.positions[this.next++] as number;
    }
    return -1;
  }

  private findInChunk(): void {
    const { from, bytes, finder } = this;
    const chunk = bytes.subarray(from, from + CHUNK_BYTES);
    finder.input.set(chunk);
    if (chunk.length < CHUNK_BYTES) finder.input.fill(0, chunk.length);
    this.count = finder.find(chunk.length, from);
    this.next = 0;
    this.from = from + chunk.length;
  }
}

/** The size of a chunk, as in assembly/closing-quotes.ts. */
const CHUNK_BYTES = 16_384;

interface Finder {
  readonly input: Uint8Array;
  readonly positions: Uint32Array;
  begin(): void;
  find(length: number, position: number): number;
}

/** One for all texts of this thread, because of its memory. */
let finder: Finder | "impossible" | null = null;

function createFinder(): Finder | "impossible" {
  try {
    const module = new WebAssembly.Module(Buffer.from(CLOSING_QUOTES_WASM, "base64"));
    const { memory, input, output, begin, find } = new WebAssembly.Instance(module)
      .exports as unknown as Exports;
    return {
      input: new Uint8Array(memory.buffer, input.value, CHUNK_BYTES),
      positions: new Uint32Array(memory.buffer, output.value, CHUNK_BYTES / 2),
      begin,
      find,
    };
  } catch {
    // No WebAssembly, where a process may not make code executable, or none of its vector instructions.
    return "impossible";
  }
}

/** What assembly/closing-quotes.ts exports. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly input: WebAssembly.Global<"i32">;
  readonly output: WebAssembly.Global<"i32">;
  begin(): void;
  find(length: number, position: number): number;
}
