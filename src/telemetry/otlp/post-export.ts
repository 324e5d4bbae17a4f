import { type Random, randomShare } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { SignalSettings } from "./otlp-settings.ts";

/** The statuses after which an export may be repeated (OTLP, "Retryable Response Codes"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const MAX_TRIES = 5;
/** The pause before the first repetition, which doubles. Milliseconds. */
const FIRST_PAUSE_MS = 1_000;
/** The longest pause, even if the collector asks for a longer one. Milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** How much of a response is read. Bytes. */
const MAX_RESPONSE_BYTES = 16 * 1024;
const COMPRESSION_LEVEL = 1;

/** The result of an export: taken, of which the collector may have rejected some, or given up. */
export type ExportResult =
  | { readonly kind: "taken"; readonly rejected: number; readonly message: string }
  | { readonly kind: "failed"; readonly reason: string };

/** The dependencies of sending an export. */
export interface Posting {
  readonly settings: SignalSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted when the gateway stops: a post in progress is completed, but none is repeated. */
  readonly stopped: AbortSignal;
}

/** Posts an export in JSON, and repeats it after transient failures. The bytes must not change until it ends. Never rejects. */
export async function postExport(posting: Posting, json: Buffer<ArrayBuffer>): Promise<ExportResult> {
  const { settings, clock, random, stopped } = posting;
  const body = settings.isGzipped ? Bun.gzipSync(json, { level: COMPRESSION_LEVEL }) : json;
  for (let tries = 1; ; tries++) {
    const outcome = await post(settings, body);
    if (outcome.kind !== "retry") return outcome;
    const { reason } = outcome;
    if (tries >= MAX_TRIES || stopped.aborted) return { kind: "failed", reason };
    // Up to a quarter longer, so that many gateways do not return at the same moment.
    const backoffMs = FIRST_PAUSE_MS * 2 ** (tries - 1) * (1 + randomShare(random) / 4);
    await pause(clock, Math.min(outcome.afterMs ?? backoffMs, MAX_PAUSE_MS), stopped);
    if (stopped.aborted) return { kind: "failed", reason };
  }
}

type PostOutcome =
  | ExportResult
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number | null };

async function post(settings: SignalSettings, body: Uint8Array): Promise<PostOutcome> {
  try {
    const response = await fetch(settings.url, {
      method: "POST",
      headers: {
        ...settings.headers,
        "content-type": "application/json",
        ...(settings.isGzipped ? { "content-encoding": "gzip" } : {}),
      },
      body,
      redirect: "manual",
      signal: AbortSignal.timeout(settings.timeoutMs),
    });
    const text = await readBeginning(response);
    if (response.ok) return readTaken(text);
    const reason = `${settings.url} answered with status ${response.status}`;
    if (!RETRYABLE.has(response.status)) return { kind: "failed", reason };
    return { kind: "retry", reason, afterMs: readRetryAfter(response.headers.get("retry-after")) };
  } catch (error) {
    return { kind: "retry", reason: `${settings.url}: ${(error as Error).message}`, afterMs: null };
  }
}

async function readBeginning(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes >= MAX_RESPONSE_BYTES) break;
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** Reads how many spans or data points of a taken export the collector has rejected. */
function readTaken(text: string): ExportResult {
  try {
    const { partialSuccess = {} } = JSON.parse(text) as { partialSuccess?: Record<string, unknown> };
    const rejected = Number(partialSuccess["rejectedSpans"] ?? partialSuccess["rejectedDataPoints"] ?? 0);
    return { kind: "taken", rejected, message: String(partialSuccess["errorMessage"] ?? "") };
  } catch {
    return { kind: "taken", rejected: 0, message: "" };
  }
}

/** Returns the pause that a `Retry-After` in seconds states. Milliseconds; null for anything else. */
function readRetryAfter(header: string | null): number | null {
  return header !== null && /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1_000 : null;
}

async function pause(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.after(ms, resolve);
  const stop = () => resolve();
  stopped.addEventListener("abort", stop, { once: true });
  await promise;
  stopped.removeEventListener("abort", stop);
  timer.cancel();
}
