import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { GatewayError } from "../../src/base/failures/errors.ts";
import { addProfiles } from "../../src/core/catalog/profile/endpoint-profile.ts";
import type {
  FamilyProfile,
  ModelEndpoint,
  ModelRecord,
  ProviderRecord,
} from "../../src/core/catalog/records/records.ts";
import type { ParameterRule } from "../../src/wire/conversation/parameter-rules.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import {
  SAMPLING_PARAMETERS,
  type SamplingParameter,
} from "../../src/wire/conversation/traits/sampling-parameters.ts";
import { FORMAT_TRAITS } from "../../src/wire/formats/traits.ts";
import { openRequest } from "../fidelity/open-request.ts";
import { makeTarget } from "../fidelity/targets.ts";

/** Each parameter as a client of chat completions sets it. */
const SET: Readonly<Record<SamplingParameter, Readonly<Record<string, unknown>>>> = {
  frequency_penalty: { frequency_penalty: 0.5 },
  logprobs: { logprobs: true },
  n: { n: 2 },
  presence_penalty: { presence_penalty: 0.5 },
  seed: { seed: 7 },
  stop: { stop: ["END"] },
  top_logprobs: { logprobs: true, top_logprobs: 3 },
};

/** Whether a request's fields reach an upstream in a format: none is rejected or omitted. */
function reaches(format: FormatName, fields: Readonly<Record<string, unknown>>): boolean {
  const messages = [{ role: "user", content: "Hello" }];
  const request = openRequest("chat", { model: "acme/model", max_tokens: 50, messages, ...fields });
  try {
    return request.encoding.encode(makeTarget(format)).warnings.length === 0;
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

const data = loadShippedCatalog();

function describeEndpoint(
  provider: Pick<ProviderRecord, "slug" | "format"> & Partial<ProviderRecord>,
  more: Partial<ModelEndpoint> = {},
  supportedParameters: readonly string[] = ["max_tokens", "temperature"],
  families: readonly FamilyProfile[] = [],
): readonly string[] | undefined {
  const model = {
    id: "acme/model",
    outputModalities: ["text"],
    supportedParameters,
    endpoints: [{ provider: provider.slug, ...more }],
  } as unknown as ModelRecord;
  const row = { quirks: {}, ...provider } as ProviderRecord;
  return addProfiles([model], [row], families)[0]?.endpoints[0]?.profile?.parameters;
}

describe("the sampling parameters of a format", () => {
  const pairs = FORMAT_NAMES.flatMap((format) =>
    SAMPLING_PARAMETERS.map((parameter) => [parameter, format] as const),
  );
  test.each(pairs)(
    "include %s exactly if a request with it reaches an upstream in %s",
    (parameter, format) => {
      expect(FORMAT_TRAITS[format].parameters.sampling.includes(parameter)).toBe(
        reaches(format, SET[parameter]),
      );
    },
  );
});

describe("the parameters of a model endpoint", () => {
  const CHAT = { slug: "acme", format: "openai-chat" } as const;
  const parameters = SAMPLING_PARAMETERS;

  test("are the model's and stop if the provider's row lists none", () => {
    expect(describeEndpoint(CHAT)).toEqual(["max_tokens", "stop", "temperature"]);
  });

  test("include those of the row that the endpoint's format can express", () => {
    expect(describeEndpoint({ ...CHAT, parameters }, {}, [])).toEqual([...SAMPLING_PARAMETERS]);
    const both = { ...CHAT, parameters, formats: { "openai-responses": {} } } as const;
    expect(describeEndpoint(both, { formats: ["openai-responses"] }, [])).toEqual([
      "logprobs",
      "top_logprobs",
    ]);
    expect(describeEndpoint(both, { formats: ["openai-responses", "openai-chat"] }, [])).toEqual([
      ...SAMPLING_PARAMETERS,
    ]);
  });

  test("do not include one that the endpoint lacks, or that the provider refuses or does not know", () => {
    expect(describeEndpoint(CHAT, { lacks: ["temperature"] })).toEqual(["max_tokens", "stop"]);
    const refusing = { ...CHAT, quirks: { refusedFields: ["stop"] } };
    expect(describeEndpoint(refusing)).toEqual(["max_tokens", "temperature"]);
    const knowing = {
      ...CHAT,
      parameters,
      quirks: { knownFields: ["random_seed"], randomSeed: true },
    } as const;
    expect(describeEndpoint(knowing)).toEqual(["max_tokens", "seed"]);
  });

  test("leave out one that a family accepts with one value only, and include one that it accepts without reasoning", () => {
    const family = (rule: ParameterRule) => [
      { models: ["acme/*"], parameters: { temperature: rule }, source: "a test" },
    ];
    expect(describeEndpoint(CHAT, {}, ["temperature"], family({ values: [1] }))).toEqual(["stop"]);
    const without = family({ values: [1], whileReasoning: true });
    expect(describeEndpoint(CHAT, {}, ["max_tokens"], without)).toEqual([
      "max_tokens",
      "stop",
      "temperature",
    ]);
    expect(describeEndpoint(CHAT, {}, [], family({ max: 1 }))).toEqual(["stop", "temperature"]);
  });

  test("are what the operator says, whatever others say", () => {
    const takesByOperator = { stop: "no", temperature: "yes", top_k: { max: 40 } } as const;
    const refusing = { ...CHAT, quirks: { takes: { temperature: "no" }, refusedFields: ["top_k"] } } as const;
    expect(describeEndpoint(refusing, { lacks: ["temperature"], takesByOperator }, [])).toEqual([
      "temperature",
      "top_k",
    ]);
  });

  test("are not resolved for an embedding model", () => {
    const model = { outputModalities: ["embedding"], endpoints: [{}] } as unknown as ModelRecord;
    expect(addProfiles([model], [], [])[0]?.endpoints[0]?.profile).toBeUndefined();
  });
});

describe("the shipped catalog", () => {
  test("has no provider whose row lists a parameter that its quirks remove", () => {
    for (const { slug, parameters = [], quirks } of data.providers) {
      const { knownFields, refusedFields = [], randomSeed } = quirks;
      for (const parameter of parameters) {
        const field = parameter === "seed" && randomSeed === true ? "random_seed" : parameter;
        expect(`${slug} ${field} ${knownFields?.includes(field) ?? true}`).toBe(`${slug} ${field} true`);
        expect(refusedFields).not.toContain(field);
      }
    }
  });
});
