import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RateLimit } from "../../../src/core/accounts/fields/rate-limit.ts";
import type { MemoryRateLimiter } from "../../../src/core/limits/memory-rate-limiter.ts";
import {
  type LimitRequest,
  type LimitScope,
  NO_LIMIT,
  type RateLimiter,
} from "../../../src/core/limits/rate-limiter.ts";

const START = 1_700_000_000_000;
/** The lease that `createLimiter` must give to generations. */
export const LEASE_MS = 1_000_000;

type KeyedSource = "key" | "account" | "gateway";
type Ids = Readonly<Record<KeyedSource, string | null>>;
type Limits = Partial<Record<KeyedSource, Partial<RateLimit>>>;
interface TestRequest extends Omit<LimitRequest, "scopes"> {
  readonly scopes: Ids;
}

/** A limiter with the same limits for every key, account and model, which a test can change. */
export function withLimits(limiter: RateLimiter | MemoryRateLimiter, first: Limits) {
  let limits = first;
  const scopesOf = (ids: Ids): LimitScope[] =>
    (["key", "account", "gateway"] as const).flatMap((source) => {
      const [id, limit] = [ids[source], limits[source]];
      return id === null || limit === undefined ? [] : [{ source, id, limit: { ...NO_LIMIT, ...limit } }];
    });
  return {
    admit: (asked: TestRequest, now: number) =>
      limiter.admit({ ...asked, scopes: scopesOf(asked.scopes) }, now),
    count: (ids: Ids, now: number) => limiter.count(scopesOf(ids), now),
    peek: (ids: Ids, now: number) => limiter.peek(scopesOf(ids), now),
    settle: (id: string, tokens: number) => limiter.settle(id, tokens),
    cancel: (id: string) => limiter.cancel(id),
    get running() {
      return limiter.running;
    },
    set(changed: Limits) {
      limits = changed;
    },
  };
}

let made = 0;
export function requestOf(more: Partial<TestRequest> = {}): TestRequest {
  made += 1;
  return {
    id: `gen_${made}`,
    scopes: { key: "key_a", account: "user_a", gateway: "acme/model" },
    promptTokens: 10,
    completionTokens: 20,
    ...more,
  };
}

