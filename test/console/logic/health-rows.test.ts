import { describe, expect, test } from "bun:test";
import type { ProviderHealth } from "../../../src/console/api/schema.ts";
import {
  countStates,
  countUsable,
  errorShare,
  listProviders,
} from "../../../src/console/screens/health/health-rows.ts";

const provider = (name: string, changes: Partial<ProviderHealth> = {}): ProviderHealth => ({
  provider: name,
  name,
  state: "ok",
  requests: 0,
  errors: 0,
  latency_ms: null,
  throughput: null,
  circuit: "closed",
  drain: null,
  keys: [],
  warm: 0,
  endpoints: [],
  refused_parameters: [],
  last_failures: [],
  ...changes,
});

const failure: ProviderHealth["last_failures"][number] = {
  at: "2026-11-23T10:00:00.000Z",
  model: "openai/gpt-5-nano",
  upstream_model: "gpt-5-nano",
  error_type: "upstream_error",
  status: null,
  message: "connection refused",
  generation_id: "gen_1",
  is_byok: true,
};

describe("the providers on the health screen", () => {
  const rows = [
    provider("a", { state: "unknown" }),
    provider("b"),
    provider("c", { state: "no_key" }),
    provider("d", { state: "no_key", last_failures: [failure] }),
    provider("e", { state: "down" }),
    provider("f", { state: "degraded" }),
  ];

  test("those that need attention come first, and those without a key and without attempts are left out", () => {
    expect(listProviders(rows, false).map(({ name }) => name)).toEqual(["e", "f", "b", "a", "d"]);
    expect(listProviders(rows, true).map(({ name }) => name)).toEqual(["e", "f", "b", "a", "c", "d"]);
  });

  test("states are counted in the same order, without those that no provider is in", () => {
    expect(countStates([provider("a"), provider("b"), provider("c", { state: "down" })])).toEqual([
      { state: "down", count: 1 },
      { state: "ok", count: 2 },
    ]);
  });

  test("the share of errors is unknown without attempts", () => {
    expect(errorShare({ requests: 0, errors: 0 })).toBeNull();
    expect(errorShare({ requests: 8, errors: 2 })).toBe(0.25);
  });

  test("a key that is not used for one model is still usable, and one that the provider rejects is not", () => {
    const until = "2026-11-23T10:00:00.000Z";
    const keys: ProviderHealth["keys"] = [
      { id: "a#0", state: "ok", until: null, models: [{ model: "m", state: "rate_limited", until }] },
      { id: "a#1", state: "key_refused", until, models: [] },
    ];
    expect(countUsable({ keys })).toBe(1);
  });
});
