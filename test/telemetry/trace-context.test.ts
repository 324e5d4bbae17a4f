import { describe, expect, test } from "bun:test";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import type { Sampler } from "../../src/telemetry/otlp/otlp-settings.ts";
import { createSpanIds, identifySpan } from "../../src/telemetry/otlp/trace-context.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const PARENT_ID = "b7ad6b7169203331";
const ids = createSpanIds(createSystemRandom());
const ALL: Sampler = { ratio: 1, followsParent: true };

const identify = (traceparent: string, tracestate: string | null = null, sampler = ALL) =>
  identifySpan({ traceparent, tracestate }, { sampler, ids });

describe("the span of a request", () => {
  test("is below the caller's", () => {
    expect(identify(`00-${TRACE_ID}-${PARENT_ID}-00`, "a=1")).toMatchObject({
      traceId: TRACE_ID,
      parentSpanId: PARENT_ID,
      isSampled: false,
      state: "a=1",
    });
  });

  test("accepts further fields of a later version of traceparent", () => {
    expect(identify(`01-${TRACE_ID}-${PARENT_ID}-03-more`)).toMatchObject({
      traceId: TRACE_ID,
      isSampled: true,
    });
  });

  test.each([
    ["too short", `00-${TRACE_ID}-${PARENT_ID}`],
    ["with a trace id of zeros", `00-${"0".repeat(32)}-${PARENT_ID}-01`],
    ["with a span id of zeros", `00-${TRACE_ID}-${"0".repeat(16)}-01`],
    ["of an invalid version", `ff-${TRACE_ID}-${PARENT_ID}-01`],
    ["in upper case", `00-${TRACE_ID.toUpperCase()}-${PARENT_ID}-01`],
    ["with more fields than version 00 has", `00-${TRACE_ID}-${PARENT_ID}-01-more`],
  ])("begins a new trace for a traceparent %s", (_, traceparent) => {
    const identity = identify(traceparent, "a=1");
    expect(identity).toMatchObject({ parentSpanId: null, state: "", isSampled: true });
    expect(identity.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(identity.traceId).not.toBe(TRACE_ID);
    expect(identity.spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  test.each([
    ["longer than 512 characters", "a".repeat(513)],
    ["with a character that no header of a provider may have", "a=\u00e9"],
  ])("leaves out a tracestate %s", (_, tracestate) => {
    expect(identify(`00-${TRACE_ID}-${PARENT_ID}-01`, tracestate).state).toBe("");
  });

  test("is sampled by its trace id, the same in every service", () => {
    const share = (ratio: number) =>
      identify(`00-${TRACE_ID}-${PARENT_ID}-00`, null, { ratio, followsParent: false }).isSampled;
    // 8448eb211c803 of the trace id is 0.5167 of the range.
    expect([share(0.51), share(0.52)]).toEqual([false, true]);
  });
});

describe("ids of spans", () => {
  test("have their lengths and are all different", () => {
    const spans = Array.from({ length: 1_000 }, () => ids.makeSpanId());
    const traces = Array.from({ length: 1_000 }, () => ids.makeTraceId());
    expect(new Set(spans.filter((id) => /^[0-9a-f]{16}$/.test(id))).size).toBe(1_000);
    expect(new Set(traces.filter((id) => /^[0-9a-f]{32}$/.test(id))).size).toBe(1_000);
  });
});
