import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";

/** Returns the record of a usual generation: one attempt of four candidates. */
export function exampleRecord(now: number): UsageRecord {
  const providers = ["openai", "azure", "anthropic", "together"];
  return {
    ...NO_TOKENS,
    id: "",
    requestId: "req_01jd0000000000000000000000",
    accountId: null,
    keyId: null,
    userId: null,
    addressHash: null,
    api: "chat.completions",
    streamed: true,
    client: "claude-code",
    clientVersion: "2.0.14",
    requestedModel: "openai/gpt-4o",
    model: "openai/gpt-4o",
    provider: "openai",
    upstreamModel: "gpt-4o-2024-08-06",
    outcome: "completed",
    error: null,
    status: 200,
    finishReason: "stop",
    nativeFinishReason: "stop",
    promptTokens: 1_200,
    completionTokens: 340,
    isByok: false,
    costNanodollars: 6_400_000,
    upstreamCostNanodollars: 6_400_000,
    heldNanodollars: 20_000_000,
    prices: null,
    createdAt: now,
    firstTokenAt: now + 400,
    finishedAt: now + 4_000,
    attempts: [
      {
        provider: "openai",
        upstreamModel: "gpt-4o-2024-08-06",
        format: "openai-chat",
        isByok: false,
        startedAt: now,
        durationMs: 400,
        upstreamStatus: 200,
        error: null,
      },
    ],
    plan: providers.map((provider) => ({
      provider,
      model: "openai/gpt-4o",
      isCandidate: true,
      why: "price",
    })),
  };
}
