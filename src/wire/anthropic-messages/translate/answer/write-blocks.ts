import { asFields, type Fields } from "../../../../base/json/fields.ts";
import { encodeEvent } from "../../stream-events.ts";

/** Encodes the events of content blocks and numbers the blocks. One block is open at a time. Each method returns what to send. */
export class BlockWriter {
  private index = 0;
  private hasStarted = false;
  /** Whole blocks that wait for a further one. */
  private waiting: Fields[] = [];
  private hasDropped = false;
  /** The number of text blocks so far. */
  texts = 0;

  /** `encodeStart` returns the events that precede the first block. */
  constructor(private readonly encodeStart: () => string) {}

  /** Returns the start of the stream, if it was not sent before. */
  start(): string {
    if (this.hasStarted) return "";
    this.hasStarted = true;
    return this.encodeStart();
  }

  /** Whether some blocks were not sent: they were dropped, or wait for a block that may never follow. */
  get hasUnsent(): boolean {
    return this.hasDropped || this.waiting.length > 0;
  }

  /** Keeps blocks until the next one is opened, because clients take the last block of an answer for its text. */
  writeBeforeNext(blocks: readonly Fields[]): void {
    this.waiting.push(...blocks);
  }

  /** Records that a block cannot be sent any more. */
  drop(): void {
    this.hasDropped = true;
  }

  /** Opens a block. */
  open(block: Fields): string {
    const { waiting } = this;
    this.waiting = [];
    const start = this.start() + this.writeAll(waiting);
    if (block["type"] === "text") this.texts += 1;
    return start + encodeEvent({ type: "content_block_start", index: this.index, content_block: block });
  }

  /** Sends a delta of the open block. */
  append(delta: Fields): string {
    return encodeEvent({ type: "content_block_delta", index: this.index, delta });
  }

  /** Closes the open block. */
  close(): string {
    return encodeEvent({ type: "content_block_stop", index: this.index++ });
  }

  /** Sends whole blocks. */
  writeAll(blocks: readonly Fields[]): string {
    return blocks.map((block) => this.writeWhole(block)).join("");
  }

  private writeWhole(block: Fields): string {
    const { start, delta } = splitWhole(block);
    return this.open(start) + (delta === null ? "" : this.append(delta)) + this.close();
  }
}

/** Splits a whole block, because clients expect inputs and summaries in deltas, as the vendor sends them. */
function splitWhole(block: Fields): { readonly start: Fields; readonly delta: Fields | null } {
  const input = asFields(block["input"]);
  if (input !== null && Object.keys(input).length > 0) {
    return {
      start: { ...block, input: {} },
      delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
    };
  }
  if (block["type"] === "compaction" && typeof block["content"] === "string") {
    return {
      start: { ...block, content: null },
      delta: { type: "compaction_delta", content: block["content"] },
    };
  }
  return { start: block, delta: null };
}
