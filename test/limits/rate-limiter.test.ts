import { describe, expect, test } from "bun:test";
import { MemoryRateLimiter } from "../../src/core/limits/memory-rate-limiter.ts";
import { LEASE_MS, requestOf, testRateLimiter, withLimits } from "./contracts/rate-limiter.ts";

const START = 1_700_000_000_000;

describe("the rate limiter in memory", () =>
  testRateLimiter(() => new MemoryRateLimiter({ leaseMs: LEASE_MS })));

describe("a rate limiter in memory with too many keys", () => {
  test("evicts the key that was idle longest, and none with concurrent requests", async () => {
    const limits = withLimits(new MemoryRateLimiter({ leaseMs: LEASE_MS, maxScopes: 3 }), {
      key: { requestsPerMinute: 1, concurrent: 9 },
    });
    const by = (key: string) => requestOf({ scopes: { key, account: null, gateway: null } });
    const running = by("busy");
    await limits.admit(running, START);
    for (let i = 0; i < 50; i++) {
      const quick = by(`k${i}`);
      await limits.admit(quick, START);
      limits.settle(quick.id, 0);
    }
    expect((await limits.admit(by("busy"), START)).kind).toBe("rejected");
    expect((await limits.admit(by("k49"), START)).kind).toBe("rejected");
    expect((await limits.admit(by("k0"), START)).kind).toBe("admitted");
  });
});
