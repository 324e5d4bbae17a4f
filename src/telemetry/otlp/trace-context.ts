import type { Random } from "../../base/secrets/random.ts";
import type { SpanIdentity, TraceHeaders } from "../../core/telemetry/request-trace.ts";
import type { Sampler } from "./otlp-settings.ts";

/** The caller's span in `traceparent`. */
interface Parent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A header of this length is passed on; a longer one is left out. Characters. */
const MAX_STATE_CHARS = 512;

/** Makes random ids in hexadecimal. */
interface SpanIds {
  /** Returns 32 digits. */
  makeTraceId(): string;
  /** Returns 16 digits. */
  makeSpanId(): string;
}

/** The number of random bytes that are drawn and printed together: enough for 32 requests with one attempt. */
const BLOCK_BYTES = 32 * (16 + 8 + 8);

/** Creates a source of ids. */
export function createSpanIds(random: Random): SpanIds {
  let digits = "";
  let used = 0;
  const take = (length: number): string => {
    if (used + length > digits.length) {
      digits = Buffer.from(random.bytes(BLOCK_BYTES)).toString("hex");
      used = 0;
    }
    used += length;
    return digits.slice(used - length, used);
  };
  return { makeTraceId: () => take(32), makeSpanId: () => take(16) };
}

/** Returns the identity of a new span: below the caller's, or the first of a new trace. */
export function identifySpan(
  { traceparent, tracestate }: TraceHeaders,
  { sampler, ids }: { readonly sampler: Sampler; readonly ids: SpanIds },
): SpanIdentity {
  const parent = traceparent === null ? null : readParent(traceparent);
  const traceId = parent?.traceId ?? ids.makeTraceId();
  const isSampled =
    parent !== null && sampler.followsParent ? parent.isSampled : isInShare(traceId, sampler.ratio);
  return {
    traceId,
    spanId: ids.makeSpanId(),
    parentSpanId: parent?.spanId ?? null,
    isSampled,
    state: parent !== null && tracestate !== null && isValidState(tracestate) ? tracestate : "",
  };
}

/** Returns the span that a `traceparent` names (W3C Trace Context); null if it is not valid, which counts as absent. */
function readParent(header: string): Parent | null {
  const [, version, traceId, spanId, flags, rest] = TRACEPARENT.exec(header.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || version === "ff") return null;
  if (version === "00" && rest !== undefined) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags as string, 16) & 1) === 1 };
}

function isValidState(header: string): boolean {
  return header.length <= MAX_STATE_CHARS && /^[\x20-\x7e]*$/.test(header);
}

/** The digits of a trace id that are compared: 52 bits, which a number represents exactly. */
const COMPARED = { from: 16, to: 29, max: 2 ** 52 };

/** Decides by the second half of the trace id, as other SDKs do, so that all services keep the same traces. */
function isInShare(traceId: string, ratio: number): boolean {
  if (ratio >= 1 || ratio <= 0) return ratio >= 1;
  return Number.parseInt(traceId.slice(COMPARED.from, COMPARED.to), 16) / COMPARED.max < ratio;
}
