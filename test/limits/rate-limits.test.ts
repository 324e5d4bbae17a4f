import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RateLimit } from "../../src/core/accounts/rate-limit.ts";
import {
  createRateLimits,
  type LimitAnswer,
  type LimitRequest,
  type LimitSource,
} from "../../src/core/limits/rate-limits.ts";

const NONE: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrent: null };
const START = 1_700_000_000_000;
const LEASE_MS = 1_000_000;

type Ids = Readonly<Record<LimitSource, string | null>>;
type Limits = Partial<Record<LimitSource, Partial<RateLimit>>>;
interface Wish extends Omit<LimitRequest, "scopes"> {
  readonly scopes: Ids;
}

/** Rate limits with the same for every key, account and model, as long as nobody sets others. */
function limitsOf(first: Limits, maxMeters?: number) {
  let limits = first;
  const counting = createRateLimits({
    leaseMs: LEASE_MS,
    ...(maxMeters === undefined ? {} : { maxMeters }),
  });
  const subjectsOf = (ids: Ids) =>
    (["key", "account", "gateway"] as const).flatMap((source) => {
      const [id, limit] = [ids[source], limits[source]];
      return id === null || limit === undefined ? [] : [{ source, id, limit: { ...NONE, ...limit } }];
    });
  return {
    ...counting,
    admit: (asked: Wish, now: number): LimitAnswer =>
      counting.admit({ ...asked, scopes: subjectsOf(asked.scopes) }, now),
    countRequest: (ids: Ids, now: number) => counting.countRequest(subjectsOf(ids), now),
    peek: (ids: Ids, now: number) => counting.peek(subjectsOf(ids), now),
    get running() {
      return counting.running;
    },
    set(changed: Limits) {
      limits = changed;
    },
  };
}

let made = 0;
function wish(more: Partial<Wish> = {}): Wish {
  made += 1;
  return {
    id: `gen_${made}`,
    scopes: { key: "key_a", account: "user_a", gateway: "acme/model" },
    promptTokens: 10,
    completionTokens: 20,
    ...more,
  };
}

describe("requests a minute", () => {
  test("are refused beyond the limit, with how long to wait, and let in again after that", () => {
    const limits = limitsOf({ key: { requestsPerMinute: 2 } });
    expect(limits.admit(wish(), START)).toMatchObject({
      kind: "counted",
      limitStatus: { requests: { limit: 2, remaining: 1, resetMs: 60_000 }, tokens: null },
    });
    expect(limits.admit(wish(), START + 20_000).kind).toBe("counted");
    expect(limits.admit(wish(), START + 30_000)).toMatchObject({
      kind: "refused",
      refusal: { source: "key", kind: "requests_per_minute", limit: 2, retryAfterMs: 30_000 },
      limitStatus: { requests: { remaining: 0, resetMs: 50_000 } },
    });
    expect(limits.admit(wish(), START + 60_000).kind).toBe("counted");
    expect(limits.admit(wish(), START + 60_000).kind).toBe("refused");
  });

  test("count for the key, the account and the model, each by itself", () => {
    const limits = limitsOf({
      key: { requestsPerMinute: 1 },
      account: { requestsPerMinute: 2 },
      gateway: { requestsPerMinute: 3 },
    });
    const ask = (key: string, account: string, gateway: string) => {
      const answer = limits.admit(wish({ scopes: { key, account, gateway } }), START);
      return answer.kind === "counted" ? "in" : answer.refusal.source;
    };
    expect(ask("k1", "a", "m")).toBe("in");
    expect(ask("k1", "a", "m")).toBe("key");
    expect(ask("k2", "a", "m")).toBe("in");
    expect(ask("k3", "a", "m")).toBe("account");
    expect(ask("k4", "b", "m")).toBe("in");
    expect(ask("k5", "c", "m")).toBe("gateway");
    expect(ask("k5", "c", "other")).toBe("in");
  });
});

describe("tokens a minute", () => {
  test("are estimated when the request comes and set right when it ends", () => {
    const limits = limitsOf({ key: { tokensPerMinute: 100 } });
    const first = wish({ promptTokens: 30, completionTokens: 60 });
    expect(limits.admit(first, START)).toMatchObject({
      limitStatus: { tokens: { limit: 100, remaining: 10 } },
    });
    expect(limits.admit(wish(), START)).toMatchObject({
      refusal: { kind: "tokens_per_minute", limit: 100, retryAfterMs: 60_000, isTooLarge: false },
    });
    limits.settle(first.id, 35);
    expect(limits.peek(first.scopes, START).tokens?.remaining).toBe(65);
    expect(limits.admit(wish(), START).kind).toBe("counted");
  });

  test("an answer's bound that does not fit takes half of what is left, as most answers are far shorter", () => {
    const limits = limitsOf({ key: { tokensPerMinute: 100 } });
    const bold = wish({ promptTokens: 30, completionTokens: 1_000_000 });
    expect(limits.admit(bold, START)).toMatchObject({
      kind: "counted",
      limitStatus: { tokens: { remaining: 50 } },
    });
    limits.settle(bold.id, 130);
    expect(limits.peek(bold.scopes, START).tokens?.remaining).toBe(0);
    expect(limits.admit(wish({ promptTokens: 101 }), START + 60_000)).toMatchObject({
      refusal: { isTooLarge: true, retryAfterMs: 60_000 },
    });
  });
});

