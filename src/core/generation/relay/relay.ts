import { type Failure, failureOf, statusOf } from "../../../base/failures/errors.ts";
import type { RelayEnding, RelayFinish } from "../../../wire/canonical/answer/relay.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { BegunStream } from "../attempt/attempt.ts";
import type { CancelReason } from "../call/cancellation.ts";
import type { StreamKeeper } from "../call/extension.ts";
import { classifyCancellation } from "../failures/classify-failure.ts";
import { addWarnings } from "../records/describe-work.ts";
import { reportUsage } from "../settle/charge.ts";
import { chargeComplete } from "../settle/charge-answer.ts";
import type { CheckedUsage } from "../settle/check-usage.ts";
import { describeTruncation, warnTruncated } from "../settle/warn-truncated.ts";
import { ClientWriter, type Sink } from "./answer-writer.ts";
import { closeUpstream } from "./close-upstream.ts";
import { KeepAlive } from "./keep-alive.ts";
import { type RelayContext, StreamAccounting } from "./stream-accounting.ts";

/** The failure in the record if a client stops reading; the client itself cannot receive it. */
const STALLED: Failure = {
  code: "client_timeout",
  message: "The client did not read its answer for too long.",
};
const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");
/** How often the record of a stream is updated. Milliseconds. */
const RECORD_MS = 1_000;
/** How long an upstream may take to send usage and end marker after the finish reason. Milliseconds. */
const ENDING_MS = 5_000;

/**
 * Relays a stream that has begun to the client. The stream ends with a finish reason, the usage and `[DONE]`; with an error event; or
 * silently, if the client has left. The record is written before the client sees the end. Returns the whole body if the upstream has
 * already sent everything.
 */
export async function relayStream(
  context: RelayContext,
  begun: BegunStream,
): Promise<ReadableStream<Uint8Array> | Buffer> {
  const pump = new StreamPump(context, begun);
  // A complete stream is sent in one piece.
  return begun.isOver ? pump.whole() : pump.stream();
}

function isAnswer(ending: RelayEnding): boolean {
  return ending === "complete" || ending === "empty";
}

const NOTHING = Buffer.alloc(0);

/** The end of an answer that is complete or was stopped at a limit of the gateway. */
interface CountedEnd {
  readonly counted: CheckedUsage;
  readonly finish: RelayFinish | null;
  /** Warnings about limits of the gateway that ended it. */
  readonly bounds: readonly Warning[];
}

/** Moves the pieces of one stream from the upstream to the client, and ends the answer. */
class StreamPump {
  private isOver = false;
  /** Whether the filter has released the events that it held back. */
  private isReleased = false;
  /** Whether the client's connection is reset instead of ending the answer. */
  private isReset = false;
  /** Whether every choice has finished: only usage and end marker may still come. */
  private isEnding = false;
  private recordedAt: number;
  /** Pieces sent before the client's connection is ready. */
  private readonly pieces: Uint8Array[] = [];
  /** Keeps a stream as a response object; null for none. A whole answer is kept after it was returned. */
  private keeper: StreamKeeper | null = null;
  /** Null until the client's connection is ready. */
  private writer: ClientWriter | null = null;
  private readonly accounting: StreamAccounting;
  private readonly keepAlive: KeepAlive;
  /** Resolves when the upstream is no longer read. */
  private readonly over = Promise.withResolvers<void>();
  /** Resolves when a cancelled answer has been settled. */
  private ending: Promise<void> | null = null;
  /** Resolves when the client has read what was sent, and the answer is kept. */
  private closing: Promise<void> | undefined = undefined;

  constructor(
    private readonly context: RelayContext,
    private readonly begun: BegunStream,
  ) {
    const {
      clock,
      settings: { timers },
    } = context.deps;
    this.recordedAt = clock.now();
    this.accounting = new StreamAccounting(context, begun.relay);
    this.keepAlive = new KeepAlive(clock, timers.keepAliveMs, () => this.sendKeepAlive());
  }

  async whole(): Promise<Buffer> {
    // A filter may need time to check the events that it has held back.
    if (this.begun.relay.release !== undefined)
      this.context.cancellation.whenCancelled(() => this.endCancelled());
    await this.finish(this.begun.head, null);
    return this.pieces.length === 1 ? (this.pieces[0] as Buffer) : Buffer.concat(this.pieces);
  }