/** The contract of a `RateLimiter`. `createLimiter` returns one that has counted nothing, with leases of `LEASE_MS`. */
export function testRateLimiter(createLimiter: () => RateLimiter | MemoryRateLimiter): void {
  const limitsOf = (limits: Limits) => withLimits(createLimiter(), limits);

  describe("requests a minute", () => {
    test("a request beyond the requests a minute is rejected with the time to wait, and admitted after it", async () => {
      const limits = limitsOf({ key: { requestsPerMinute: 2 } });
      expect(await limits.admit(requestOf(), START)).toMatchObject({
        kind: "admitted",
        limitStatus: { requests: { limit: 2, remaining: 1, resetMs: 60_000 }, tokens: null },
      });
      expect((await limits.admit(requestOf(), START + 20_000)).kind).toBe("admitted");
      expect(await limits.admit(requestOf(), START + 30_000)).toMatchObject({
        kind: "rejected",
        rejection: { source: "key", kind: "requests_per_minute", limit: 2, retryAfterMs: 30_000 },
        limitStatus: { requests: { remaining: 0, resetMs: 50_000 } },
      });
      expect((await limits.admit(requestOf(), START + 60_000)).kind).toBe("admitted");
      expect((await limits.admit(requestOf(), START + 60_000)).kind).toBe("rejected");
    });

    test("requests are counted separately for each key, account and model", async () => {
      const limits = limitsOf({
        key: { requestsPerMinute: 1 },
        account: { requestsPerMinute: 2 },
        gateway: { requestsPerMinute: 3 },
      });
      const ask = async (key: string, account: string, gateway: string) => {
        const answer = await limits.admit(requestOf({ scopes: { key, account, gateway } }), START);
        return answer.kind === "admitted" ? "in" : answer.rejection.source;
      };
      expect(await ask("k1", "a", "m")).toBe("in");
      expect(await ask("k1", "a", "m")).toBe("key");
      expect(await ask("k2", "a", "m")).toBe("in");
      expect(await ask("k3", "a", "m")).toBe("account");
      expect(await ask("k4", "b", "m")).toBe("in");
      expect(await ask("k5", "c", "m")).toBe("gateway");
      expect(await ask("k5", "c", "other")).toBe("in");
    });
  });

  describe("tokens a minute", () => {
    test("tokens are reserved by estimate when a request is admitted and corrected when it ends", async () => {
      const limits = limitsOf({ key: { tokensPerMinute: 100 } });
      const first = requestOf({ promptTokens: 30, completionTokens: 60 });
      expect(await limits.admit(first, START)).toMatchObject({
        limitStatus: { tokens: { limit: 100, remaining: 10 } },
      });
      expect(await limits.admit(requestOf(), START)).toMatchObject({
        rejection: { kind: "tokens_per_minute", limit: 100, retryAfterMs: 60_000, isTooLarge: false },
      });
      limits.settle(first.id, 35);
      expect((await limits.peek(first.scopes, START)).tokens?.remaining).toBe(65);
      expect((await limits.admit(requestOf(), START)).kind).toBe("admitted");
    });

    test("a bound that fits the limit is reserved whole, or the request is rejected until there is room for it", async () => {
      const limits = limitsOf({ key: { tokensPerMinute: 100 } });
      const first = requestOf({ promptTokens: 10, completionTokens: 50 });
      await limits.admit(first, START);
      for (const completionTokens of [31, 90])
        expect(await limits.admit(requestOf({ completionTokens }), START + 1_000)).toMatchObject({
          rejection: { kind: "tokens_per_minute", retryAfterMs: 59_000, isTooLarge: false },
        });
      expect((await limits.admit(requestOf({ completionTokens: 30 }), START + 1_000)).kind).toBe("admitted");
      expect((await limits.peek(first.scopes, START + 1_000)).tokens?.remaining).toBe(0);
    });

    test("a bound beyond the limit reserves what is expected, and all of the limit if that is beyond it too", async () => {
      const limits = limitsOf({ key: { tokensPerMinute: 100 } });
      const bold = requestOf({ promptTokens: 30, completionTokens: 1_000_000, expectedTokens: 20 });
      expect(await limits.admit(bold, START)).toMatchObject({
        kind: "admitted",
        limitStatus: { tokens: { remaining: 50 } },
      });
      const bolder = requestOf({ promptTokens: 30, completionTokens: 1_000_000 });
      expect((await limits.admit(bolder, START)).kind).toBe("rejected");
      limits.settle(bold.id, 0);
      expect(await limits.admit(bolder, START)).toMatchObject({
        kind: "admitted",
        limitStatus: { tokens: { remaining: 0 } },
      });
      limits.settle(bolder.id, 130);
      expect((await limits.peek(bolder.scopes, START)).tokens?.remaining).toBe(0);
      expect(await limits.admit(requestOf({ promptTokens: 101 }), START + 60_000)).toMatchObject({
        rejection: { isTooLarge: true, retryAfterMs: 60_000 },
      });
    });

    test("requests that are asked for at once never reserve more than the limit", async () => {
      const limits = limitsOf({ key: { tokensPerMinute: 1_000 }, gateway: { tokensPerMinute: 700 } });
      for (const requests of [40, 400]) {
        const at = START + requests * 1_000;
        const asked = Array.from({ length: requests }, () => requestOf({ completionTokens: 90 }));
        const answers = await Promise.all(asked.map((one) => limits.admit(one, at)));
        expect(answers.filter(({ kind }) => kind === "admitted")).toHaveLength(7);
        for (const { id } of asked) limits.settle(id, 100);
        expect((await limits.peek(requestOf().scopes, at)).tokens).toMatchObject({
          limit: 700,
          remaining: 0,
        });
      }
    });
  });

  describe("requests at once", () => {
    test("a request beyond the concurrent limit is rejected until another generation has ended", async () => {
      const limits = limitsOf({ account: { concurrent: 2 } });
      const [a, b] = [requestOf(), requestOf()];
      await limits.admit(a, START);
      await limits.admit(b, START);
      expect(await limits.admit(requestOf(), START)).toMatchObject({
        rejection: { source: "account", kind: "concurrent", limit: 2, retryAfterMs: 1_000 },
      });
      limits.settle(a.id, 0);
      limits.settle(a.id, 0);
      expect((await limits.admit(requestOf(), START)).kind).toBe("admitted");
      expect((await limits.admit(requestOf(), START)).kind).toBe("rejected");
    });

    test("a generation that is never settled stops counting as concurrent after its lease, and only once", async () => {
      const limits = limitsOf({ key: { concurrent: 1 } });
      const lost = requestOf();
      await limits.admit(lost, START);
      expect((await limits.admit(requestOf(), START + LEASE_MS - 1)).kind).toBe("rejected");
      const next = requestOf();
      expect((await limits.admit(next, START + LEASE_MS)).kind).toBe("admitted");
      limits.settle(lost.id, 5);
      expect((await limits.admit(requestOf(), START + LEASE_MS)).kind).toBe("rejected");
      expect(limits.running).toBe(1);
    });
  });

  describe("a request", () => {
    test("a request that one limit rejects is counted for none of its scopes", async () => {
      const limits = limitsOf({
        key: { requestsPerMinute: 10, tokensPerMinute: 1_000, concurrent: 10 },
        account: { requestsPerMinute: 10 },
        gateway: { concurrent: 1 },
      });
      await limits.admit(requestOf(), START);
      const { scopes } = requestOf();
      const before = await limits.peek(scopes, START);
      for (let i = 0; i < 20; i++) expect((await limits.admit(requestOf(), START)).kind).toBe("rejected");
      expect(await limits.peek(scopes, START)).toEqual(before);
      expect(limits.running).toBe(1);
    });

    test("a cancelled request is taken back from every limit", async () => {
      const limits = limitsOf({ key: { requestsPerMinute: 1, tokensPerMinute: 100, concurrent: 1 } });
      const gone = requestOf();
      await limits.admit(gone, START);
      limits.cancel(gone.id);
      expect(await limits.admit(requestOf(), START)).toMatchObject({
        kind: "admitted",
        limitStatus: { requests: { remaining: 0 }, tokens: { remaining: 70 } },
      });
    });

    test("no minute exceeds its limits, and no moment the concurrent limit, in any order of requests", async () => {
      const step = fc.record({
        pauseMs: fc.nat(15_000),
        key: fc.constantFrom("k1", "k2"),
        tokens: fc.integer({ min: 1, max: 40 }),
        ends: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
          const limits = limitsOf({
            key: { requestsPerMinute: 5, concurrent: 3 },
            account: { tokensPerMinute: 120 },
          });
          const counted: { at: number; key: string; tokens: number }[] = [];
          const open: { id: string; key: string; tokens: number }[] = [];
          let now = START;
          for (const { pauseMs, key, tokens, ends } of steps) {
            now += pauseMs;
            const asked = requestOf({
              scopes: { key, account: "a", gateway: null },
              promptTokens: tokens,
              completionTokens: 0,
            });
            if ((await limits.admit(asked, now)).kind === "admitted") {
              counted.push({ at: now, key, tokens });
              open.push({ id: asked.id, key, tokens });
            }
            const inMinute = counted.filter(({ at }) => at > now - 60_000);
            expect(inMinute.filter((entry) => entry.key === key).length).toBeLessThanOrEqual(5);
            expect(inMinute.reduce((sum, entry) => sum + entry.tokens, 0)).toBeLessThanOrEqual(120);
            expect(open.filter((entry) => entry.key === key).length).toBeLessThanOrEqual(3);
            const ended = ends ? open.shift() : undefined;
            if (ended !== undefined) limits.settle(ended.id, ended.tokens);
          }
        }),
      );
    });
  });

  describe("a request without tokens", () => {
    test("a request without tokens counts for the requests a minute only and is not concurrent", async () => {
      const limits = limitsOf({ key: { requestsPerMinute: 3, tokensPerMinute: 30, concurrent: 1 } });
      const running = requestOf();
      const { scopes } = running;
      await limits.admit(running, START);
      for (const remaining of [1, 0]) {
        expect(await limits.count(scopes, START)).toMatchObject({
          kind: "admitted",
          limitStatus: { requests: { remaining }, tokens: { remaining: 0 } },
        });
      }
      expect(await limits.count(scopes, START)).toMatchObject({
        rejection: { kind: "requests_per_minute", retryAfterMs: 60_000 },
      });
      expect(limits.running).toBe(1);
    });
  });

  describe("a limit that changes", () => {
    test("a changed limit applies to what was counted before, and a new limit counts from then on", async () => {
      const limits = limitsOf({ key: { requestsPerMinute: 5 } });
      const { scopes } = requestOf();
      for (let i = 0; i < 4; i++) await limits.admit(requestOf(), START);
      limits.set({ key: { requestsPerMinute: 2 } });
      expect((await limits.peek(scopes, START)).requests).toMatchObject({ limit: 2, remaining: 0 });
      expect((await limits.admit(requestOf(), START)).kind).toBe("rejected");
      limits.set({ key: { requestsPerMinute: 9, tokensPerMinute: 100 } });
      expect(await limits.admit(requestOf(), START)).toMatchObject({
        limitStatus: { requests: { remaining: 4 }, tokens: { remaining: 70 } },
      });
    });

    test("concurrent requests are counted correctly while the limit is removed and set again", async () => {
      const limits = limitsOf({ key: { concurrent: 2 } });
      const [before, meanwhile] = [requestOf(), requestOf()];
      await limits.admit(before, START);
      limits.set({});
      await limits.admit(meanwhile, START);
      limits.set({ key: { concurrent: 2 } });
      const after = requestOf();
      expect((await limits.admit(after, START)).kind).toBe("admitted");
      expect((await limits.admit(requestOf(), START)).kind).toBe("rejected");
      for (const { id } of [before, meanwhile, after]) limits.settle(id, 1);
      expect((await limits.admit(requestOf(), START)).kind).toBe("admitted");
      expect((await limits.admit(requestOf(), START)).kind).toBe("admitted");
      expect((await limits.admit(requestOf(), START)).kind).toBe("rejected");
    });
  });

  describe("requests an hour", () => {
    const HOUR_MS = 3_600_000;
    const scopeOf = (requestsPerHour: number, id = "address"): LimitScope => ({
      source: "anonymous",
      id,
      limit: NO_LIMIT,
      requestsPerHour,
    });

    test("a request beyond the requests an hour is rejected until the first of them is an hour old", async () => {
      const limiter = createLimiter();
      const admit = async (id: string, now: number) =>
        (await limiter.admit({ id, scopes: [scopeOf(2)], promptTokens: 1, completionTokens: 1 }, now)).kind;
      expect(await admit("gen_a", START)).toBe("admitted");
      expect(await admit("gen_b", START + 60_000)).toBe("admitted");
      expect(await limiter.count([scopeOf(2)], START + 120_000)).toEqual({
        kind: "rejected",
        rejection: {
          source: "anonymous",
          kind: "requests_per_hour",
          limit: 2,
          retryAfterMs: HOUR_MS - 120_000,
          isTooLarge: false,
        },
        limitStatus: {
          requests: {
            allowed: false,
            limit: 2,
            remaining: 0,
            resetMs: HOUR_MS - 60_000,
            retryAfterMs: HOUR_MS - 120_000,
          },
          tokens: null,
        },
      });
      expect(await admit("gen_c", START + HOUR_MS)).toBe("admitted");
      expect(await admit("gen_d", START + HOUR_MS)).toBe("rejected");
    });

    test("a limit of 0 requests an hour rejects the first request", async () => {
      const limiter = createLimiter();
      expect(await limiter.count([scopeOf(0)], START)).toMatchObject({ rejection: { limit: 0 } });
      expect((await limiter.peek([scopeOf(0)], START)).requests?.allowed).toBe(false);
    });

    test("restored requests count like those of the present", async () => {
      const limiter = createLimiter();
      for (const at of [START, START + 1_000]) limiter.restore(scopeOf(2), at);
      expect((await limiter.count([scopeOf(2)], START + 2_000)).kind).toBe("rejected");
      expect((await limiter.count([scopeOf(2, "other")], START + 2_000)).kind).toBe("admitted");
      expect((await limiter.count([scopeOf(2)], START + HOUR_MS)).kind).toBe("admitted");
    });

    test("a model's limit and an address's limit are both counted for one request", async () => {
      const limiter = createLimiter();
      const model: LimitScope = {
        source: "gateway",
        id: "acme/model",
        limit: { ...NO_LIMIT, requestsPerMinute: 1 },
      };
      const scopes = [scopeOf(5), model];
      const first = await limiter.count(scopes, START);
      expect(first.limitStatus.requests).toMatchObject({ limit: 1, remaining: 0 });
      expect(await limiter.count(scopes, START)).toMatchObject({ rejection: { source: "gateway" } });
      expect((await limiter.peek([scopeOf(5)], START)).requests?.remaining).toBe(4);
    });
  });
}
