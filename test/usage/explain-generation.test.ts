import { describe, expect, test } from "bun:test";
import { explainGeneration } from "../../src/core/usage/generations/explain-generation.ts";
import { presentGeneration } from "../../src/core/usage/generations/present-generation.ts";
import type { AttemptRecord, UsageRecord } from "../../src/core/usage/records/records.ts";
import { openUsageOf, usageOf } from "../storage/contracts/samples.ts";

const OPERATOR = { isForOperator: true };
const recordOf = (fields: Partial<UsageRecord>) => usageOf("gen_1", { plan: [], ...fields }).record;

const ATTEMPT: AttemptRecord = {
  provider: "openai",
  upstreamModel: "gpt",
  isByok: false,
  startedAt: 1_000,
  durationMs: 5,
  upstreamStatus: 200,
  error: null,
};

describe("the explanation of a generation", () => {
  test("says that a request runs, or was interrupted and what that cost", () => {
    const attempts = [{ ...ATTEMPT, durationMs: null, upstreamStatus: null }];
    expect(explainGeneration(openUsageOf("gen_1", { plan: [], attempts }).record, OPERATOR)).toEqual([
      "openai was called.",
      "The request is running.",
    ]);
    const interrupted = { attempts, outcome: "interrupted" } as const;
    expect(explainGeneration(recordOf({ ...interrupted, costNanodollars: 5 }), OPERATOR).at(-1)).toBe(
      "The gateway's process ended while the request ran. What it had counted until then was charged.",
    );
    expect(explainGeneration(recordOf({ ...interrupted, costNanodollars: 0 }), OPERATOR).at(-1)).toBe(
      "The gateway's process ended while the request ran. Nothing was charged.",
    );
  });

  test("tells only the operator what a provider says about the operator's account there", () => {
    const failed: AttemptRecord = {
      ...ATTEMPT,
      upstreamStatus: 402,
      error: "unavailable",
      upstreamMessage: "Your credit of $5 is used up",
      isPrivate: true,
    };
    const record = recordOf({ outcome: "failed", error: "unavailable", status: 503, attempts: [failed] });
    expect(explainGeneration(record, OPERATOR)[0]).toBe(
      'openai failed with 402: "Your credit of $5 is used up".',
    );
    expect(explainGeneration(record, { isForOperator: false })[0]).toBe("openai failed (unavailable).");
  });

  test("names several routes in their order", () => {
    const step = { kind: "alias", version: 1, scope: "gateway" } as const;
    const namedRoutes = [
      { ...step, name: "fast", to: "quick" },
      { ...step, name: "quick", to: "author/model" },
    ];
    expect(explainGeneration(recordOf({ namedRoutes }), OPERATOR)[0]).toBe(
      "The named routes fast, then quick led to author/model.",
    );
  });
});

describe("the view of a generation of an earlier version", () => {
  test("has results by provider, and null for what its record does not have", () => {
    const record = recordOf({
      attempts: [{ ...ATTEMPT, upstreamStatus: 503, error: "unavailable" }, ATTEMPT],
      plan: [
        { provider: "openai", model: "author/model", isCandidate: true, why: "only" },
        { provider: "azure", model: "author/model", isCandidate: false, why: "policy" },
      ],
    });
    expect(presentGeneration(record)).toMatchObject({
      client: null,
      client_version: null,
      fallback_models: [],
      error_message: null,
      guardrails: [],
      replay_by: null,
      plan: [
        { result: "answered", key: null, key_number: null },
        { result: "left_out", key: null },
      ],
      attempts: [
        { result: "failed", model: null, key_number: null },
        { result: "answered", model: null, key_number: null },
      ],
    });
  });

  test("is completed if it repeats an answer without saying by which feature", () => {
    expect(presentGeneration(recordOf({ replayOf: "gen_0" }))).toMatchObject({
      outcome: "completed",
      replay_of: "gen_0",
    });
  });
});
