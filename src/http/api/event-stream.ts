import type { Clock, Timer } from "../../base/time/clock.ts";
import type { UnreadAnswers } from "../../core/generation/memory/unread-answers.ts";
import { ClientWriter } from "../../core/generation/relay/answer-writer.ts";

/** How often a comment is sent, so that no proxy closes the connection as idle. Milliseconds. */
const PING_MS = 15_000;
/** How long the runtime may take to read the body. For a HEAD request it never does. Milliseconds. */
const BEGIN_MS = 10_000;
const PING = ": ping\n\n";

/** The dependencies of a stream of events. */
interface EventStreamParts {
  readonly clock: Clock;
  /** Disconnects clients that read nothing for too long. */
  readonly unread: UnreadAnswers;
  /** Called at intervals. The stream ends if it resolves to false. */
  readonly mayContinue: () => Promise<boolean>;
  /** Called once, when the stream has ended for any reason. */
  readonly onEnd: () => void;
}

/** A response of server-sent events that lasts until the client leaves, or may not continue, or the server ends it. */
export class ServerEventStream {
  private readonly over = Promise.withResolvers<void>();
  private readonly timers: Timer[];
  private writer: ClientWriter | null = null;
  private pieces: Buffer[] = [];
  private isOver = false;

  constructor(private readonly parts: EventStreamParts) {
    const { clock } = parts;
    this.timers = [
      clock.every(PING_MS, () => void this.ping()),
      clock.after(BEGIN_MS, () => {
        if (this.writer === null) this.end();
      }),
    ];
  }

  /** Sends text. Returns false, and sends nothing, if the client has not read the previous text. */
  send(text: string): boolean {
    if (this.isOver) return false;
    const piece = Buffer.from(text, "utf8");
    // The runtime has not asked for the body yet.
    if (this.writer === null) this.pieces.push(piece);
    else if (this.writer.room === null) this.writer.write(piece);
    else return false;
    return true;
  }

  /** Ends the stream. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const timer of this.timers) timer.cancel();
    this.pieces = [];
    this.parts.onEnd();
    this.over.resolve();
  }

  /** Returns the response. */
  respond(): Response {
    return new Response(this.body(), {
      headers: {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // Proxies that buffer would hold events back.
        "x-accel-buffering": "no",
      },
    });
  }

  private body(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      type: "direct",
      pull: async (controller) => {
        const { unread } = this.parts;
        const onStalled = () => this.end();
        const writer = new ClientWriter(controller, unread, { countBuffered: () => 0, onStalled });
        this.writer = writer;
        for (const piece of this.pieces.splice(0)) writer.write(piece);
        await this.over.promise;
        writer.abandon();
      },
      cancel: () => this.end(),
    });
  }

  private async ping(): Promise<void> {
    this.send(PING);
    const mayContinue = await this.parts.mayContinue().catch(() => false);
    if (!mayContinue) this.end();
  }
}