  /** Returns a direct stream of the runtime. It costs half as much as a pull stream, and its writes report backpressure. */
  stream(): ReadableStream<Uint8Array> {
    const { call, cancellation, deps, record } = this.context;
    this.keeper = call.keeps?.openStream(record.id) ?? null;
    this.send(this.begun.head);
    // If the client has already left, the stream is cancelled without a pull.
    cancellation.whenCancelled(() => this.endCancelled());
    if (cancellation.reason !== null) this.endCancelled();
    else cancellation.startPhase("silence", deps.settings.timers.silenceMs);
    return new ReadableStream({
      type: "direct",
      pull: (controller) => this.run(controller),
      cancel: (reason) =>
        this.context.cancellation.cancel(reason === "client_stalled" ? reason : "client_left"),
    });
  }

  /** Sends the answer and ends it in every case, so that the generation's hold and memory are always released. */
  private async run(sink: Sink): Promise<void> {
    try {
      await this.sendAll(sink);
    } catch (error) {
      this.endUnexpected(error);
    }
  }

  private async sendAll(sink: Sink): Promise<void> {
    const { cancellation, deps } = this.context;
    const { response } = this.begun;
    this.writer = new ClientWriter(sink, deps.settings.unread, {
      countBuffered: () => response.bufferedBytes?.() ?? 0,
      onStalled: () => cancellation.cancel("client_stalled"),
    });
    for (const piece of this.pieces.splice(0)) this.writer.write(piece);
    if (this.isReset) this.writer.reset();
    if (!this.isOver && !this.endIfBlocked(NOTHING)) {
      this.keepAlive.start();
      await this.pump();
    }
    // The connection ends when this resolves. The final record may still be on its way to the journal.
    await this.ending;
    await this.closing;
  }

  /** Forwards the pieces one by one, each when the client can take it. */
  private async pump(): Promise<void> {
    while (!this.isOver) {
      const room = this.writer?.room ?? null;
      if (room !== null) await this.waitForRoom(room);
      if (this.isOver) return;
      this.endSoon();
      let piece: Uint8Array | null;
      try {
        piece = await this.begun.response.read();
      } catch (error) {
        // The connection broke. What was received so far decides the outcome.
        if (!this.isOver) await this.finish(NOTHING, error);
        return;
      }
      if (this.isOver) return;
      const passed = this.forward(piece);
      if (passed !== undefined) await passed;
    }
  }

  /** Forwards a piece; null stands for the end. Returns a promise if that takes time. */
  private forward(piece: Uint8Array | null): Promise<void> | undefined {
    const { relay, reader } = this.begun;
    this.context.cancellation.touch();
    const out = piece === null ? reader.end() : reader.read(piece);
    if (piece === null || relay.isDone || relay.error !== null) return this.finish(out, null);
    if (this.endIfBlocked(out)) return undefined;
    if (!this.accounting.covers()) return this.sendIfCovered(out);
    this.send(out);
    return undefined;
  }

  /** Waits a short time for more money and sends the piece if the hold then covers it. Otherwise ends the answer. */
  private async sendIfCovered(out: Buffer): Promise<void> {
    const isCovered = await this.accounting.coversSoon();
    if (this.isOver) return;
    if (!isCovered) return this.stopShort(out);
    this.send(out);
  }

  /** Waits until the client has read. The upstream's silence timer is suspended meanwhile. */
  private async waitForRoom(room: Promise<void>): Promise<void> {
    const { cancellation } = this.context;
    cancellation.hold();
    await Promise.race([room, this.over.promise]);
    cancellation.touch();
  }

  /** Shortens the silence timer while every choice has finished. */
  private endSoon(): void {
    const { relay } = this.begun;
    const isEnding = relay.isFinished;
    if (isEnding === this.isEnding) return;
    this.isEnding = isEnding;
    const { cancellation, deps } = this.context;
    const { silenceMs } = deps.settings.timers;
    cancellation.startPhase("silence", isEnding ? Math.min(ENDING_MS, silenceMs) : silenceMs);
  }

