import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { type CacheAffinity, createAffinityMemory } from "../../src/core/routing/affinity/affinity.ts";
import type { Drain } from "../../src/core/routing/health/drain-store.ts";
import type { EndpointHealth } from "../../src/core/routing/health/health.ts";
import { type Plan, planRoute, type RouteQuestion } from "../../src/core/routing/plan/plan.ts";
import { readRoutingParameters } from "../../src/wire/conversation/preferences.ts";
import { makeDeployment } from "./make-deployment.ts";

const WELL: EndpointHealth = { state: "closed", success: 1, volume: 100, ttftMs: null, tokensPerS: null };

interface Asked {
  readonly provider?: unknown;
  readonly isFim?: boolean;
  readonly session?: string;
  readonly warm?: Partial<CacheAffinity>;
  readonly promptTokens?: number;
  /** Health by provider. */
  readonly health?: Readonly<Record<string, Partial<EndpointHealth>>>;
  readonly drains?: readonly Drain[];
  /** Labels of keys with a cooldown. */
  readonly waits?: readonly string[];
  /** Labels of keys whose endpoint is overloaded. */
  readonly overloaded?: readonly string[];
  /** Labels of keys that other gateways advise against. */
  readonly advised?: readonly string[];
}

const NOW = Date.UTC(2026, 10, 21);

function plan(deployments: readonly (readonly Deployment[])[], asked: Asked = {}): Plan {
  const question: RouteQuestion = {
    deployments: deployments,
    preferences: readRoutingParameters({ models: undefined, provider: asked.provider }).preferences,
    promptTokens: asked.promptTokens ?? 10_000,
    isFim: asked.isFim ?? false,
    formatOfTools: null,
    drains: { find: (provider) => asked.drains?.find((drain) => drain.provider === provider) ?? null },
    health: {
      endpoint: (provider) => ({ ...WELL, ...asked.health?.[provider] }),
      cooldown: ({ keyLabel }) =>
        asked.waits?.includes(keyLabel) === true
          ? { ms: 5_000, why: "rate_limited", mayIgnore: false }
          : asked.overloaded?.includes(keyLabel) === true
            ? { ms: 7_000, why: "overloaded", mayIgnore: true }
            : asked.advised?.includes(keyLabel) === true
              ? { ms: 3_000, why: "rate_limited", mayIgnore: true }
              : null,
    },
    warm:
      asked.warm === undefined
        ? null
        : {
            modelId: "a/m",
            keyLabel: `${asked.warm.provider}#0`,
            tokens: 9_000,
            until: NOW + 1,
            provider: "",
            ...asked.warm,
          },
    session: asked.session ?? "session",
    now: NOW,
  };
  return planRoute(question);
}

const candidatesOf = ({ candidates }: Plan) => candidates.map(({ key, why }) => `${key.label} ${why}`);
const skippedOf = ({ skipped }: Plan) =>
  skipped.map(({ deployment, key, why }) => `${key?.label ?? deployment.provider.record.slug} ${why}`);

const DEAR = makeDeployment("a/m", "dear", { price: 10, cached: 1 });
const MIDDLE = makeDeployment("a/m", "middle", { price: 3 });
const CHEAP = makeDeployment("a/m", "cheap", { price: 2 });
const DEPLOYMENTS = [[DEAR, MIDDLE, CHEAP]];

