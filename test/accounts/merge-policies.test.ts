import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type EffectivePolicy,
  type LevelPolicy,
  mergePolicies,
  policyOf,
  ruleAllows,
} from "../../src/core/accounts/records/merge-policies.ts";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import {
  type AccountRecord,
  type KeyRecord,
  OPEN_POLICY,
  type Policy,
} from "../../src/core/accounts/records/records.ts";

const MODELS = ["openai/gpt", "openai/gpt:free", "acme/mini", "acme/large"];
const PROVIDERS = ["openai", "azure", "acme"];

const patterns = (of: readonly string[]) =>
  fc.array(fc.constantFrom(...of, "*", "openai/*", "*:free", "a*"), { maxLength: 3 });
const policy: fc.Arbitrary<Policy> = fc.record({
  allowedModels: fc.option(patterns(MODELS)),
  deniedModels: patterns(MODELS),
  allowedProviders: fc.option(patterns(PROVIDERS)),
  deniedProviders: patterns(PROVIDERS),
  denyDataCollection: fc.boolean(),
  zeroRetention: fc.boolean(),
  ownKeysOnly: fc.boolean(),
  promptCaching: fc.constantFrom("auto" as const, "off" as const),
});
const levels: fc.Arbitrary<LevelPolicy[]> = fc.array(
  fc.record({ level: fc.constantFrom("gateway", "account", "key"), policy }),
  { maxLength: 3 },
);

/** Returns all pairs of model and provider that a merged policy allows. */
function allowedBy({ rules }: EffectivePolicy): string[] {
  return MODELS.flatMap((model) =>
    PROVIDERS.filter((provider) => rules.every((rule) => ruleAllows(rule, model, provider))).map(
      (provider) => `${model} at ${provider}`,
    ),
  );
}

describe("merged policies", () => {
  test("allow exactly what each of them allows", () => {
    fc.assert(
      fc.property(levels, (all) => {
        const each = all.map((one) => new Set(allowedBy(mergePolicies([one]))));
        const byEvery = allowedBy(mergePolicies([])).filter((pair) => each.every((one) => one.has(pair)));
        expect(allowedBy(mergePolicies(all))).toEqual(byEvery);
      }),
    );
  });

  test("never allow more models, providers or data use because of a further level", () => {
    fc.assert(
      fc.property(levels, levels, (some, more) => {
        const before = mergePolicies(some);
        const after = mergePolicies([...some, ...more]);
        expect(allowedBy(before)).toContainValues(allowedBy(after));
        if (before.zeroRetention !== null) expect(after.zeroRetention).not.toBeNull();
        if (before.denyDataCollection !== null) expect(after.denyDataCollection).not.toBeNull();
      }),
    );
  });

  test("have no rules if no policy has any", () => {
    expect(mergePolicies([{ level: "gateway", policy: OPEN_POLICY }]).rules).toEqual([]);
  });
});

describe("the policy of a caller", () => {
  const operator = { ...OPEN_POLICY, deniedModels: ["acme/*"] };
  const callerWith = (models: readonly string[] | null): InferencePrincipal => ({
    kind: "key",
    key: { models } as KeyRecord,
    account: { policy: { ...OPEN_POLICY, allowedProviders: ["azure"] } } as unknown as AccountRecord,
    member: null,
    team: null,
  });

  test("merges the operator's policy, the account's policy and the key's models", () => {
    expect(allowedBy(policyOf(operator, callerWith(["*:free"])))).toEqual(["openai/gpt:free at azure"]);
    expect(allowedBy(policyOf(operator, callerWith(null)))).toEqual([
      "openai/gpt at azure",
      "openai/gpt:free at azure",
    ]);
  });

  test("is the operator's without a key, and allows nothing for a key with an empty list of models", () => {
    expect(allowedBy(policyOf(operator, { kind: "anonymous", addressHash: "" }))).toHaveLength(6);
    expect(allowedBy(policyOf(operator, callerWith([])))).toEqual([]);
  });
});
