import { describe, expect, test } from "bun:test";
import type { EndedTrace } from "../../src/core/telemetry/request-trace.ts";
import type { AttemptRecord, UsageRecord } from "../../src/core/usage/records/records.ts";
import { TraceEncoder } from "../../src/telemetry/otlp/encode-trace.ts";
import { encodeTime } from "../../src/telemetry/otlp/json.ts";

const ATTEMPT: AttemptRecord = {
  provider: "vendor",
  upstreamModel: "upstream-model",
  format: "openai-chat",
  isByok: false,
  startedAt: 1_000,
  durationMs: 5,
  upstreamStatus: 200,
  error: null,
};

const RECORD = {
  id: "gen_1",
  model: "acme/model",
  provider: "vendor",
  outcome: "completed",
  attempts: [ATTEMPT],
  promptTokens: 3,
  completionTokens: 2,
  costNanodollars: 100,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  streamed: false,
  createdAt: 1_000,
  firstTokenAt: 1_005,
  finishReason: "stop",
} as unknown as UsageRecord;

interface Differences {
  readonly end?: Partial<EndedTrace["end"]>;
  readonly record?: Partial<UsageRecord>;
  readonly attempt?: Partial<AttemptRecord>;
  readonly model?: string;
  /** Attempts in all. */
  readonly attempts?: number;
}

function traceOf({ end, record, attempt, model = "acme/model", attempts = 1 }: Differences): EndedTrace {
  const tracedAttempt = (_: unknown, at: number) => ({
    spanId: `${at}`.repeat(16),
    model,
    startedAt: 1_000,
    endedAt: at === attempts - 1 ? null : 1_002,
    record: { ...ATTEMPT, ...attempt },
  });
  return {
    identity: {
      traceId: "a".repeat(32),
      spanId: "b".repeat(16),
      parentSpanId: null,
      isSampled: true,
      state: "",
    },
    startedAt: 1_000,
    endedAt: 1_010.5,
    attempts: Array.from({ length: attempts }, tracedAttempt),
    end: {
      api: "chat.completions",
      requestId: "req_1",
      route: "/chat/completions",
      status: 200,
      failure: null,
      record: { ...RECORD, ...record },
      ...end,
    },
  };
}

const FAILURE = { code: "unavailable", message: "no" } as const;
const CASES: readonly Differences[] = [
  {},
  { end: { api: "messages" } },
  { end: { api: "embeddings" } },
  { end: { route: "/messages" } },
  { end: { status: 206 } },
  { end: { requestId: "req_2" } },
  { end: { record: null } },
  { end: { record: null, failure: FAILURE, status: 503 } },
  { end: { failure: FAILURE, status: 503 }, record: { outcome: "failed" } },
  { record: { outcome: "cancelled" } },
  { record: { model: "acme/other" } },
  { record: { model: null, provider: null } },
  { record: { provider: "other" } },
  { record: { id: "gen_2" } },
  { record: { promptTokens: 4 } },
  { record: { completionTokens: 4 } },
  { record: { costNanodollars: 4 } },
  { attempts: 2 },
  { model: 'acme/"quoted" é' },
  { attempt: { provider: "other" } },
  { attempt: { upstreamModel: "other" } },
  { attempt: { format: "anthropic-messages" } },
  { attempt: { isByok: true } },
  { attempt: { upstreamStatus: 503, error: "unavailable" } },
  { attempt: { upstreamStatus: null } },
];

describe("an encoded trace", () => {
  test.each([[false], [true]])(
    "is the same whatever was encoded before, with GenAI attributes: %p",
    (isGenAi) => {
      const encoder = new TraceEncoder(isGenAi);
      const traces = CASES.map(traceOf);
      const alone = traces.map((trace) => new TraceEncoder(isGenAi).encode(trace));
      expect(new Set(alone).size).toBe(CASES.length);
      for (let times = 0; times < 2; times++)
        expect(traces.map((trace) => encoder.encode(trace))).toEqual(alone);
      for (const text of alone) expect(() => JSON.parse(`[${text}]`)).not.toThrow();
    },
  );

  test("has the end of the request as the end of the attempt that answers, and its own end of one that failed", () => {
    const spans = JSON.parse(`[${new TraceEncoder(false).encode(traceOf({ attempts: 2 }))}]`);
    expect(spans.map((span: { endTimeUnixNano: string }) => span.endTimeUnixNano)).toEqual([
      "1010500000",
      "1002000000",
      "1010500000",
    ]);
  });
});

describe("a time", () => {
  test.each([
    [1_795_478_494_005.25, '"1795478494005250000"'],
    [1_795_478_494_000, '"1795478494000000000"'],
    [1_795_478_494_999.75, '"1795478494999750000"'],
    // The last moment before a second, where a division by 1,000 would round up.
    [2 ** 42 - 2 ** -11, '"4398046511103999511"'],
  ])("of %p ms is encoded as %p", (ms, expected) => {
    expect(encodeTime(ms)).toBe(expected);
  });
});