describe("requests at once", () => {
  test("are as many as the limit says, and end with the generation", () => {
    const limits = limitsOf({ account: { concurrent: 2 } });
    const [a, b] = [wish(), wish()];
    limits.admit(a, START);
    limits.admit(b, START);
    expect(limits.admit(wish(), START)).toMatchObject({
      refusal: { source: "account", kind: "concurrent", limit: 2, retryAfterMs: 1_000 },
    });
    limits.settle(a.id, 0);
    limits.settle(a.id, 0);
    expect(limits.admit(wish(), START).kind).toBe("counted");
    expect(limits.admit(wish(), START).kind).toBe("refused");
  });

  test("end by time where nobody says that they have ended, and then only once", () => {
    const limits = limitsOf({ key: { concurrent: 1 } });
    const lost = wish();
    limits.admit(lost, START);
    expect(limits.admit(wish(), START + LEASE_MS - 1).kind).toBe("refused");
    const next = wish();
    expect(limits.admit(next, START + LEASE_MS).kind).toBe("counted");
    limits.settle(lost.id, 5);
    expect(limits.admit(wish(), START + LEASE_MS).kind).toBe("refused");
    expect(limits.running).toBe(1);
  });
});

describe("a request", () => {
  test("that one limit refuses is counted in none", () => {
    const limits = limitsOf({
      key: { requestsPerMinute: 10, tokensPerMinute: 1_000, concurrent: 10 },
      account: { requestsPerMinute: 10 },
      gateway: { concurrent: 1 },
    });
    limits.admit(wish(), START);
    const { scopes } = wish();
    const before = limits.peek(scopes, START);
    for (let i = 0; i < 20; i++) expect(limits.admit(wish(), START).kind).toBe("refused");
    expect(limits.peek(scopes, START)).toEqual(before);
    expect(limits.running).toBe(1);
  });

  test("that came to nothing is given back whole", () => {
    const limits = limitsOf({ key: { requestsPerMinute: 1, tokensPerMinute: 100, concurrent: 1 } });
    const gone = wish();
    limits.admit(gone, START);
    limits.giveBack(gone.id);
    expect(limits.admit(wish(), START)).toMatchObject({
      kind: "counted",
      limitStatus: { requests: { remaining: 0 }, tokens: { remaining: 70 } },
    });
  });

  test("never makes any minute hold more than the limit, nor more at once, whatever the order", () => {
    const step = fc.record({
      pauseMs: fc.nat(15_000),
      key: fc.constantFrom("k1", "k2"),
      tokens: fc.integer({ min: 1, max: 40 }),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const limits = limitsOf({
          key: { requestsPerMinute: 5, concurrent: 3 },
          account: { tokensPerMinute: 120 },
        });
        const counted: { at: number; key: string; tokens: number }[] = [];
        const open: { id: string; key: string; tokens: number }[] = [];
        let now = START;
        for (const { pauseMs, key, tokens, ends } of steps) {
          now += pauseMs;
          const asked = wish({
            scopes: { key, account: "a", gateway: null },
            promptTokens: tokens,
            completionTokens: 0,
          });
          if (limits.admit(asked, now).kind === "counted") {
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
  test("counts against requests a minute alone, and is over at once", () => {
    const limits = limitsOf({ key: { requestsPerMinute: 3, tokensPerMinute: 30, concurrent: 1 } });
    const running = wish();
    const { scopes } = running;
    limits.admit(running, START);
    for (const remaining of [1, 0]) {
      expect(limits.countRequest(scopes, START)).toMatchObject({
        kind: "counted",
        limitStatus: { requests: { remaining }, tokens: { remaining: 0 } },
      });
    }
    expect(limits.countRequest(scopes, START)).toMatchObject({
      refusal: { kind: "requests_per_minute", retryAfterMs: 60_000 },
    });
    expect(limits.running).toBe(1);
  });
});

describe("a limit that changes", () => {
  test("holds for what was counted before it, and one that comes counts from then on", () => {
    const limits = limitsOf({ key: { requestsPerMinute: 5 } });
    const { scopes } = wish();
    for (let i = 0; i < 4; i++) limits.admit(wish(), START);
    limits.set({ key: { requestsPerMinute: 2 } });
    expect(limits.peek(scopes, START).requests).toMatchObject({ limit: 2, remaining: 0 });
    expect(limits.admit(wish(), START).kind).toBe("refused");
    limits.set({ key: { requestsPerMinute: 9, tokensPerMinute: 100 } });
    expect(limits.admit(wish(), START)).toMatchObject({
      limitStatus: { requests: { remaining: 4 }, tokens: { remaining: 70 } },
    });
  });

  test("never loses count of requests at once", () => {
    const limits = limitsOf({ key: { concurrent: 2 } });
    const [before, meanwhile] = [wish(), wish()];
    limits.admit(before, START);
    limits.set({});
    limits.admit(meanwhile, START);
    limits.set({ key: { concurrent: 2 } });
    const after = wish();
    expect(limits.admit(after, START).kind).toBe("counted");
    expect(limits.admit(wish(), START).kind).toBe("refused");
    for (const { id } of [before, meanwhile, after]) limits.settle(id, 1);
    expect(limits.admit(wish(), START).kind).toBe("counted");
    expect(limits.admit(wish(), START).kind).toBe("counted");
    expect(limits.admit(wish(), START).kind).toBe("refused");
  });
});

describe("memory", () => {
  test("holds a bounded number of keys: the quietest is forgotten, none with requests under way", () => {
    const limits = limitsOf({ key: { requestsPerMinute: 1, concurrent: 9 } }, 3);
    const by = (key: string) => wish({ scopes: { key, account: null, gateway: null } });
    const running = by("busy");
    limits.admit(running, START);
    for (let i = 0; i < 50; i++) {
      const quick = by(`k${i}`);
      limits.admit(quick, START);
      limits.settle(quick.id, 0);
    }
    expect(limits.admit(by("busy"), START).kind).toBe("refused");
    expect(limits.admit(by("k49"), START).kind).toBe("refused");
    expect(limits.admit(by("k0"), START).kind).toBe("counted");
  });
});
