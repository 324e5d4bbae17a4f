import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LiveGateways } from "../../src/core/gateways/gateway-registry.ts";
import { shareOf } from "../../src/core/limits/limit-share.ts";
import { MemoryRateLimiter } from "../../src/core/limits/memory-rate-limiter.ts";
import { type LimitScope, NO_LIMIT } from "../../src/core/limits/rate-limiter.ts";
import { LEASE_MS } from "./contracts/rate-limiter.ts";

const START = 1_700_000_000_000;
const scopeOf = (limit: Partial<LimitScope["limit"]>, id = "key_a"): LimitScope => ({
  source: "key",
  id,
  limit: { ...NO_LIMIT, ...limit },
});

/** The shares of all gateways, in the order of their ranks. */
const sharesOf = (scope: LimitScope, count: number): LimitScope[] =>
  Array.from({ length: count }, (_, rank) => shareOf(scope, { count, rank }));

describe("the share of a limit", () => {
  test("the shares of all gateways add up to exactly the limit, whatever the limit and the number of gateways", () => {
    const limits = fc.record({
      requestsPerMinute: fc.nat(1_000),
      tokensPerMinute: fc.nat(200_000),
      concurrent: fc.nat(20),
      requestsPerHour: fc.nat(300),
    });
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 30 }), fc.string(), (limit, count, id) => {
        const { requestsPerHour, ...rest } = limit;
        const shares = sharesOf({ source: "account", id, limit: rest, requestsPerHour }, count);
        const sumOf = (read: (share: LimitScope) => number | null | undefined) =>
          shares.reduce((sum, share) => sum + (read(share) ?? Number.NaN), 0);
        expect(sumOf((share) => share.limit.requestsPerMinute)).toBe(rest.requestsPerMinute);
        expect(sumOf((share) => share.limit.tokensPerMinute)).toBe(rest.tokensPerMinute);
        expect(sumOf((share) => share.limit.concurrent)).toBe(rest.concurrent);
        expect(sumOf((share) => share.requestsPerHour)).toBe(requestsPerHour);
      }),
    );
  });

  test("what cannot be divided goes to different gateways for different keys", () => {
    const gatewaysOf = Array.from({ length: 60 }, (_, i) =>
      sharesOf(scopeOf({ concurrent: 1 }, `key_${i}`), 3).findIndex(({ limit }) => limit.concurrent === 1),
    );
    expect(new Set(gatewaysOf)).toEqual(new Set([0, 1, 2]));
  });

  test("tokens are divided among fewer gateways if most prompts would not fit in a share", () => {
    const tokens = (limit: number) =>
      sharesOf(scopeOf({ tokensPerMinute: limit }), 3).map(({ limit: share }) => share.tokensPerMinute);
    expect(tokens(9_000).sort()).toEqual([0, 0, 9_000]);
    expect(tokens(25_000).sort()).toEqual([0, 12_500, 12_500]);
    expect(tokens(90_000)).toEqual([30_000, 30_000, 30_000]);
  });

  test("a limit that is not set stays unlimited, and a gateway that others have not counted has no share", () => {
    expect(shareOf(scopeOf({ concurrent: 5 }), { count: 2, rank: 0 }).limit).toMatchObject({
      requestsPerMinute: null,
      tokensPerMinute: null,
    });
    expect(shareOf(scopeOf({ concurrent: 5 }), null).limit).toEqual({ ...NO_LIMIT, concurrent: 0 });
  });
});

describe("a rate limiter that admits a share", () => {
  const limiterOf = (live: LiveGateways | null) =>
    new MemoryRateLimiter({ leaseMs: LEASE_MS, shareOf: (scope) => shareOf(scope, live) });
  const requestOf = (id: string, scopes: readonly LimitScope[], promptTokens = 1) => ({
    id,
    scopes,
    promptTokens,
    completionTokens: 0,
  });

  test("several of them admit together exactly the limit, and report the limit as it is configured", async () => {
    const scope = scopeOf({ requestsPerMinute: 10 });
    const limiters = [0, 1, 2].map((rank) => limiterOf({ count: 3, rank }));
    let admitted = 0;
    for (let turn = 0; turn < 30; turn++) {
      const limiter = limiters[turn % 3] as MemoryRateLimiter;
      const decision = await limiter.admit(requestOf(`gen_${turn}`, [scope]), START);
      if (decision.kind === "admitted") admitted += 1;
      else expect(decision.rejection).toMatchObject({ kind: "requests_per_minute", limit: 10 });
      expect(decision.limitStatus.requests?.limit).toBe(10);
    }
    expect(admitted).toBe(10);
  });

  test("a prompt that exceeds the share but not the limit is rejected without calling it too large", async () => {
    const scopes = [scopeOf({ tokensPerMinute: 60_000 })];
    const decision = await limiterOf({ count: 3, rank: 0 }).admit(requestOf("gen_a", scopes, 30_000), START);
    expect(decision).toMatchObject({ rejection: { limit: 60_000, isTooLarge: false } });
    const larger = await limiterOf({ count: 3, rank: 0 }).admit(requestOf("gen_b", scopes, 70_000), START);
    expect(larger).toMatchObject({ rejection: { isTooLarge: true } });
  });

  test("the status names the whole limit, and what is left of the share: of requests, of tokens and of an hour", async () => {
    const limiter = limiterOf({ count: 2, rank: 0 });
    const perMinute = scopeOf({ requestsPerMinute: 10, tokensPerMinute: 60_000 });
    const { limitStatus } = await limiter.admit(requestOf("gen_a", [perMinute], 1_000), START);
    expect(limitStatus).toMatchObject({
      requests: { limit: 10, remaining: 4 },
      tokens: { limit: 60_000, remaining: 29_000 },
    });
    const perHour: LimitScope = { source: "anonymous", id: "a", limit: NO_LIMIT, requestsPerHour: 200 };
    const counted = await limiter.count([perHour], START);
    expect(counted.limitStatus).toMatchObject({ requests: { limit: 200, remaining: 99 }, tokens: null });
  });

  test("without a share a request is rejected as beyond the limit, not as forbidden", async () => {
    const scope: LimitScope = { source: "anonymous", id: "address", limit: NO_LIMIT, requestsPerHour: 200 };
    expect(await limiterOf(null).count([scope], START)).toMatchObject({ rejection: { limit: 200 } });
  });
});
