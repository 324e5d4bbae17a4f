import type { UsageRecord } from "../../../src/core/usage/records/records.ts";
import { exampleRecord } from "../../rows/example-record.ts";

const MODEL = {
  requestedModel: "openai/gpt-4o-mini",
  model: "openai/gpt-4o-mini",
  upstreamModel: "gpt-4o-mini",
};
/** Nanodollars. Costs differ by the number of the request, because real ones do. */
const LEAST_COST = 100_000;
const COSTS = 1_000;

/** The fields of all records: those that this gateway writes for the bench's requests, so that an entry has the same size (1.4 kB). */
const CONSTANT: UsageRecord = {
  ...exampleRecord(0),
  ...MODEL,
  requestId: "req_01jd0000000000000000000000",
  accountId: "user_01jd0000000000000000000000",
  keyId: "key_01jd0000000000000000000000",
  userId: "user_01jd0000000000000000000000",
  promptTokens: 216,
  completionTokens: 128,
  prices: { prompt: "0.00000015", completion: "0.0000006", cacheRead: "0.000000075", search: "0.01" },
  heldNanodollars: 293_400,
  plan: [{ provider: "openai", model: MODEL.model, isCandidate: true, why: "only", format: "openai-chat" }],
};

/** Returns the record of a request that begins. `now` is in milliseconds since the epoch. */
export function openRecord(id: string, now: number): UsageRecord {
  return {
    ...CONSTANT,
    id,
    outcome: "open",
    lease: { gatewayId: "gateway_01jd0000000000000000000000", endsAt: now + 960_000 },
    status: null,
    finishReason: null,
    nativeFinishReason: null,
    costNanodollars: 0,
    upstreamCostNanodollars: 0,
    createdAt: now,
    firstTokenAt: null,
    finishedAt: null,
    attempts: [attemptAt(now, null)],
  };
}

/** Returns the record of a request that has ended; `number` is that of the request. `now` is in milliseconds since the epoch. */
export function settleRecord({ id, createdAt }: UsageRecord, number: number, now: number): UsageRecord {
  const cost = LEAST_COST + (number % COSTS);
  return {
    ...CONSTANT,
    id,
    costNanodollars: cost,
    upstreamCostNanodollars: cost,
    createdAt,
    firstTokenAt: now,
    finishedAt: now,
    attempts: [attemptAt(createdAt, now - createdAt)],
  };
}

function attemptAt(startedAt: number, durationMs: number | null): UsageRecord["attempts"][number] {
  return {
    provider: "openai",
    upstreamModel: MODEL.upstreamModel,
    format: "openai-chat",
    isByok: false,
    startedAt,
    durationMs,
    upstreamStatus: durationMs === null ? null : 200,
    error: null,
  };
}
