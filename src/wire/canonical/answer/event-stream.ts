import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { EventSplitter, type SplitEvent } from "../../../base/sse/split-events.ts";
import { EVENT_UNREADABLE, eventTooLarge } from "../../conversation/errors/broken-answers.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";

/** The data of the event that ends a stream in OpenAI's formats, and in some hosts' versions of others. */
export const DONE_MARKER = "[DONE]";

/**
 * Reads the server-sent events of an upstream until its stream is done or has failed. It never throws: an event that is too large, and
 * anything that reading an event throws, becomes the error of the stream, so that the client always gets an error event.
 */
export abstract class EventStream {
  /** Whether the vendor's end marker has arrived. */
  abstract readonly isDone: boolean;
  /** Why the stream cannot be read any further; null while it can. */
  abstract readonly error: VendorError | null;
  private readonly splitter = new EventSplitter(BOUNDS.eventBytes);

  /** Reads an event that has data. */
  protected abstract readEvent(event: SplitEvent): void;

  /** Ends the stream with an error. Only the first error counts. */
  protected abstract fail(error: VendorError): void;

  /** Reads the next piece of the stream, bytes as Latin-1, cut anywhere. */
  protected readPiece(piece: string): void {
    if (!this.isDone && this.error === null) this.readEvents(this.splitter.push(piece));
  }

  /** Reads the end of the stream. A last event without its blank line still counts. */
  protected readEnd(): void {
    if (!this.isDone && this.error === null) this.readEvents(this.splitter.end());
  }

  private readEvents(events: readonly SplitEvent[]): void {
    try {
      for (const event of events) {
        // An event without data is to be ignored (WHATWG); some vendors send one to keep the connection alive.
        if (event.start !== event.end) this.readEvent(event);
        if (this.isDone || this.error !== null) return;
      }
    } catch {
      this.fail(EVENT_UNREADABLE);
    }
    if (this.splitter.isTooLarge) this.fail(eventTooLarge(BOUNDS.eventBytes));
  }
}

/**
 * A stream between an upstream and a client that both speak the same format. It is changed in place, because a new state for each event
 * would cost more than the event.
 */
export abstract class ForwardedStream extends EventStream {
  sawToken = false;
  isDone = false;
  error: VendorError | null = null;
  producedBytes = 0;
  /** The output for the piece that is being read, bytes as Latin-1. */
  protected readonly out: string[] = [];

  step(piece: string): string {
    this.readPiece(piece);
    return this.takeOutput();
  }

  end(): string {
    this.readEnd();
    return this.takeOutput();
  }

  protected fail(error: VendorError): void {
    this.error ??= error;
  }

  private takeOutput(): string {
    // Joined in one step: a string built from hundreds of additions takes five times as long to encode.
    return this.out.length > 1 ? this.out.splice(0).join("") : (this.out.pop() ?? "");
  }
}