describe("a plan", () => {
  test.each<[string, Asked, string[], string[]?]>([
    ["has the cheapest deployment first", {}, ["cheap#0 price", "middle#0 price", "dear#0 price"]],
    [
      "has the providers of the request's order first",
      { provider: { order: ["dear"] } },
      ["dear#0 order", "cheap#0 price", "middle#0 price"],
    ],
    [
      "has only the providers of the request's order if fallbacks are not allowed",
      { provider: { order: ["middle"], allow_fallbacks: false } },
      ["middle#0 order"],
      ["dear no_fallbacks", "cheap no_fallbacks"],
    ],
    [
      "has only the first deployment if fallbacks are not allowed and no order is given",
      { provider: { allow_fallbacks: false } },
      ["cheap#0 price"],
      ["middle no_fallbacks", "dear no_fallbacks"],
    ],
    [
      "sorted by latency has the lowest latency first and unmeasured deployments last",
      { provider: { sort: "latency" }, health: { dear: { ttftMs: 100 }, middle: { ttftMs: 400 } } },
      ["dear#0 latency", "middle#0 latency", "cheap#0 latency"],
    ],
    [
      "sorted by throughput has the highest throughput first and unmeasured deployments last",
      {
        provider: { sort: { by: "throughput" } },
        health: { dear: { tokensPerS: 10 }, middle: { tokensPerS: 90 } },
      },
      ["middle#0 throughput", "dear#0 throughput", "cheap#0 throughput"],
    ],
    [
      "weighs failures against the price",
      { health: { cheap: { success: 0.7 } } },
      ["middle#0 price", "cheap#0 degraded", "dear#0 price"],
    ],
    [
      "has a deployment with failures first if its price is low enough",
      { health: { cheap: { success: 0.95 } } },
      ["cheap#0 degraded", "middle#0 price", "dear#0 price"],
    ],
    [
      "takes a deployment for healthy of whose attempts two in a hundred fail",
      { health: { cheap: { success: 0.98 }, middle: { success: 0.979 } } },
      ["cheap#0 price", "middle#0 degraded", "dear#0 price"],
    ],
    [
      "ignores failures if sorted by price",
      { provider: { sort: "price" }, health: { cheap: { success: 0.7 } } },
      ["cheap#0 price", "middle#0 price", "dear#0 price"],
    ],
    [
      "skips a drained deployment",
      { drains: [{ provider: "cheap", model: null, since: 0, until: null, note: null }] },
      ["middle#0 price", "dear#0 price"],
      ["cheap drained"],
    ],
    [
      "skips a deployment whose circuit is open",
      { health: { cheap: { state: "open", success: 0 } } },
      ["middle#0 price", "dear#0 price"],
      ["cheap circuit_open"],
    ],
    [
      "skips at most half of the deployments, the worst ones, if all circuits are open",
      {
        health: {
          cheap: { state: "open", success: 0 },
          middle: { state: "open", success: 0.2 },
          dear: { state: "open", success: 0.4 },
        },
      },
      ["dear#0 last_resort", "middle#0 last_resort"],
      ["cheap circuit_open"],
    ],
    [
      "has a deployment whose circuit is half open at its usual position",
      { health: { cheap: { state: "half_open" } } },
      ["cheap#0 probe", "middle#0 price", "dear#0 price"],
    ],
    [
      "skips keys with a cooldown",
      { waits: ["cheap#0"] },
      ["middle#0 price", "dear#0 price"],
      ["cheap#0 rate_limited"],
    ],
    [
      "prefers the deployment whose cache has the prompt, which makes it cheaper",
      { warm: { provider: "dear", tokens: 99_000 }, promptTokens: 100_000 },
      ["dear#0 warm_cache", "cheap#0 price", "middle#0 price"],
    ],
    [
      "does not prefer a warm cache if another deployment is still cheaper",
      { warm: { provider: "dear", tokens: 50_000 }, promptTokens: 100_000 },
      ["cheap#0 price", "middle#0 price", "dear#0 warm_cache"],
    ],
    [
      "does not prefer a warm cache at a provider with failures",
      {
        warm: { provider: "dear", tokens: 99_000 },
        promptTokens: 100_000,
        health: { dear: { success: 0.5 } },
      },
      ["cheap#0 price", "middle#0 price", "dear#0 warm_cache"],
    ],
    [
      "does not use a warm cache whose key has a cooldown",
      { warm: { provider: "dear", tokens: 99_000 }, promptTokens: 100_000, waits: ["dear#0"] },
      ["cheap#0 price", "middle#0 price"],
      ["dear#0 rate_limited"],
    ],
  ])("%s", (_what, asked, candidates, skipped = []) => {
    const made = plan(DEPLOYMENTS, asked);
    expect(candidatesOf(made)).toEqual(candidates);
    expect(skippedOf(made)).toEqual(skipped);
  });

  test("has the models in their order, and gives a sole candidate the reason only", () => {
    const other = makeDeployment("a/other", "cheap", { price: 1 });
    expect(candidatesOf(plan([[DEAR, MIDDLE], [other]]))).toEqual([
      "middle#0 price",
      "dear#0 price",
      "cheap#0 price",
    ]);
    expect(candidatesOf(plan([[DEAR]], { health: { dear: { state: "open" } } }))).toEqual(["dear#0 only"]);
    expect(plan([[DEAR]], { waits: ["dear#0"] }).candidates).toEqual([]);
  });

  test("always has a candidate if all deployments are only overloaded", () => {
    const overloaded = ["dear#0", "middle#0", "cheap#0"];
    expect(candidatesOf(plan([[DEAR]], { overloaded }))).toEqual(["dear#0 last_resort"]);
    expect(candidatesOf(plan(DEPLOYMENTS, { overloaded }))).toEqual([
      "cheap#0 last_resort",
      "middle#0 last_resort",
      "dear#0 last_resort",
    ]);
    const oneIsWell = plan(DEPLOYMENTS, { overloaded: ["cheap#0", "dear#0"] });
    expect(candidatesOf(oneIsWell)).toEqual(["middle#0 price"]);
    const limitedToo = plan(DEPLOYMENTS, { overloaded: ["cheap#0"], waits: ["dear#0", "middle#0"] });
    expect(candidatesOf(limitedToo)).toEqual(["cheap#0 last_resort"]);
    expect(skippedOf(limitedToo)).toEqual(["dear#0 rate_limited", "middle#0 rate_limited"]);
  });

  test("of deployments that are all overloaded weighs their failures against the price", () => {
    const asked = { overloaded: ["cheap#0", "middle#0", "dear#0"], health: { cheap: { success: 0.7 } } };
    expect(candidatesOf(plan(DEPLOYMENTS, asked))).toEqual([
      "middle#0 last_resort",
      "cheap#0 last_resort",
      "dear#0 last_resort",
    ]);
  });

  test("follows the advice of other gateways about keys, unless no candidate would be left", () => {
    const some = plan(DEPLOYMENTS, { advised: ["cheap#0", "dear#0"] });
    expect(candidatesOf(some)).toEqual(["middle#0 price"]);
    expect(skippedOf(some)).toEqual(["dear#0 rate_limited", "cheap#0 rate_limited"]);
    expect(candidatesOf(plan([[DEAR]], { advised: ["dear#0"] }))).toEqual(["dear#0 last_resort"]);
  });

  test("without fallbacks has only the named providers, even if none of them is available", () => {
    const provider = { order: ["cheap"], allow_fallbacks: false };
    const limited = plan(DEPLOYMENTS, { provider, waits: ["cheap#0"] });
    expect(limited.candidates).toEqual([]);
    expect(skippedOf(limited)).toEqual(["dear no_fallbacks", "middle no_fallbacks", "cheap#0 rate_limited"]);
    expect(candidatesOf(plan(DEPLOYMENTS, { provider, overloaded: ["cheap#0"] }))).toEqual([
      "cheap#0 last_resort",
    ]);
    const open = { cheap: { state: "open" as const, success: 0 } };
    expect(candidatesOf(plan(DEPLOYMENTS, { provider, health: open }))).toEqual(["cheap#0 order"]);
  });

  test("has BYOK keys first, in their order, and for fill in the middle the hosts dedicated to code", () => {
    const own = makeDeployment("a/m", "dear", { price: 10, own: true, keys: ["own-1", "own-2"] });
    for (const session of ["a", "b", "c"])
      expect(candidatesOf(plan([[CHEAP, own]], { session }))).toEqual([
        "own-1 price",
        "own-2 price",
        "cheap#0 price",
      ]);
    const code = makeDeployment("a/m", "code", { price: 10, isForCode: true });
    expect(candidatesOf(plan([[CHEAP, code]], { isFim: true }))).toEqual(["code#0 price", "cheap#0 price"]);
    expect(candidatesOf(plan([[CHEAP, code]]))).toEqual(["cheap#0 price", "code#0 price"]);
  });

  test("spreads sessions over equal providers and keys, and gives each session always the same", () => {
    const keys = ["k0", "k1"];
    const equals = [[makeDeployment("a/m", "one", { keys }), makeDeployment("a/m", "two", { keys: ["t0"] })]];
    const firstOf = (session: string) => plan(equals, { session }).candidates[0]?.key.label ?? "";
    const firsts = Array.from({ length: 600 }, (_, at) => firstOf(`session ${at}`));
    const share = (label: string) => firsts.filter((first) => first === label).length / firsts.length;
    expect(share("t0")).toBeGreaterThan(0.4);
    expect(share("t0")).toBeLessThan(0.6);
    expect(share("k0")).toBeGreaterThan(0.18);
    expect(share("k1")).toBeGreaterThan(0.18);
    expect(firsts).toEqual(Array.from({ length: 600 }, (_, at) => firstOf(`session ${at}`)));
    const warm = { provider: "one", keyLabel: "k1" };
    expect(candidatesOf(plan(equals, { warm }))[0]).toBe("k1 warm_cache");
  });

  const anyOffer = fc.record({
    price: fc.constantFrom(0, 1, 1.01, 2, 5),
    success: fc.constantFrom(1, 0.9, 0.5, 0),
    state: fc.constantFrom("closed" as const, "open" as const, "half_open" as const),
    ttftMs: fc.option(fc.integer({ min: 1, max: 5_000 })),
  });
  const anySort = fc.constantFrom(undefined, "price", "latency", "throughput");

  test("is the same for the same question, contains each key once, and never ejects more than half", () => {
    fc.assert(
      fc.property(
        fc.array(anyOffer, { minLength: 1, maxLength: 12 }),
        anySort,
        fc.string(),
        (facts, sort, session) => {
          const deployments = [facts.map(({ price }, at) => makeDeployment("a/m", `p${at}`, { price }))];
          const health = Object.fromEntries(facts.map((fact, at) => [`p${at}`, fact]));
          const asked = { session, health, provider: { sort } };
          const made = plan(deployments, asked);
          expect(plan(deployments, asked)).toEqual(made);
          // The order of the deployments in the question has no influence.
          expect(plan([[...(deployments[0] as Deployment[])].reverse()], asked).candidates).toEqual(
            made.candidates,
          );
          const all = [...made.candidates, ...made.skipped.map(({ deployment }) => deployment)];
          expect(all.map(({ provider }) => provider.record.slug).toSorted()).toEqual(
            facts.map((_, at) => `p${at}`).toSorted(),
          );
          expect(made.skipped.length).toBeLessThanOrEqual(facts.length / 2);
        },
      ),
    );
  });

  test("moves only the sessions of a deployment that is removed", () => {
    fc.assert(
      fc.property(
        fc.array(anyOffer, { minLength: 2, maxLength: 8 }),
        anySort,
        fc.string(),
        (facts, sort, session) => {
          const deployments = facts.map(({ price }, at) => makeDeployment("a/m", `p${at}`, { price }));
          const slugs = (of: readonly Deployment[]) =>
            plan([of], { session, provider: { sort } }).candidates.map(
              ({ provider }) => provider.record.slug,
            );
          const without = slugs(deployments.slice(1));
          expect(slugs(deployments).filter((slug) => slug !== "p0")).toEqual(without);
        },
      ),
    );
  });
});

