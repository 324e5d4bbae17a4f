import type { EncodedOrigin } from "./json.ts";
import { TextBuffer } from "./text-buffer.ts";

/** Extra bytes of a batch beyond the expected size. They are enough for the few spans of a quiet gateway. */
const SPARE_BYTES = 16 * 1024;

/** The spans of one export, as the text to send. */
export class SpanBatch {
  spans = 0;
  private readonly text: TextBuffer;

  /** `expectedBytes`: how long the text will probably be. */
  constructor({ resource, scope }: EncodedOrigin, expectedBytes: number) {
    this.text = new TextBuffer(expectedBytes + SPARE_BYTES);
    this.text.append(`{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[`);
  }

  /** Appends the spans of a trace, separated by commas. */
  append(json: string, spans: number): void {
    if (this.spans > 0) this.text.append(",");
    this.text.append(json);
    this.spans += spans;
  }

  /** Returns the complete text. Called once. */
  finish(): Buffer<ArrayBuffer> {
    this.text.append("]}]}]}");
    return this.text.read();
  }
}
