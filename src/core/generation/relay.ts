import type { Timer } from "../../base/clock.ts";
import { type Failure, failureOf, statusOf } from "../../base/errors.ts";
import type { RelayEnding } from "../../wire/canonical/relay.ts";
import { BYTES_PER_TOKEN, type TokenUsage } from "../../wire/conversation/usage.ts";
import type { AttemptReport } from "../routing/health.ts";
import { AnswerWriter, type Sink } from "./answer-writer.ts";
import { type BegunStream, latin1 } from "./attempt.ts";
import type { GenerationCall, GenerationDeps } from "./call.ts";
import type { Cancellation } from "./cancellation.ts";
import { type Answering, chargeAnswer, countUsage } from "./charge-answer.ts";
import type { CheckedUsage, SeenAnswer } from "./check-usage.ts";
import { classifyCancellation, classifyVendorError, type PromptSize } from "./classify-failure.ts";
import { addWarning } from "./describe-work.ts";
import { measureSpeed, recordHealth } from "./record-attempt.ts";
import { recordKeyUse } from "./record-key-use.ts";
import {
  chargeFor,
  recordUsage,
  reportUsage,
  type Settling,
  settle,
  settleSoon,
  withHeld,
} from "./settle.ts";
import { describeBound, warnOfBound } from "./warn-of-bound.ts";

/** What relaying a stream needs. */
export interface RelayContext extends Answering, Settling {
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly cancellation: Cancellation;
  readonly size: PromptSize;
  /** The `gateway_metadata` of the last event; null for none. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** When the attempt began. Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly firstTokenAt: number;
  /** Called once, when the upstream is no longer read. */
  readonly onOver: () => void;
  /** Called once, when the answer is complete. */
  readonly onCompleted: (usage: TokenUsage) => void;
}

/** Recorded for a client that has stopped reading; the client itself cannot receive it. */
const STALLED: Failure = {
  code: "client_timeout",
  message: "The client did not read its answer for too long.",
};
const KEEP_ALIVE = Buffer.from(": keep-alive\n\n");
/** How often the record of a stream is updated. Milliseconds. */
const NOTE_MS = 1_000;
/** How long an upstream may take for usage and end marker after the finish reason. Milliseconds. */
const ENDING_MS = 5_000;
/** How long an upstream may take to close its answer after its last event, so that the connection can be reused. Milliseconds. */
const CLOSE_MS = 1_000;

/**
 * Relays a stream that has begun to the client. It ends once: with a finish reason, the usage and `[DONE]`; with an error event;
 * or silently, if the client has left. The record is written before the client sees the end. Returns a promise of the whole
 * body if the upstream has sent everything already.
 */
export function relayStream(
  context: RelayContext,
  begun: BegunStream,
): ReadableStream<Uint8Array> | Promise<Buffer> {
  const pump = new StreamPump(context, begun);
  // A complete stream is sent in one piece.
  return begun.isOver ? pump.whole() : pump.stream();
}

function isAnswer(verdict: RelayEnding): boolean {
  return verdict === "complete" || verdict === "empty";
}

/** Joins two Latin-1 texts as bytes. Joining them as text first would copy them once more. */
function toBytes(first: string, second: string): Buffer {
  const bytes = Buffer.allocUnsafe(first.length + second.length);
  bytes.write(second, bytes.write(first, "latin1"), "latin1");
  return bytes;
}

class StreamPump {
  private isOver = false;
  private isEnding = false;
  private keepAlive: Timer | null = null;
  private sentAt: number;
  private notedAt: number;
  /** Size of the answer from which on its hold may not suffice. Bytes. */
  private growAtBytes: number;
  /** Pieces sent before the client's connection is ready. */
  private readonly pieces: Uint8Array[] = [];
  /** Null until the client's connection is ready. */
  private writer: AnswerWriter | null = null;
  /** Resolves when the upstream is no longer read. */
  private readonly over = Promise.withResolvers<void>();
  private ending: Promise<void> | null = null;
  /** Resolves when the client has read what was sent. */
  private closing: Promise<void> | undefined = undefined;

