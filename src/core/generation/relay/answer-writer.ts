import type { UnreadAnswer, UnreadAnswers } from "../memory/unread-answers.ts";

/** The write side of a client's connection. */
export interface Sink {
  /** Returns a promise if the connection is full; it resolves when the client has read what was written. */
  write(piece: Uint8Array): unknown;
  /** Sends what was written so far. */
  flush(): unknown;
  /** Ends the answer. With an error, resets the connection and drops what the client has not read. */
  close(error?: Error): void;
}

/** The source of an answer. */
interface AnswerSource {
  /** Returns the number of received bytes that were not forwarded yet. */
  countBuffered(): number;
  /** Called once, when the client is disconnected because it does not read. */
  onStalled(): void;
}

/** The source of an answer that has been received completely. */
export const WHOLE_ANSWER: AnswerSource = { countBuffered: () => 0, onStalled() {} };

/** Larger pieces are written in parts of this size, so that the progress of a slow client is noticed. Bytes. */
const PART_BYTES = 128 * 1024;

/**
 * Writes an answer to a client no faster than the client reads. A client that reads nothing for too long is disconnected
 * (`UnreadAnswers`).
 */
export class ClientWriter {
  /** Pieces not written yet, because the connection is full. */
  private waiting: Uint8Array[] = [];
  /** The size of the waiting pieces while the answer is open. Bytes. */
  private waitingBytes = 0;
  private draining: Promise<void> | null = null;
  private unread: UnreadAnswer | null = null;
  private isClosed = false;
  /** Resolves the current wait for the client. */
  private wake = (): void => {};

  constructor(
    private readonly sink: Sink,
    private readonly allUnread: UnreadAnswers,
    private readonly source: AnswerSource,
  ) {}

  /** A promise that resolves when the client has read what was written, or has left; null while the client keeps up. */
  get room(): Promise<void> | null {
    return this.draining;
  }

  write(piece: Uint8Array): void {
    if (this.isClosed) return;
    if (this.draining !== null) {
      this.wait(piece);
      this.unread?.grow(piece.length);
      return;
    }
    const full = this.writeParts(piece);
    if (full !== null) this.draining = this.drain(full);
  }

  /** Ends the answer once the client has read it. Returns a promise if that takes time. */
  end(): Promise<void> | undefined {
    if (this.draining !== null) return this.draining.then(() => this.close());
    this.close();
    return undefined;
  }

  /** Drops what the client has not read, and resets its connection. */
  reset(): void {
    this.close(new Error("the answer is not complete"));
  }

  /** Drops what the client has not read, and closes. */
  abandon(): void {
    this.close();
  }

  /** Writes until the connection is full, and queues the rest. Returns the promise to wait for, or null. */
  private writeParts(piece: Uint8Array): Promise<unknown> | null {
    for (let at = 0; at < piece.length; at += PART_BYTES) {
      const end = at + PART_BYTES;
      const part = piece.length <= PART_BYTES ? piece : piece.subarray(at, end);
      const full = this.writePart(part);
      if (full === null) continue;
      if (end < piece.length) this.waiting.unshift(piece.subarray(end));
      this.waitingBytes += Math.max(0, piece.length - end);
      return full;
    }
    return null;
  }

  private writePart(part: Uint8Array): Promise<unknown> | null {
    try {
      const full = this.sink.write(part);
      this.sink.flush();
      return full instanceof Promise ? full : null;
    } catch {
      // The client has just left. Its stream is also being cancelled.
      return null;
    }
  }

  private wait(piece: Uint8Array): void {
    this.waiting.push(piece);
    this.waitingBytes += piece.length;
  }

  private async drain(full: Promise<unknown>): Promise<void> {
    this.unread = this.allUnread.begin(this.countHeld(), () => this.giveUp());
    for (let next: Promise<unknown> | null = full; next !== null; next = this.writeWaiting()) {
      await this.until(next);
      if (this.isClosed) break;
      this.unread.advance(this.countHeld());
    }
    this.unread.end();
    this.draining = null;
  }

  /** Resolves when `full` has settled, or when this writer closes the connection. */
  private until(full: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
      full.then(() => resolve(), resolve);
    });
  }

  /** Writes queued pieces. Returns the next promise to wait for; null when everything is written. */
  private writeWaiting(): Promise<unknown> | null {
    while (this.waiting.length > 0) {
      const piece = this.waiting.shift()!;
      this.waitingBytes -= piece.length;
      const full = this.writeParts(piece);
      if (full !== null) return full;
    }
    return null;
  }

  /** Estimates the memory that unread data occupies: the queue, the part in the connection, and the source's buffer. */
  private countHeld(): number {
    return this.waitingBytes + PART_BYTES + this.source.countBuffered();
  }

  private giveUp(): void {
    this.close(new Error("the client has stopped reading"));
    this.source.onStalled();
  }

  private close(error?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting = [];
    this.wake();
    try {
      if (error === undefined) this.sink.close();
      else this.sink.close(error);
    } catch {
      // The client has left already.
    }
  }
}
