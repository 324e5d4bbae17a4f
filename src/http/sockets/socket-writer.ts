import type { ServerWebSocket } from "bun";
import type { UnreadAnswer } from "../../core/generation/memory/unread-answers.ts";
import type { HttpDeps } from "../context/context.ts";

/** What is sent to a client that does not read may be as much as this, besides the frame that did not fit. Bytes. */
export const MAX_UNREAD_BYTES = 1024 * 1024;

/** The part of a WebSocket that sends. */
export interface Sending
  extends Pick<ServerWebSocket, "sendText" | "getBufferedAmount" | "readyState" | "terminate"> {
  cork(send: () => void): void;
}

/** The dependencies of a writer. */
interface WriterDeps {
  readonly deps: () => Pick<HttpDeps, "generation" | "sockets">;
}

const OPEN = 1;
/** What the runtime returns for a frame that waits, because the client does not read, and for one that it has dropped. */
const WAITS = -1;
const DROPPED = 0;

/** Sends frames to one client no faster than it reads. A client that reads nothing for too long is disconnected (`UnreadAnswers`). */
export class SocketWriter {
  /** Called before a client is disconnected because it does not read. */
  onStalled: (() => void) | null = null;
  /** The wait for a client that does not read; null while it keeps up. */
  private full: PromiseWithResolvers<void> | null = null;
  private unread: UnreadAnswer | null = null;
  private unreadBytes = 0;

  constructor(
    private readonly socket: Sending,
    private readonly parts: WriterDeps,
  ) {}

  /** A promise that resolves when the client has read what was sent, or has left; null while the client keeps up. */
  get room(): Promise<void> | null {
    return this.full?.promise ?? null;
  }

  /** Whether the client has left, or is disconnected because it reads nothing. */
  get isClosed(): boolean {
    return this.socket.readyState !== OPEN;
  }

  /**
   * Sends frames for the items from `from` on in few packets, up to the first one after which the client must read. Returns the index of
   * the item that is next.
   */
  sendTogether<Item>(items: readonly Item[], from: number, toText: (item: Item) => string): number {
    let next = from;
    this.socket.cork(() => {
      while (next < items.length && this.full === null && !this.isClosed)
        this.send(toText(items[next++] as Item));
    });
    return next;
  }

  /** Sends a frame. Returns false if the client has left, or is disconnected because it reads nothing. */
  send(text: string): boolean {
    const sent = this.socket.sendText(text);
    if (sent === DROPPED) {
      if (!this.isClosed) this.disconnect();
      return false;
    }
    this.parts.deps().sockets.counts.sent += 1;
    if (sent === WAITS) this.wait();
    return true;
  }

  /** Called when the client has read something. */
  onDrain(): void {
    const left = this.socket.getBufferedAmount();
    if (left > 0) this.unread?.advance(left);
    else this.resume();
    this.unreadBytes = left;
  }

  /** Called when the client has left. */
  onClosed(): void {
    this.resume();
  }

  private wait(): void {
    this.unreadBytes = this.socket.getBufferedAmount();
    if (this.full === null) this.full = Promise.withResolvers<void>();
    else this.unread?.end();
    this.watch();
  }

  private watch(): void {
    const { unread } = this.parts.deps().generation.settings;
    this.unread = unread.begin(this.unreadBytes, () => this.giveUp());
  }

  /** Disconnects the client, unless it has read a part of a large frame, which the runtime does not report. */
  private giveUp(): void {
    const left = this.socket.getBufferedAmount();
    if (left >= this.unreadBytes || this.full === null) {
      this.disconnect();
      return;
    }
    this.unreadBytes = left;
    this.watch();
  }

  private disconnect(): void {
    this.onStalled?.();
    this.socket.terminate();
  }

  private resume(): void {
    this.unread?.end();
    this.unread = null;
    this.full?.resolve();
    this.full = null;
  }
}