  constructor(
    private readonly context: RelayContext,
    private readonly begun: BegunStream,
  ) {
    this.sentAt = context.deps.clock.now();
    this.notedAt = this.sentAt;
    this.growAtBytes = BYTES_PER_TOKEN * context.allowance.tokensHeldFor(context.candidate);
  }

  async whole(): Promise<Buffer> {
    await this.finish(this.begun.head, null);
    return this.pieces.length === 1 ? (this.pieces[0] as Buffer) : Buffer.concat(this.pieces);
  }

  /** Returns the runtime's direct stream: it costs half of a pulled one, and its writes report backpressure. */
  stream(): ReadableStream<Uint8Array> {
    const { cancellation, deps } = this.context;
    this.send(this.begun.head);
    // If the client has left already, the stream is cancelled without a pull.
    cancellation.onCut = () => this.endCut();
    if (cancellation.reason !== null) this.endCut();
    else cancellation.startPhase("silence", deps.timers.silenceMs);
    return new ReadableStream({
      type: "direct",
      pull: (controller) => this.run(controller),
      cancel: () => this.context.cancellation.cut("client_left"),
    });
  }

  private async run(sink: Sink): Promise<void> {
    const { cancellation, deps } = this.context;
    const { response } = this.begun;
    this.writer = new AnswerWriter(sink, deps.unread, {
      countBuffered: () => response.bufferedBytes?.() ?? 0,
      onStalled: () => cancellation.cut("client_stalled"),
    });
    for (const piece of this.pieces.splice(0)) this.writer.write(piece);
    if (!this.isOver) {
      this.armKeepAlive(deps.timers.keepAliveMs);
      await this.pump();
    }
    // The final record may still be on its way to the journal; the connection ends when this resolves.
    await this.ending;
    await this.closing;
  }

  private async pump(): Promise<void> {
    try {
      while (!this.isOver) await this.readOn();
    } catch (error) {
      // The connection broke: what was received so far decides the outcome.
      if (!this.isOver) await this.finish("", error);
    }
  }

  /** Passes one piece on, once the client has room for it. */
  private async readOn(): Promise<void> {
    const { cancellation } = this.context;
    const { relay, response } = this.begun;
    const room = this.writer?.room ?? null;
    if (room !== null) await this.waitForRoom(room);
    if (this.isOver) return;
    this.hastenEnd();
    const piece = await response.read();
    if (this.isOver) return;
    cancellation.touch();
    const out = piece === null ? relay.end() : relay.step(latin1(piece));
    if (piece === null || relay.isDone || relay.error !== null) return this.finish(out, null);
    if (relay.producedBytes >= this.growAtBytes && !relay.isFinished && !this.growHold())
      return this.stopShort(out);
    this.send(out);
  }

  /** Raises the hold to twice of what was produced. Returns false if what was produced is not covered. */
  private growHold(): boolean {
    const { allowance, candidate } = this.context;
    const produced = this.countSoFar().usage.completionTokens;
    const covered = allowance.growTo(candidate, 2 * produced);
    this.growAtBytes = this.begun.relay.producedBytes + BYTES_PER_TOKEN * (covered - produced);
    return covered > produced;
  }

  /** Ends an answer beyond what the account covers, as one that has reached its token limit. */
  private async stopShort(out: string): Promise<void> {
    const { allowance, call, metadata } = this.context;
    this.leave();
    this.begun.exchange.cancel();
    const closing = this.begun.relay.stopShort();
    this.noteHealth({ kind: "neutral" });
    const warning = describeBound(call.request.api, allowance.by);
    await this.settleWhole(out + closing, this.countSoFar(), addWarning(metadata, warning));
  }

  /** Waits for the client to read on; the upstream's silence timer is suspended meanwhile. */
  private async waitForRoom(room: Promise<void>): Promise<void> {
    const { cancellation } = this.context;
    cancellation.hold();
    await Promise.race([room, this.over.promise]);
    cancellation.touch();
  }