describe("the affinity memory", () => {
  const place = { provider: "p", modelId: "a/m", keyLabel: "k", tokens: 1, until: 100 };

  test("forgets sessions whose cache has expired, and evicts the least recently used session if it is full", () => {
    const memory = createAffinityMemory();
    memory.remember("a", place);
    expect(memory.recall("a", 99)).toEqual(place);
    expect(memory.recall("a", 100)).toBeNull();
    for (let at = 0; at < 50_000; at++) memory.remember(`s${at}`, place);
    memory.remember("s0", place);
    memory.remember("one more", place);
    expect(memory.recall("s0", 0)).toEqual(place);
    expect(memory.recall("s1", 0)).toBeNull();
  });
});

describe("a plan of deployments with a sort of their own", () => {
  const sorted = (sort: "throughput" | "price") => [CHEAP, MIDDLE, DEAR].map((one) => ({ ...one, sort }));
  const health = { dear: { tokensPerS: 10, ttftMs: 100 }, middle: { tokensPerS: 90 } };

  test("orders the providers of each model by it", () => {
    expect(candidatesOf(plan([sorted("throughput"), [DEAR, CHEAP]], { health }))).toEqual([
      "middle#0 throughput",
      "dear#0 throughput",
      "cheap#0 throughput",
      "cheap#0 price",
      "dear#0 price",
    ]);
  });

  test("orders them by the request's sort if it has one", () => {
    expect(candidatesOf(plan([sorted("price")], { health, provider: { sort: "latency" } }))).toEqual([
      "dear#0 latency",
      "cheap#0 latency",
      "middle#0 latency",
    ]);
  });
});
