import type { Random } from "../../base/random.ts";
import { type EndedTrace, RequestTrace, type Tracer } from "../../core/telemetry/request-trace.ts";
import { encodeTrace, outcomeOfTrace } from "./encode-trace.ts";
import type { Sampler } from "./otlp-settings.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { identifySpan, makeId } from "./trace-context.ts";

/** What a tracer is made of. */
export interface TracerParts {
  readonly sampler: Sampler;
  readonly random: Random;
  readonly exporter: Pick<SpanExporter, "add">;
  /** Whether spans have the attributes of the GenAI conventions. */
  readonly isGenAi: boolean;
}

/** Creates a tracer that exports sampled traces. Of the traces that begin here, it exports failed ones also if they are not sampled. */
export function createTracer({ sampler, random, exporter, isGenAi }: TracerParts): Tracer {
  const isOff = sampler.ratio === 0;
  const send = (trace: EndedTrace) => exporter.add(encodeTrace(trace, isGenAi), 1 + trace.attempts.length);
  return {
    begin(headers, arrival) {
      const { isRoot, ...identity } = identifySpan(headers, { sampler, random });
      // The decision of a caller is about all services of the trace; a span of this one alone would have no parent.
      const keepsFailure = (isRoot || !sampler.followsParent) && !isOff;
      return new RequestTrace({
        ...arrival,
        identity,
        makeSpanId: () => makeId(random, 8),
        onEnded(trace) {
          if (identity.isSampled || (keepsFailure && outcomeOfTrace(trace) === "failed")) send(trace);
        },
      });
    },
  };
}
