import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { failureOf } from "../../src/base/errors.ts";
import type { AccountPrincipal } from "../../src/core/accounts/principal.ts";
import type { Policy } from "../../src/core/accounts/records.ts";
import { createCatalog } from "../../src/core/catalog/catalog.ts";
import { PricingRules } from "../../src/core/catalog/pricing-rules.ts";
import type { CatalogData, ModelRecord, ProviderRecord } from "../../src/core/catalog/records.ts";
import { createTiers } from "../../src/core/catalog/tiers.ts";
import { createServedModels, type ServedProvider } from "../../src/core/deployments/served-models.ts";
import type { Consideration } from "../../src/core/generation/admission.ts";
import { consider, considerAnew } from "../../src/core/generation/admit.ts";
import { tariffsOf } from "../../src/core/generation/apply-tariffs.ts";
import type { GenerationDeps, Serving } from "../../src/core/generation/call.ts";
import type { RoutableCall } from "../../src/core/generation/find-deployments.ts";
import { createNamedRoutes } from "../../src/core/named-routes/named-routes.ts";
import type { ByokKeys } from "../../src/core/provider-keys/byok-keys.ts";
import { NO_HEADERS } from "../../src/wire/client-apis/request/session-hints.ts";
import { NO_PREFERENCES } from "../../src/wire/conversation/preferences.ts";

const NOW = Date.UTC(2026, 0, 15);
const OPEN: Policy = {
  allowedModels: null,
  deniedModels: [],
  allowedProviders: null,
  deniedProviders: [],
  denyDataCollection: false,
  zeroRetention: false,
  ownKeysOnly: false,
  promptCaching: "auto",
};

describe("a remembered admission", () => {
  test("is the same as a new one, whatever the requests and changes before it were", () => {
    fc.assert(
      fc.property(fc.array(STEP, { minLength: 2, maxLength: 30 }), (steps) => {
        const site = createSite();
        for (const step of steps) {
          site.change(step.change);
          const call = site.call(step);
          expect(describeAdmission(() => site.consider(call))).toEqual(
            describeAdmission(() => site.considerAnew(call)),
          );
        }
      }),
    );
  });

  test("is given again while nothing that it follows from has changed", () => {
    const site = createSite();
    const call = site.call({ ...PLAIN, model: "acme/two" });
    expect(site.consider(call)).not.toBe(site.consider(call));
    const first = site.consider(call);
    expect(site.consider(site.call({ ...PLAIN, model: "acme/two", bytes: 10 }))).toBe(first);
    site.change("policy");
    expect(site.consider(call)).not.toBe(first);
  });

  test("is not given to a request that says more about its route than its model", () => {
    const site = createSite();
    site.consider(site.call({ ...PLAIN, model: "acme/two" }));
    const first = site.consider(site.call({ ...PLAIN, model: "acme/two" }));
    const preferences = { ...NO_PREFERENCES, only: ["beta"] };
    for (const more of [{ preferences }, { fallbackModels: ["acme/one"] }, { mayHaveMedia: true }])
      expect(site.consider(site.call({ ...PLAIN, model: "acme/two", ...more }))).not.toBe(first);
  });
});

interface Step {
  readonly model: string;
  readonly action: "chat" | "completions" | "embeddings";
  readonly bytes: number;
  readonly principal: number;
  readonly fallbackModels: readonly string[];
  readonly preferences: typeof NO_PREFERENCES;
  readonly mayHaveMedia: boolean;
  readonly change: Change | null;
}

type Change = "serving" | "policy" | "keys" | "account" | "pricing";

const PLAIN: Step = {
  model: "acme/one",
  action: "chat",
  bytes: 100,
  principal: 0,
  fallbackModels: [],
  preferences: NO_PREFERENCES,
  mayHaveMedia: false,
  change: null,
};

const MODELS = ["acme/one", "ACME/One", "acme/two", "acme/small", "acme/lacking", "renamed", "acme/none"];

const STEP: fc.Arbitrary<Step> = fc.record({
  model: fc.constantFrom(...MODELS),
  action: fc.constantFrom("chat", "chat", "chat", "completions", "embeddings"),
  bytes: fc.constantFrom(10, 100, 5_000, 1_000_000),
  principal: fc.nat(1),
  fallbackModels: fc.constantFrom([], [], [], ["acme/two"]),
  preferences: fc.constantFrom(
    NO_PREFERENCES,
    NO_PREFERENCES,
    { ...NO_PREFERENCES, only: ["beta"] },
    { ...NO_PREFERENCES, denyDataCollection: true },
    { ...NO_PREFERENCES, ownKeysOnly: true },
  ),
  mayHaveMedia: fc.constantFrom(false, false, true),
  change: fc.constantFrom(null, null, null, "serving", "policy", "keys", "account", "pricing"),
});

