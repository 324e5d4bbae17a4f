import { describe, expect, test } from "bun:test";
import { LearningRateLimiter } from "../../src/core/limits/learning-rate-limiter.ts";
import { MemoryRateLimiter } from "../../src/core/limits/memory-rate-limiter.ts";
import { type LimitRequest, type LimitScope, NO_LIMIT } from "../../src/core/limits/rate-limiter.ts";

const START = 1_700_000_000_000;
const LIMIT = 1_000_000;
const PROMPT = 100;
/** What is expected of a caller that is not known. */
const UNKNOWN = 1_600;

const scopeOf = (id: string): LimitScope => ({
  source: "key",
  id,
  limit: { ...NO_LIMIT, tokensPerMinute: LIMIT },
});

/** A limiter of one key with a limit of tokens. Each call is a minute after the one before, so that nothing else is reserved. */
function createLimiter() {
  const limiter = new LearningRateLimiter(new MemoryRateLimiter({ leaseMs: 60_000 }));
  let calls = 0;
  /** Admits a request without a bound and returns what it reserves for its answer. */
  async function reserve(key = "key_a", more: Partial<LimitRequest> = {}): Promise<[id: string, number]> {
    calls += 1;
    const id = `gen_${calls}`;
    const expected = { promptTokens: PROMPT, completionTokens: UNKNOWN, expectedTokens: UNKNOWN };
    const request = { id, scopes: [scopeOf(key)], ...expected, isBounded: false, ...more };
    const decision = await limiter.admit(request, START + calls * 120_000);
    if (decision.kind === "rejected") throw new Error("rejected");
    const remaining = decision.limitStatus.tokens?.remaining ?? Number.NaN;
    return [id, LIMIT - remaining - PROMPT];
  }
  /** Serves a request without a bound. Its answer has `tokens` tokens. Returns what was reserved for it. */
  async function use(tokens: number, key?: string): Promise<number> {
    const [id, reserved] = await reserve(key);
    limiter.settle(id, PROMPT + tokens);
    return reserved;
  }
  return { limiter, reserve, use };
}

describe("what a request without a bound reserves for its answer", () => {
  test("is what is expected of any caller, until one answer of its key is known", async () => {
    const { use } = createLimiter();
    expect(await use(500)).toBe(UNKNOWN);
    expect(await use(5_000, "key_b")).toBe(UNKNOWN);
    // The deviation of one answer is taken as half of it.
    expect(await use(500)).toBe(2 * 500);
  });

  test("is a moving mean, of which the last answer is an eighth, and twice a moving mean deviation, of which it is a quarter", async () => {
    const { use } = createLimiter();
    for (const tokens of [800, 1_600, 400, 1_000, 1_000]) await use(tokens);
    let [mean, deviation] = [800, 400];
    for (const tokens of [1_600, 400, 1_000, 1_000]) {
      deviation += (Math.abs(tokens - mean) - deviation) / 4;
      mean += (tokens - mean) / 8;
    }
    expect(await use(0)).toBe(Math.ceil(mean + 2 * deviation));
  });

  test("is never less than a sixteenth of what is expected of any caller", async () => {
    const { use } = createLimiter();
    for (let call = 0; call < 60; call++) await use(1);
    expect(await use(1)).toBe(UNKNOWN / 16);
  });

  test("does not change with a request that failed or was cancelled", async () => {
    const { limiter, reserve, use } = createLimiter();
    await use(800);
    const before = (await reserve())[1];
    const [failed] = await reserve();
    limiter.settle(failed, 0);
    const [cancelled] = await reserve();
    limiter.cancel(cancelled);
    limiter.settle(cancelled, 50_000);
    expect((await reserve())[1]).toBe(before);
  });
});

test("a request with a bound that fits the limit reserves the bound, whatever its key has used", async () => {
  const { reserve, use } = createLimiter();
  await use(20);
  const bound = { completionTokens: 30_000, expectedTokens: UNKNOWN, isBounded: true };
  expect((await reserve("key_a", bound))[1]).toBe(30_000);
});

test("a request with a bound beyond the limit reserves what its key has used lately", async () => {
  const { reserve, use } = createLimiter();
  for (let call = 0; call < 60; call++) await use(400);
  const bound = { completionTokens: 2 * LIMIT, expectedTokens: UNKNOWN, isBounded: true };
  // What is left of the deviation is rounded up.
  expect((await reserve("key_a", bound))[1]).toBe(401);
});
