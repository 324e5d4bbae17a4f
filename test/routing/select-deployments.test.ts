import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { failureOf } from "../../src/base/failures/errors.ts";
import { type LevelPolicy, mergePolicies } from "../../src/core/accounts/records/merge-policies.ts";
import { OPEN_POLICY, type Policy } from "../../src/core/accounts/records/records.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { selectDeployments, warnOfParameters } from "../../src/core/routing/plan/select-deployments.ts";
import { NO_NEEDS, type RequestNeeds } from "../../src/wire/conversation/needs.ts";
import {
  NO_PREFERENCES,
  type ProviderPreferences,
  readRoutingParameters,
} from "../../src/wire/conversation/preferences.ts";
import { growsLinearly, LARGER } from "../growth/measure-growth.ts";
import { makeDeployment as deployment } from "./make-deployment.ts";

interface Rules {
  readonly levels?: readonly LevelPolicy[];
  readonly provider?: unknown;
  readonly needs?: Partial<RequestNeeds>;
  readonly maxPromptTokens?: number;
}

function preferencesOf(provider: unknown): ProviderPreferences {
  return readRoutingParameters({ models: undefined, provider: provider }).preferences;
}

/** Returns the selected deployments as `model at provider`, or the code and the rule of the rejection. */
function choose(deployments: readonly (readonly Deployment[])[], rules: Rules): readonly string[] | string {
  try {
    const left = selectDeployments(deployments, {
      policy: mergePolicies(rules.levels ?? []),
      choiceId: null,
      preferences: preferencesOf(rules.provider),
      listNeeds: () => ({ ...NO_NEEDS, ...rules.needs }),
      mayHaveMedia: rules.needs !== undefined,
      promptTokens: null,
      maxPromptTokens: rules.maxPromptTokens ?? 1_000,
    });
    return left.flat().map(({ model, provider }) => `${model.id} at ${provider.record.slug}`);
  } catch (error) {
    const { code, metadata } = failureOf(error);
    return `${code}: ${metadata?.["rule"] ?? metadata?.["field"]}`;
  }
}

const of = (level: LevelPolicy["level"], policy: Partial<Policy>): LevelPolicy => ({
  level,
  policy: { ...OPEN_POLICY, ...policy },
});

/** The requested model at three providers, and a fallback at one. */
const DEPLOYMENTS = [
  [
    deployment("acme/large", "alpha", { trains: false, retains: false, lacks: ["image"], price: 3 }),
    deployment("acme/large", "beta", { trains: false, retains: null, lacks: ["temperature"], price: 2 }),
    deployment("acme/large", "gamma", { trains: true, retains: true, price: 1 }),
  ],
  [deployment("other/small", "delta", { price: 0.1 })],
];
const LARGE = ["acme/large at alpha", "acme/large at beta", "acme/large at gamma"];
const SMALL = "other/small at delta";