  /** Shortens the silence timer once every choice has finished: only usage and end marker may still come. */
  private hastenEnd(): void {
    const { relay } = this.begun;
    const isEnding = relay.isFinished;
    if (isEnding === this.isEnding) return;
    this.isEnding = isEnding;
    const { cancellation, deps } = this.context;
    const { silenceMs } = deps.timers;
    cancellation.startPhase("silence", isEnding ? Math.min(ENDING_MS, silenceMs) : silenceMs);
  }

  private send(out: string): void {
    if (out === "") return;
    this.sentAt = this.context.deps.clock.now();
    if (!this.isOver && this.sentAt - this.notedAt >= NOTE_MS) this.noteProgress();
    const bytes = Buffer.from(out, "latin1");
    this.context.extensions.onText(bytes);
    this.write(bytes);
  }

  private write(piece: Uint8Array): void {
    if (piece.length === 0) return;
    if (this.writer === null) this.pieces.push(piece);
    else this.writer.write(piece);
  }

  /** Updates the record, so that it shows the progress if this process dies. */
  private noteProgress(): void {
    this.notedAt = this.sentAt;
    const { deps, record, firstTokenAt, candidate, allowance } = this.context;
    // If this remains the last version, its cost is charged as far as it is held.
    const charge = chargeFor(candidate, this.countSoFar().usage, {
      requestedAt: record.createdAt,
      allowance,
      serving: deps.serving,
    });
    deps.recorder.write(withHeld({ ...record, ...recordUsage(charge), firstTokenAt }, allowance));
  }

  /** Returns the usage so far. A vendor's early counts include the prompt, but not all output. */
  private countSoFar(): CheckedUsage {
    const seen = this.seen();
    const { usage, rejected } = countUsage(this.context, this.begun.relay.usage, seen);
    const counted = countUsage(this.context, null, seen).usage;
    const completionTokens = Math.max(usage.completionTokens, counted.completionTokens);
    const searches = rejected.length > 0 ? usage.searches : Math.max(usage.searches, counted.searches);
    return { usage: { ...usage, completionTokens, searches, estimated: true }, rejected };
  }

  private seen(): SeenAnswer {
    const { producedBytes, searches } = this.begun.relay;
    return { producedBytes, searches };
  }

  private close(): void {
    this.closing = this.writer?.end();
  }

  /** Ends the relay by what the upstream sent. `thrown` is the error that its connection ended with, or null. */
  private async finish(out: string, thrown: unknown): Promise<void> {
    const verdict = this.begun.relay.classifyEnd();
    this.leave();
    if (isAnswer(verdict)) {
      this.closeUpstream();
      await this.complete(out);
      return;
    }
    this.begun.exchange.cancel();
    this.breakOff(out, this.judge(thrown));
  }

  private async complete(out: string): Promise<void> {
    const { deps, metadata, firstTokenAt } = this.context;
    const { relay } = this.begun;
    const counted = countUsage(this.context, relay.usage, this.seen());
    const tokensPerS = measureSpeed(counted.usage.completionTokens, deps.clock.now() - firstTokenAt);
    this.noteHealth({ kind: "succeeded", tokensPerS });
    const warning = warnOfBound(this.context, relay.finish(), counted.usage);
    await this.settleWhole(out, counted, addWarning(metadata, warning));
  }

  /** Settles a complete answer, and sends its end once the record is durable. */
  private async settleWhole(
    out: string,
    counted: CheckedUsage,
    metadata: RelayContext["metadata"],
  ): Promise<void> {
    const { record, firstTokenAt } = this.context;
    const { relay } = this.begun;
    const charge = chargeAnswer(this.context, counted);
    const last = relay.encodeEnd({ report: reportUsage(charge), metadata });
    const bytes = toBytes(out, last);
    this.context.extensions.onText(bytes);
    await settleSoon(this.context, record, {
      outcome: "completed",
      failure: null,
      status: 200,
      charge,
      finish: relay.finish(),
      firstTokenAt,
    });
    this.context.onCompleted(counted.usage);
    this.write(bytes);
    this.close();
  }

