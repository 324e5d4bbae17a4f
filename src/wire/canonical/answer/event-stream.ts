import { BOUNDS } from "../../../base/numbers/bounds.ts";
import { EVENT_UNREADABLE, eventTooLarge } from "../../conversation/errors/broken-answers.ts";
import type { VendorError } from "../../conversation/errors/vendor-error.ts";
import { EventSplitter, EventTooLargeError, type OnEvent } from "../../sse/split-events.ts";

/** How far an upstream's stream has been read. No further event is read once it is done or has failed. */
export interface StreamProgress {
  /** Whether the vendor's end marker has arrived. */
  isDone: boolean;
  /** Why the stream cannot be read any further; null while it can. */
  error: VendorError | null;
}

/** The data of the event that ends a stream in OpenAI's formats, and in some hosts' versions of others. */
export const DONE_MARKER = "[DONE]";

/**
 * The shell around everything that reads server-sent events of an upstream. It splits the stream and calls `onEvent` for each
 * event that has data, until the stream is done or has failed. It never throws: an event that is too large, and anything that
 * `onEvent` throws, becomes the error of the stream, so that the client always gets an error event.
 */
export class EventStream {
  private readonly splitter: EventSplitter;
  private readonly onEvent: OnEvent;

  constructor(
    private readonly progress: StreamProgress,
    onEvent: OnEvent,
  ) {
    this.splitter = new EventSplitter(BOUNDS.eventBytes);
    this.onEvent = (text, start, end, name) => {
      // An event without data is to be ignored (WHATWG); some vendors send one to keep the connection alive.
      if (start !== end && !this.hasStopped) onEvent(text, start, end, name);
    };
  }

  /** Whether the stream is done or has failed. */
  get hasStopped(): boolean {
    return this.progress.isDone || this.progress.error !== null;
  }

  /** Whether the next piece begins with an event that is to be read. */
  get isBetweenEvents(): boolean {
    return !this.hasStopped && this.splitter.isBetweenEvents;
  }

  /** Reads the next piece of the stream, bytes as Latin-1, cut anywhere. */
  push(piece: string): void {
    if (this.hasStopped) return;
    try {
      this.splitter.push(piece, this.onEvent);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Reads the end of the stream: a last event that lacks only its blank line still counts. */
  end(): void {
    if (this.hasStopped) return;
    try {
      this.splitter.end(this.onEvent);
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.progress.error ??=
      error instanceof EventTooLargeError ? eventTooLarge(BOUNDS.eventBytes) : EVENT_UNREADABLE;
  }
}
