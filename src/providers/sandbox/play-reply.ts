import type { Clock } from "../../base/time/clock.ts";
import { type Exchange, TransportError, type UpstreamResponse } from "../../core/deployments/transport.ts";
import type { Piece, SandboxReply } from "./reply.ts";

/** The pace at which a reply is sent. */
export interface Pace {
  /** The wait before each piece of the body. Milliseconds. */
  readonly delayMs: number;
  /** The largest piece of the body in bytes; null for no bound. */
  readonly splitBytes: number | null;
}

/** A reply and its pace. */
export interface PlannedReply {
  readonly reply: SandboxReply;
  readonly pace: Pace;
}

/**
 * Plays a reply as an exchange, at the reader's speed. All waits use the clock. A cancelled exchange leaves no timer behind.
 */
export function playReply(plan: PlannedReply, connectTimeoutMs: number, clock: Clock): Exchange {
  const waits = createWaits(clock);
  const response = playHead(plan, connectTimeoutMs, waits);
  // After a cancel the caller may not handle the rejection.
  response.catch(() => {});
  return { response, cancel: waits.cancel };
}

interface Waits {
  /** Resolves after `delayMs` milliseconds, or never for null. Rejects once the exchange is cancelled. One wait at a time. */
  wait(delayMs: number | null): Promise<void>;
  cancel(): void;
}

function createWaits(clock: Clock): Waits {
  let cancelled = false;
  let giveUp: (() => void) | null = null;

  const hold = (delayMs: number | null) =>
    new Promise<void>((resolve, reject) => {
      const timer = delayMs === null ? null : clock.after(delayMs, resolve);
      giveUp = () => {
        timer?.cancel();
        reject(cancellation());
      };
    });

  return {
    async wait(delayMs) {
      if (cancelled) throw cancellation();
      if (delayMs !== 0) await hold(delayMs);
      else await null;
      giveUp = null;
      if (cancelled) throw cancellation();
    },
    cancel() {
      cancelled = true;
      giveUp?.();
    },
  };
}

function cancellation(): TransportError {
  return new TransportError("cancelled", "cancelled by the caller");
}

async function playHead(
  { reply, pace }: PlannedReply,
  connectTimeoutMs: number,
  waits: Waits,
): Promise<UpstreamResponse> {
  switch (reply.kind) {
    case "failure":
      await waits.wait(0);
      throw new TransportError(reply.error, reply.message);
    case "connect-timeout":
      await waits.wait(connectTimeoutMs);
      throw new TransportError("connect_timeout", `no connection after ${connectTimeoutMs} ms`);
    case "silence":
      await waits.wait(null);
      throw cancellation();
    case "answer":
      await waits.wait(0);
      return {
        status: reply.status,
        header: (name) => (Object.hasOwn(reply.headers, name) ? reply.headers[name]! : null),
        read: createReader(splitPieces(reply.body, pace.splitBytes), pace.delayMs, waits),
      };
  }
}

function createReader(pieces: Iterator<Piece>, delayMs: number, waits: Waits): UpstreamResponse["read"] {
  let isBroken = false;
  return async () => {
    await waits.wait(isBroken ? 0 : delayMs);
    const next: IteratorResult<Piece, unknown> = isBroken ? { value: { kind: "break" } } : pieces.next();
    if (next.done) return null;
    if (next.value.kind === "bytes") return next.value.bytes;
    if (next.value.kind === "hang") await waits.wait(null);
    isBroken = true;
    throw new TransportError("truncated", "the body broke off");
  };
}

function* splitPieces(pieces: Iterable<Piece>, splitBytes: number | null): Generator<Piece> {
  for (const piece of pieces) {
    if (splitBytes === null || piece.kind !== "bytes") yield piece;
    else yield* splitBytesOf(piece.bytes, splitBytes);
  }
}

function* splitBytesOf(bytes: Uint8Array, size: number): Generator<Piece> {
  for (let at = 0; at < bytes.length; at += size) {
    yield { kind: "bytes", bytes: bytes.subarray(at, at + size) };
  }
}
