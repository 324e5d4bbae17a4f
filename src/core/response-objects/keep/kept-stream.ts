import { readLatin1 } from "../../../base/text/decode-bytes.ts";
import type {
  EndedResponse,
  LastEvent,
  StateFields,
  StateStream,
} from "../../../wire/openai-responses/state/answer-state.ts";
import type { StreamKeeper } from "../../generation/call/extension.ts";

/** The response that a stream is kept as. */
interface EndingResponse {
  readonly fields: StateFields;
  /** Stores it. Returns whether it is stored. Never rejects. */
  end(id: string, ended: EndedResponse): Promise<boolean>;
  abandon(): Promise<void>;
}

const NOTHING = Buffer.alloc(0);

/** A streamed answer whose last event is held back until its response is stored. */
export class KeptStream implements StreamKeeper {
  private last: LastEvent | null = null;
  /** What follows the last event, bytes as Latin-1. */
  private after = "";
  private isOver = false;

  constructor(
    private readonly id: string,
    private readonly response: EndingResponse,
    private readonly events: StateStream,
  ) {}

  read(piece: Uint8Array): Buffer {
    const text = readLatin1(piece);
    if (this.last !== null) {
      this.after += text;
      return NOTHING;
    }
    const { out, last, after } = this.events.read(text);
    this.last = last;
    this.after = after;
    return Buffer.from(out, "latin1");
  }

  async end(): Promise<Buffer> {
    const { last, response, after } = this;
    if (last === null) await this.abandon();
    if (last === null || this.isOver) return NOTHING;
    this.isOver = true;
    const store = await response.end(this.id, last.ended);
    return Buffer.from(last.encode({ ...response.fields, store }) + after, "latin1");
  }

  async abandon(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    await this.response.abandon();
  }
}