  /** Ends a broken answer with an error event. After the first token no other candidate may continue it. */
  private breakOff(out: string, failure: Failure): void {
    const { message, code: type, metadata } = failure;
    const error = { message, code: statusOf(failure), type, ...(metadata === undefined ? {} : { metadata }) };
    const bytes = toBytes(out, this.begun.relay.encodeError(error));
    this.context.extensions.onText(bytes);
    this.settleBroken("failed", failure);
    this.write(bytes);
    this.close();
  }

  private judge(thrown: unknown): Failure {
    const { deps, candidate, size } = this.context;
    const { error } = this.begun.relay;
    if (error !== null) {
      const classification = classifyVendorError(error, candidate, size, null);
      recordKeyUse(deps, candidate, classification);
      // Too late for this request, but not for the next.
      this.noteHealth(classification.health);
      return classification.failure;
    }
    this.noteHealth({ kind: "failed" });
    const { name, slug } = candidate.provider.record;
    const raw = "the answer broke off before its end";
    return {
      code: "upstream_error",
      message: `${name} broke off in the middle of the answer. Repeat the request.`,
      metadata: { provider: slug, upstream_status: 200, raw },
      ...(thrown === null ? {} : { internal: failureOf(thrown).internal ?? raw }),
    };
  }

  private endCut(): void {
    const { reason } = this.context.cancellation;
    if (this.isOver || reason === null) return;
    this.leave();
    if (reason === "client_left" || reason === "client_stalled") {
      this.noteHealth({ kind: "neutral" });
      this.settleBroken("cancelled", reason === "client_stalled" ? STALLED : null);
      // No client reads any more; closing frees the stream.
      this.writer?.abandon();
      return;
    }
    // The answer is complete except for its close (docs/api/errors.md, "Broken streams").
    if (isAnswer(this.begun.relay.classifyEnd())) {
      this.ending = this.complete("");
      return;
    }
    // Exceeding the total time does not mean that the provider is unhealthy.
    this.noteHealth({ kind: reason === "silence" ? "failed" : "neutral" });
    this.breakOff("", classifyCancellation(reason, this.context.candidate).failure);
  }

  private noteHealth(note: AttemptReport): void {
    const { deps, candidate, record, beganAt } = this.context;
    recordHealth(deps, candidate, note, { beganAt, requestedAt: record.createdAt });
  }

  private settleBroken(outcome: "failed" | "cancelled", failure: Failure | null): void {
    const { record, firstTokenAt } = this.context;
    settle(this.context, record, {
      outcome,
      failure,
      status: 200,
      charge: chargeAnswer(this.context, this.countSoFar()),
      finish: this.begun.relay.finish(),
      firstTokenAt,
    });
  }

  private leave(): void {
    this.isOver = true;
    this.over.resolve();
    this.keepAlive?.cancel();
    this.context.cancellation.stop();
    this.context.onOver();
  }

  /** Waits for the upstream to close its answer, so that the connection can be reused; cancels it if it does not. */
  private closeUpstream(): void {
    const { exchange, response } = this.begun;
    const timer = this.context.deps.clock.after(CLOSE_MS, () => exchange.cancel());
    const drain = async (): Promise<void> => {
      while ((await response.read()) !== null);
    };
    drain()
      .catch(() => exchange.cancel())
      .finally(() => timer.cancel());
  }

  /** Sends keep-alives. One timer checks the silence, instead of one that is reset with every event. */
  private armKeepAlive(delayMs: number): void {
    const { clock, timers } = this.context.deps;
    this.keepAlive = clock.after(delayMs, () => {
      if (this.isOver) return;
      const quietMs = clock.now() - this.sentAt;
      if (quietMs < timers.keepAliveMs) return this.armKeepAlive(timers.keepAliveMs - quietMs);
      // A client that does not read needs no keep-alive, and buffering them would be unbounded.
      if (this.writer?.room == null) this.write(KEEP_ALIVE);
      this.sentAt = clock.now();
      this.armKeepAlive(timers.keepAliveMs);
    });
  }
}
