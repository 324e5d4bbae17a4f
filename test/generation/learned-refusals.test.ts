import { describe, expect, test } from "bun:test";
import {
  createLearnedRefusals,
  type LearnedRefusals,
  type RefusalScope,
} from "../../src/core/generation/memory/learned-refusals.ts";

const SEED = new Set(["seed"]);

function scopeOf(model: string, byokId: string | null = null): RefusalScope {
  return { provider: "host", model, upstreamModel: "up", format: "openai-chat", byokId };
}

function see(refusals: LearnedRefusals, scope: RefusalScope, ...accounts: readonly string[]): void {
  for (const accountId of accounts) refusals.record({ scope, parameters: SEED, accountId, at: 0 });
}

describe("the memory of refused parameters", () => {
  test("is bounded, and keeps the newest endpoints", () => {
    const refusals = createLearnedRefusals();
    for (let at = 0; at < 3_000; at++) see(refusals, scopeOf(`acme/${at}`), "ada", "bob");
    expect(refusals.list(1)).toHaveLength(2_000);
    expect(refusals.recall(scopeOf("acme/2999"), 1)).toEqual(SEED);
    expect(refusals.recall(scopeOf("acme/0"), 1)).toBeNull();
  });

  test("does not give up what platform keys learned for what BYOK keys learn", () => {
    const refusals = createLearnedRefusals();
    see(refusals, scopeOf("acme/platform"), "ada", "bob");
    for (let at = 0; at < 3_000; at++) see(refusals, scopeOf("acme/model", `key_${at}`), "eve");
    expect(refusals.recall(scopeOf("acme/platform"), 1)).toEqual(SEED);
    expect(refusals.list(1)).toHaveLength(2_001);
  });

  test("returns one set while nothing changes, by which requests are prepared once", () => {
    const refusals = createLearnedRefusals();
    see(refusals, scopeOf("acme/model"), "ada", "bob");
    const known = refusals.recall(scopeOf("acme/model"), 1);
    see(refusals, scopeOf("acme/other"), "ada", "bob");
    expect(refusals.recall(scopeOf("acme/model"), 2)).toBe(known as ReadonlySet<string>);
  });

  test("is empty again when everything in it has expired", () => {
    const refusals = createLearnedRefusals();
    see(refusals, scopeOf("acme/model"), "ada", "bob");
    expect(refusals.isEmpty).toBe(false);
    expect(refusals.recall(scopeOf("acme/model"), 3_600_000)).toBeNull();
    expect(refusals.isEmpty).toBe(true);
  });

  test("does not add the account of an expired sighting to a newer one", () => {
    const refusals = createLearnedRefusals();
    const scope = scopeOf("acme/model");
    refusals.record({ scope, parameters: SEED, accountId: "ada", at: 0 });
    refusals.record({ scope, parameters: SEED, accountId: "bob", at: 3_600_000 });
    expect(refusals.list(3_600_001)).toMatchObject([{ isApplied: false, since: 3_600_000 }]);
    expect(refusals.recall(scope, 3_600_001)).toBeNull();
  });
});
