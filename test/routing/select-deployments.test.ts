import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { failureOf } from "../../src/base/errors.ts";
import { type LevelPolicy, mergePolicies } from "../../src/core/accounts/merge-policies.ts";
import { OPEN_POLICY, type Policy } from "../../src/core/accounts/records.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { selectDeployments, warnOfParameters } from "../../src/core/routing/select-deployments.ts";
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

function wishesOf(provider: unknown): ProviderPreferences {
  return readRoutingParameters(undefined, provider).preferences;
}

/** What is left, `model at provider`, or the code and the name of the rule that left nothing. */
function choose(deployments: readonly (readonly Deployment[])[], rules: Rules): readonly string[] | string {
  try {
    const left = selectDeployments(deployments, {
      policy: mergePolicies(rules.levels ?? []),
      tierId: null,
      preferences: wishesOf(rules.provider),
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

/** The model asked for at three providers, and a fallback at one. */
const OFFERS = [
  [
    deployment("acme/large", "alpha", { trains: false, retains: false, lacks: ["image"], price: 3 }),
    deployment("acme/large", "beta", { trains: false, retains: null, lacks: ["temperature"], price: 2 }),
    deployment("acme/large", "gamma", { trains: true, retains: true, price: 1 }),
  ],
  [deployment("other/small", "delta", { price: 0.1 })],
];
const LARGE = ["acme/large at alpha", "acme/large at beta", "acme/large at gamma"];
const SMALL = "other/small at delta";

describe("offers", () => {
  test.each<[string, Rules, readonly string[] | string]>([
    ["no rules", {}, [...LARGE, SMALL]],
    ["the model asked for is denied", { levels: [of("account", { deniedModels: ["acme/*"] })] }, [SMALL]],
    ["a fallback is not allowed", { levels: [of("key", { allowedModels: ["acme/*"] })] }, LARGE],
    [
      "all models are denied",
      { levels: [of("account", { deniedModels: ["*"] })] },
      "model_not_allowed: account.denied_models",
    ],
    [
      "two levels leave nothing together",
      { levels: [of("gateway", { allowedModels: ["acme/*"] }), of("account", { deniedModels: ["acme/*"] })] },
      "model_not_allowed: account.denied_models",
    ],
    [
      "a provider is denied",
      { levels: [of("gateway", { deniedProviders: ["ALPHA", "g*"] })] },
      ["acme/large at beta", SMALL],
    ],
    [
      "only others are allowed",
      { levels: [of("gateway", { allowedProviders: ["nobody"] })] },
      "model_not_allowed: gateway.allowed_providers",
    ],
    [
      "a policy denies training: unknown counts as yes",
      { levels: [of("account", { denyDataCollection: true })] },
      ["acme/large at alpha", "acme/large at beta"],
    ],
    [
      "a policy wants nothing kept",
      { levels: [of("account", { zeroRetention: true })] },
      ["acme/large at alpha"],
    ],
    [
      "a policy wants nothing kept, and denies the one that keeps nothing",
      { levels: [of("account", { zeroRetention: true, deniedProviders: ["alpha"] })] },
      "model_not_allowed: account.zero_retention",
    ],
    ["the request denies training", { provider: { data_collection: "deny" } }, LARGE.slice(0, 2)],
    ["the request wants nothing kept", { provider: { zdr: true } }, ["acme/large at alpha"]],
    [
      "the request may not loosen what the policy wants",
      {
        levels: [of("account", { zeroRetention: true })],
        provider: { zdr: false, data_collection: "allow", only: ["beta"] },
      },
      "invalid_request: provider",
    ],
    [
      "the request wants nothing kept, and nobody is known to",
      {
        provider: { zdr: true, ignore: ["alpha"] },
      },
      "invalid_request: provider",
    ],
    ["images", { needs: { features: ["image"] } }, [LARGE[1]!, LARGE[2]!, SMALL]],
    [
      "a parameter that one lacks, unless it is required",
      { needs: { parameters: ["temperature"] } },
      [...LARGE, SMALL],
    ],
    [
      "a parameter that one lacks, required",
      { provider: { require_parameters: true }, needs: { parameters: ["temperature", "max_tokens"] } },
      [LARGE[0]!, LARGE[2]!, SMALL],
    ],
    [
      "a parameter that no model has, required",
      { provider: { require_parameters: true }, needs: { parameters: ["structured_outputs"] } },
      "invalid_request: provider.require_parameters",
    ],
    ["a highest price", { provider: { max_price: { prompt: 2 } } }, [LARGE[1]!, LARGE[2]!, SMALL]],
    ["a highest price as text", { provider: { max_price: { completion: "0.1" } } }, [SMALL]],
    [
      "a highest price under all",
      { provider: { max_price: { prompt: 5, completion: 0.01 } } },
      "invalid_request: provider.max_price",
    ],
  ])("%s", (_what, rules, expected) => {
    expect(choose(OFFERS, rules)).toEqual(expected as string);
  });

  test("that grow dearer with the prompt are judged by the price that may come to hold", () => {
    const tiered = deployment("acme/tiered", "alpha", {
      priceTiers: [{ minPromptTokens: 200_000, prompt: "0.00001", completion: "0.00001" }],
    });
    const cap = { provider: { max_price: { prompt: 1 } } };
    expect(choose([[tiered]], { ...cap, maxPromptTokens: 199_999 })).toEqual(["acme/tiered at alpha"]);
    expect(choose([[tiered]], { ...cap, maxPromptTokens: 200_000 })).toStartWith("invalid_request");
  });

  test("that lack structured output give way to others where a schema is named", () => {
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

  test("that lack what is asked for are never all that is left", () => {
    const blind = [[deployment("acme/blind", "alpha", { lacks: ["image", "tools"] })]];
    expect(choose(blind, { needs: { features: ["image"] } })).toBe("invalid_request: messages");
    expect(choose(blind, { needs: { features: ["tools"] } })).toBe("invalid_request: tools");
  });

  test("become no more by any further rule", () => {
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
      const chosen = choose(OFFERS, rules);
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

  test("are chosen in time that grows with their number and with the number of patterns", () => {
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

describe("warnings", () => {
  const fieldsOf = (provider: unknown, parameters: readonly string[]) =>
    warnOfParameters(wishesOf(provider), () => ({ ...NO_NEEDS, parameters })).map(({ field }) => field);

  test("say which wish is not granted yet", () => {
    expect(fieldsOf({ sort: "price" }, [])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["temperature"])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["seed", "stop"])).toEqual([]);
    expect(fieldsOf({ require_parameters: true }, ["logit_bias"])).toEqual(["provider.require_parameters"]);
    expect(warnOfParameters(NO_PREFERENCES, () => NO_NEEDS)).toEqual([]);
  });
});