/** The state that admissions depend on. A change replaces one part of it. */
function createSite() {
  const count: Record<Change, number> = { serving: 0, policy: 0, keys: 0, account: 0, pricing: 0 };
  let [serving, policy, byokKeys] = [servingOf(0), policyNumber(0), keysNumber(0)];
  let principals = principalsNumber(0);
  let pricing = pricingNumber(0);
  const deps = () =>
    ({
      serving: () => serving,
      policy,
      pricing,
      clock: { now: () => NOW },
      accountRoutes: { of: () => null },
      tokenCounter: { count: () => Promise.reject(new Error("no tokens are counted here")) },
    }) as unknown as GenerationDeps;
  return {
    change(what: Change | null): void {
      if (what === null) return;
      count[what] += 1;
      if (what === "serving") serving = servingOf(count.serving);
      if (what === "policy") policy = policyNumber(count.policy);
      if (what === "keys") byokKeys = keysNumber(count.keys);
      if (what === "account") principals = principalsNumber(count.account);
      if (what === "pricing") pricing = pricingNumber(count.pricing);
    },
    call: ({ bytes, principal, ...facts }: Step) =>
      ({
        principal: principals[principal],
        headers: NO_HEADERS,
        request: {
          ...facts,
          windowTextBytes: bytes,
          promptTextBytes: bytes,
          countPromptChars: () => bytes,
          listPromptText: () => [],
          listNeeds: () => ({ features: ["tools"], parameters: ["tools"], contentField: "messages" }),
        },
      }) as unknown as RoutableCall,
    consider: (call: RoutableCall) => settled(consider(deps(), call, byokKeys)),
    considerAnew: (call: RoutableCall) => {
      const tariffs = tariffsOf(call.principal, { pricing, now: NOW });
      return settled(considerAnew(deps(), call, { tariffs, byokKeys }));
    },
  };
}

function settled(considered: Consideration | Promise<Consideration>): Consideration | "counted" {
  if (!(considered instanceof Promise)) return considered;
  // A prompt near the edge of a window is counted, which no remembered admission is for.
  considered.catch(() => {});
  return "counted";
}

function describeAdmission(find: () => Consideration | "counted"): unknown {
  try {
    return find();
  } catch (error) {
    return failureOf(error);
  }
}

function principalsNumber(at: number): readonly AccountPrincipal[] {
  return [OPEN, { ...OPEN, deniedModels: at % 2 === 0 ? ["acme/two"] : ["acme/one"] }].map(
    (policy, index) =>
      ({
        kind: "key",
        key: { id: `key_${index}`, userId: null, models: null },
        account: { id: `account_${index}`, policy, plan: null },
        member: null,
      }) as unknown as AccountPrincipal,
  );
}

function policyNumber(at: number): Policy {
  return [OPEN, { ...OPEN, deniedProviders: ["alpha"] }, { ...OPEN, zeroRetention: true }][at % 3] as Policy;
}

function keysNumber(at: number): ByokKeys | null {
  if (at % 2 === 0) return null;
  const key = { id: "pk_1", label: "pk_1", provider: "beta", models: null, members: null, secret: "s" };
  return new Map([["beta", [key]]]);
}

function pricingNumber(at: number): PricingRules {
  if (at % 2 === 0) return new PricingRules([]);
  const platform = { kind: "scale", factor: 2n * 10n ** 18n } as never;
  const any = { from: null, until: null, accounts: null, plans: null, providers: null, models: null };
  return new PricingRules([{ ...any, platform, byok: null }]);
}

/** The models that are served: every second state has one provider less for one of them, and another window. */
function servingOf(at: number): Serving {
  const isEven = at % 2 === 0;
  const models = [
    modelOf("acme/one", [{ provider: "alpha" }]),
    modelOf("acme/two", isEven ? [{ provider: "alpha" }, { provider: "beta" }] : [{ provider: "beta" }]),
    modelOf("acme/small", [{ provider: "beta", contextLength: isEven ? 1_000 : 3_000 }]),
    modelOf("acme/lacking", [{ provider: "alpha", lacks: ["tools"] }, { provider: "beta" }]),
  ];
  const providers = [providerOf("alpha", false), providerOf("beta", true)];
  const data = { source: "test", models, providers: providers.map(({ record }) => record) } as CatalogData;
  const definition = { kind: "alias", target: "acme/one" } as never;
  return {
    catalog: createCatalog(data),
    servedModels: createServedModels(models, providers, NOW),
    tiers: createTiers({ version: "2026-01-01", verbosity: [], tiers: [] }),
    namedRoutes: createNamedRoutes(
      isEven ? [] : [{ name: "renamed", accountId: null, definition, version: null, updatedAt: null }],
    ),
  };
}

function modelOf(id: string, endpoints: readonly object[]): ModelRecord {
  const prices = { prompt: "0.000001", completion: "0.000002" };
  const usual = { name: id, contextLength: 100_000, maxOutputTokens: null, prices };
  return {
    id,
    name: id,
    inputModalities: ["text"],
    outputModalities: ["text"],
    supportedParameters: ["max_tokens"],
    tokenizer: null,
    expires: null,
    endpoints: endpoints.map((facts) => ({ ...usual, ...facts })),
  } as unknown as ModelRecord;
}

function providerOf(slug: string, retainsData: boolean): ServedProvider {
  const address = { urlFor: () => new URL("https://vendor.test") };
  const key = { label: `${slug}#0`, secret: null, byokId: null, address, headers: {} };
  const record = { slug, name: slug, trainsOnData: false, retainsData, quirks: {}, env: { apiKey: [] } };
  return {
    record: record as unknown as ProviderRecord,
    formats: ["openai-chat"],
    keys: [key],
    readByokKey: ({ id }: { id: string }) => ({ kind: "key", key: { ...key, label: id, byokId: id } }),
  } as unknown as ServedProvider;
}