  private send(out: Buffer): void {
    if (out.length === 0) return;
    const now = this.context.deps.clock.now();
    if (!this.isOver && now - this.recordedAt >= RECORD_MS) {
      this.recordedAt = now;
      this.accounting.recordProgress();
    }
    this.context.extensions.onText(out);
    // The keeper may hold everything back, and the client then needs keep-alives.
    const given = this.keep(out);
    if (given.length > 0) this.keepAlive.touch(now);
    this.pass(given);
  }

  private sendKeepAlive(): void {
    // A client that does not read needs no keep-alives, and buffering them would take unbounded memory. Audio has no comments.
    const isBytes = this.begun.relay.mediaType !== undefined;
    if (this.writer?.room == null && !isBytes) this.pass(KEEP_ALIVE);
  }

  private write(piece: Uint8Array): void {
    this.pass(this.keep(piece));
  }

  /** Returns what the client gets of a part of the answer. */
  private keep(piece: Uint8Array): Uint8Array {
    return this.keeper === null ? piece : this.keeper.read(piece);
  }

  /** Sends bytes to the client as they are. */
  private pass(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.writer === null) this.pieces.push(piece);
    else this.writer.write(piece);
  }

  private close(): void {
    this.closing = this.keeper === null ? this.writer?.end() : this.endKept(this.keeper);
  }

  /** Sends the end of an answer once it is kept, so that the client can continue it. */
  private async endKept(keeper: StreamKeeper): Promise<void> {
    this.pass(await keeper.end());
    await this.writer?.end();
  }

  /** Ends the relay by what the upstream sent. `thrown` is the error that its connection ended with, or null. */
  private async finish(out: Buffer, thrown: unknown): Promise<void> {
    const ending = this.begun.relay.classifyEnd();
    if (this.endIfBlocked(out)) return;
    const mustWait = isAnswer(ending) && this.begun.relay.release !== undefined;
    const released = mustWait ? await this.release(out) : out;
    if (this.isOver || this.endIfBlocked(released)) return;
    this.leave();
    if (isAnswer(ending)) {
      closeUpstream(this.context.deps.clock, this.begun);
      await this.complete(released);
      return;
    }
    this.begun.exchange.cancel();
    this.endBroken(out, this.accounting.recordBreak(thrown));
  }

  /**
   * Resolves to the last bytes to send. If a filter has held events back, sends `out` first and resolves to the events that the filter
   * releases.
   */
  private async release(out: Buffer): Promise<Buffer> {
    const { relay } = this.begun;
    if (relay.release === undefined) return out;
    this.send(out);
    const { cancellation } = this.context;
    cancellation.hold();
    const released = await Promise.race([relay.release(), this.over.promise]);
    if (released === undefined) return NOTHING;
    cancellation.touch();
    this.isReleased = true;
    return Buffer.from(released, "latin1");
  }

  /** Ends an answer with an error event if its filter blocks it. Returns false if the filter does not. */
  private endIfBlocked(out: Buffer): boolean {
    const failure = this.context.filter?.block ?? null;
    if (failure === null) return false;
    this.leave();
    this.begun.exchange.cancel();
    this.accounting.recordHealth({ kind: "neutral" });
    const bytes = this.encodeFailure(out, failure);
    this.context.extensions.onText(bytes);
    this.accounting.settleBlocked(failure);
    this.write(bytes);
    this.close();
    return true;
  }

  private async complete(out: Buffer): Promise<void> {
    const counted = this.accounting.countComplete();
    this.accounting.recordSuccess(counted.usage.completionTokens);
    const finish = this.begun.relay.finish();
    await this.endWith(out, { counted, finish, bounds: warnTruncated(this.context, finish, counted.usage) });
  }

  /** Ends an answer that costs more than the account covers, as if it had reached its token limit. */
  private async stopShort(out: Buffer): Promise<void> {
    const { allowance, call } = this.context;
    // The provider must stop before the filter is waited for.
    this.begun.exchange.cancel();
    const closing = await this.release(this.begun.reader.append(out, this.begun.relay.stopShort()));
    if (this.isOver || this.endIfBlocked(closing)) return;
    this.leave();
    this.accounting.recordHealth({ kind: "neutral" });
    const warning = describeTruncation(call.request.api, allowance.by);
    const finish = this.begun.relay.finish();
    await this.endWith(closing, { counted: this.accounting.countSoFar(), finish, bounds: [warning] });
  }

  /** Charges a complete answer, and sends its end once the record is durable. */
  private async endWith(out: Buffer, { counted, finish, bounds }: CountedEnd): Promise<void> {
    const lost = this.begun.relay.listWarnings?.() ?? [];
    const warnings = lost.length === 0 ? bounds : [...bounds, ...lost];
    const metadata = addWarnings(this.context.metadata, warnings, this.context.filter);
    const charge = await chargeComplete(this.context, counted);
    const last = this.begun.relay.encodeEnd({
      report: reportUsage(charge, this.context.candidate.served.rates),
      metadata,
      completedAt: Math.floor(this.context.deps.clock.now() / 1000),
    });
    const bytes = this.begun.reader.append(out, last);
    this.context.extensions.onText(bytes);
    await this.accounting.settleComplete(charge, finish, warnings);
    this.write(bytes);
    this.close();
  }

  /** Ends a broken answer with an error event. After the first token no other candidate may continue it. */
  private endBroken(out: Buffer, failure: Failure): void {
    const bytes = this.encodeFailure(out, failure);
    this.context.extensions.onText(bytes);
    this.accounting.settleBroken("failed", failure);
    this.endWithFailure(bytes);
  }

  /** Sends an error event as the end. An answer of plain bytes has no events, so its connection is reset. */
  private endWithFailure(bytes: Buffer): void {
    if (this.begun.relay.mediaType !== undefined) this.reset();
    else {
      this.write(bytes);
      this.close();
    }
  }

  /** Resets the connection of an answer of plain bytes, so that the client sees that the answer is incomplete. */
  private reset(): void {
    this.isReset = true;
    this.writer?.reset();
    this.closing = this.keeper?.abandon();
  }

  private encodeFailure(out: Buffer, failure: Failure): Buffer {
    const { message, code: type, metadata } = failure;
    const error = { message, code: statusOf(failure), type, ...(metadata === undefined ? {} : { metadata }) };
    return this.begun.reader.append(out, this.begun.relay.encodeError(error));
  }

  /** Ends an answer because of a timer, the client or a shutdown. */
  private endCancelled(): void {
    const { reason } = this.context.cancellation;
    if (this.isOver || reason === null) return;
    try {
      this.endFor(reason);
    } catch (error) {
      this.endUnexpected(error);
    }
  }

  private endFor(reason: CancelReason): void {
    this.leave();
    if (reason === "client_left" || reason === "client_stalled") {
      this.accounting.recordHealth({ kind: "neutral" });
      this.accounting.settleBroken("cancelled", reason === "client_stalled" ? STALLED : null);
      // The client does not read any more. Closing frees the stream.
      this.writer?.abandon();
      this.closing = this.keeper?.abandon();
      return;
    }
    // The answer is complete except for its close (docs/api/errors.md, "Broken streams").
    const { relay } = this.begun;
    const isHeldBack = relay.release !== undefined && !this.isReleased;
    if (!isHeldBack && isAnswer(relay.classifyEnd())) {
      this.ending = this.complete(NOTHING).catch((error: unknown) => this.endUnexpected(error));
      return;
    }
    // Exceeding the total time does not mean that the provider is unhealthy.
    const { failure } = classifyCancellation(reason, this.context.candidate);
    this.accounting.recordFailure(failure, { kind: reason === "silence" ? "failed" : "neutral" });
    this.endBroken(NOTHING, failure);
  }

  /** Ends an answer after an unexpected error of the gateway: settles the generation and reports the failure to the client. */
  private endUnexpected(error: unknown): void {
    if (!this.isOver) this.leave();
    this.begun.exchange.cancel();
    const failure = failureOf(error);
    const { deps, call } = this.context;
    deps.log.error("internal error", { request_id: call.requestId, detail: failure.internal });
    this.accounting.settleUnexpected(failure);
    try {
      this.endWithFailure(this.encodeFailure(NOTHING, failure));
    } catch {
      this.reset();
    }
  }

  /** Stops reading from the upstream. */
  private leave(): void {
    this.isOver = true;
    this.over.resolve();
    this.keepAlive.stop();
    this.context.cancellation.stop();
    this.context.onOver();
  }
}
