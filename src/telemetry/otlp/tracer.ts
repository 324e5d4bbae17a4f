import type { Random } from "../../base/secrets/random.ts";
import { type EndedTrace, RequestTrace, type Tracer } from "../../core/telemetry/request-trace.ts";
import { outcomeOfTrace, TraceEncoder } from "./encode-trace.ts";
import type { Sampler } from "./otlp-settings.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { createSpanIds, identifySpan } from "./trace-context.ts";

/** The dependencies of a tracer. */
interface TracerParts {
  readonly sampler: Sampler;
  readonly random: Random;
  readonly exporter: Pick<SpanExporter, "add">;
  /** Whether spans have the attributes of the GenAI conventions. */
  readonly isGenAi: boolean;
}

/** Creates a tracer that exports sampled traces. It also exports failed traces that begin here even if they are not sampled. */
export function createTracer({ sampler, random, exporter, isGenAi }: TracerParts): Tracer {
  const ids = createSpanIds(random);
  const encoder = new TraceEncoder(isGenAi);
  // One object for all traces: closures of each trace would cost more than the rest of its beginning.
  const owner = {
    makeSpanId: ids.makeSpanId,
    onEnded(trace: EndedTrace) {
      if (trace.identity.isSampled || isKeptFailure(trace, sampler))
        exporter.add(encoder.encode(trace), 1 + trace.attempts.length);
    },
  };
  return {
    begin: (headers, arrival) => new RequestTrace(identifySpan(headers, { sampler, ids }), arrival, owner),
  };
}

/** The decision of a caller is about all services of the trace: a failed span of this one alone would have no parent. */
function isKeptFailure({ identity, end }: EndedTrace, { ratio, followsParent }: Sampler): boolean {
  const decidesItself = identity.parentSpanId === null || !followsParent;
  return decidesItself && ratio > 0 && outcomeOfTrace(end) === "failed";
}