describe("the selection of deployments", () => {
  test.each<[string, Rules, readonly string[] | string]>([
    ["keeps all without rules", {}, [...LARGE, SMALL]],
    [
      "keeps the fallback if the requested model is denied",
      { levels: [of("account", { deniedModels: ["acme/*"] })] },
      [SMALL],
    ],
    [
      "keeps the requested model if the fallback is not allowed",
      { levels: [of("key", { allowedModels: ["acme/*"] })] },
      LARGE,
    ],
    [
      "rejects a request if all models are denied",
      { levels: [of("account", { deniedModels: ["*"] })] },
      "model_not_allowed: account.denied_models",
    ],
    [
      "rejects a request if two levels together leave no model",
      { levels: [of("gateway", { allowedModels: ["acme/*"] }), of("account", { deniedModels: ["acme/*"] })] },
      "model_not_allowed: account.denied_models",
    ],
    [
      "filters out a denied provider",
      { levels: [of("gateway", { deniedProviders: ["ALPHA", "g*"] })] },
      ["acme/large at beta", SMALL],
    ],
    [
      "rejects a request if only other providers are allowed",
      { levels: [of("gateway", { allowedProviders: ["other"] })] },
      "model_not_allowed: gateway.allowed_providers",
    ],
    [
      "keeps only providers known not to train if a policy denies training",
      { levels: [of("account", { denyDataCollection: true })] },
      ["acme/large at alpha", "acme/large at beta"],
    ],
    [
      "keeps only providers known to retain nothing if a policy requires zero retention",
      { levels: [of("account", { zeroRetention: true })] },
      ["acme/large at alpha"],
    ],
    [
      "rejects a request if a policy requires zero retention and denies the only such provider",
      { levels: [of("account", { zeroRetention: true, deniedProviders: ["alpha"] })] },
      "model_not_allowed: account.zero_retention",
    ],
    [
      "keeps only providers known not to train if the request denies training",
      { provider: { data_collection: "deny" } },
      LARGE.slice(0, 2),
    ],
    [
      "keeps only providers known to retain nothing if the request requires zero retention",
      { provider: { zdr: true } },
      ["acme/large at alpha"],
    ],
    [
      "does not let the request loosen the policy",
      {
        levels: [of("account", { zeroRetention: true })],
        provider: { zdr: false, data_collection: "allow", only: ["beta"] },
      },
      "invalid_request: provider",
    ],
    [
      "rejects a request with zero retention if no provider is known to retain nothing",
      {
        provider: { zdr: true, ignore: ["alpha"] },
      },
      "invalid_request: provider",
    ],
    [
      "filters out deployments without images if the request has one",
      { needs: { features: ["image"] } },
      [LARGE[1]!, LARGE[2]!, SMALL],
    ],
    [
      "keeps a deployment that lacks a parameter which is not required",
      { needs: { parameters: ["temperature"] } },
      [...LARGE, SMALL],
    ],
    [
      "filters out a deployment that lacks a required parameter",
      { provider: { require_parameters: true }, needs: { parameters: ["temperature", "max_tokens"] } },
      [LARGE[0]!, LARGE[2]!, SMALL],
    ],
    [
      "rejects a request if no model supports a required parameter",
      { provider: { require_parameters: true }, needs: { parameters: ["structured_outputs"] } },
      "invalid_request: provider.require_parameters",
    ],
    [
      "filters out deployments above the maximum price",
      { provider: { max_price: { prompt: 2 } } },
      [LARGE[1]!, LARGE[2]!, SMALL],
    ],
    ["accepts a maximum price as text", { provider: { max_price: { completion: "0.1" } } }, [SMALL]],
    [
      "rejects a request if all prices are above the maximum",
      { provider: { max_price: { prompt: 5, completion: 0.01 } } },
      "invalid_request: provider.max_price",
    ],
  ])("%s", (_what, rules, expected) => {
    expect(choose(DEPLOYMENTS, rules)).toEqual(expected as string);
  });

  test("compares the maximum price with each price tier that may apply to the prompt", () => {
    const tiered = deployment("acme/tiered", "alpha", {
      priceTiers: [{ minPromptTokens: 200_000, prompt: "0.00001", completion: "0.00001" }],
    });
    const cap = { provider: { max_price: { prompt: 1 } } };
    expect(choose([[tiered]], { ...cap, maxPromptTokens: 199_999 })).toEqual(["acme/tiered at alpha"]);
    expect(choose([[tiered]], { ...cap, maxPromptTokens: 200_000 })).toStartWith("invalid_request");
  });

  test("filters out deployments without structured output if the request has a schema", () => {
    const some = [
      [deployment("acme/m", "alpha", { lacks: ["structured_outputs"] }), deployment("acme/m", "beta")],
    ];
    expect(choose(some, { needs: { parameters: ["structured_outputs"] } })).toEqual(["acme/m at beta"]);
    expect(choose(some, {})).toHaveLength(2);
    const none = [[deployment("acme/m", "alpha", { lacks: ["structured_outputs"] })]];
    expect(choose(none, { needs: { parameters: ["structured_outputs"] } })).toBe(
      "invalid_request: response_format",
    );
  });

  test("rejects a request if every deployment lacks a feature that it uses", () => {
    const blind = [[deployment("acme/blind", "alpha", { lacks: ["image", "tools"] })]];
    expect(choose(blind, { needs: { features: ["image"] } })).toBe("invalid_request: messages");
    expect(choose(blind, { needs: { features: ["tools"] } })).toBe("invalid_request: tools");
  });

  test("never keeps more deployments because of a further policy", () => {
    const patterns = fc.array(fc.constantFrom("acme/*", "other/*", "*", "alpha", "*a"), { maxLength: 2 });
    const policy = fc.record({
      allowedModels: fc.option(patterns),
      deniedModels: patterns,
      allowedProviders: fc.option(patterns),
      deniedProviders: patterns,
      denyDataCollection: fc.boolean(),
      zeroRetention: fc.boolean(),
    });
    const left = (rules: Rules) => {
      const chosen = choose(DEPLOYMENTS, rules);
      return typeof chosen === "string" ? [] : chosen;
    };
    fc.assert(
      fc.property(policy, policy, fc.boolean(), (one, two, zdr) => {
        const provider = { zdr };
        const before = left({ levels: [of("gateway", one)], provider });
        const after = left({ levels: [of("gateway", one), of("account", two)], provider });
        expect(before).toContainValues([...after]);
      }),
    );
  });

  test("takes time linear in the number of deployments and of patterns", () => {
    const chooseAmong = (deployments: number, patterns: number) => {
      const many = [
        Array.from({ length: deployments }, (_, index) =>
          deployment("acme/large", `host-${index}`, { trains: false }),
        ),
      ];
      const deniedModels = Array.from({ length: patterns }, (_, index) => `x${index}/*`);
      const rules: Rules = {
        levels: [of("account", { deniedModels })],
        provider: { data_collection: "deny" },
      };
      return () => expect(choose(many, rules)).toHaveLength(deployments);
    };
    const [hosts, patterns] = [50, 100];
    const small = chooseAmong(hosts, patterns);
    expect(growsLinearly(small, chooseAmong(LARGER * hosts, patterns))).toBe(true);
    expect(growsLinearly(small, chooseAmong(hosts, LARGER * patterns))).toBe(true);
  });
});

describe("the warnings of required parameters", () => {
  const fieldsOf = (provider: unknown, parameters: readonly string[]) =>
    warnOfParameters(preferencesOf(provider), () => ({ ...NO_NEEDS, parameters })).map(({ field }) => field);

  test("name the field if the catalog does not know which providers support a parameter", () => {
    expect(fieldsOf({ sort: "price" }, [])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["temperature"])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["seed", "stop"])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["logit_bias"])).toEqual(["provider.require_parameters"]);
    expect(warnOfParameters(NO_PREFERENCES, () => NO_NEEDS)).toEqual([]);
  });
});
