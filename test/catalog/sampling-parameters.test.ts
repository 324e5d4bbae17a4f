import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/load-catalog.ts";
import { GatewayError } from "../../src/base/errors.ts";
import {
  type ModelEndpoint,
  type ModelRecord,
  type ProviderRecord,
  SAMPLING_PARAMETERS,
  type SamplingParameter,
} from "../../src/core/catalog/records.ts";
import { addSamplingParameters, EXPRESSIBLE } from "../../src/core/catalog/sampling-parameters.ts";
import type { FormatName } from "../../src/wire/conversation/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/format-name.ts";
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
    return request.encode(makeTarget(format)).warnings.length === 0;
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
): readonly string[] | undefined {
  const model = {
    id: "acme/model",
    outputModalities: ["text"],
    supportedParameters,
    endpoints: [{ provider: provider.slug, ...more }],
  } as unknown as ModelRecord;
  const row = { quirks: {}, ...provider } as ProviderRecord;
  return addSamplingParameters([model], [row])[0]?.endpoints[0]?.takes;
}

describe("the sampling parameters of a format", () => {
  const pairs = FORMAT_NAMES.flatMap((format) =>
    SAMPLING_PARAMETERS.map((parameter) => [parameter, format] as const),
  );
  test.each(pairs)(
    "include %s exactly if a request with it reaches an upstream in %s",
    (parameter, format) => {
      expect(EXPRESSIBLE[format].includes(parameter)).toBe(reaches(format, SET[parameter]));
    },
  );
});

describe("the sampling parameters of a model endpoint", () => {
  const CHAT = { slug: "acme", format: "openai-chat" } as const;

  test("are only stop if the provider's row lists none", () => {
    expect(describeEndpoint(CHAT)).toEqual(["stop"]);
  });

  test("are those of the row that the endpoint's format can express", () => {
    const parameters = SAMPLING_PARAMETERS;
    expect(describeEndpoint({ ...CHAT, parameters })).toEqual([...SAMPLING_PARAMETERS]);
    expect(describeEndpoint({ ...CHAT, parameters }, { format: "openai-responses" })).toEqual([
      "logprobs",
      "top_logprobs",
    ]);
  });

  test("do not include those that depend on a temperature, and in OpenAI's format stop, if the model accepts no temperature", () => {
    const parameters = SAMPLING_PARAMETERS;
    const fixed = describeEndpoint({ ...CHAT, parameters }, {}, ["max_tokens"]);
    expect(fixed).toEqual(["n", "seed"]);
    expect(describeEndpoint({ ...CHAT, parameters }, { lacks: ["temperature"] })).toEqual(["n", "seed"]);
    const claude = { slug: "acme", format: "anthropic-messages" } as const;
    expect(describeEndpoint(claude, {}, ["max_tokens"])).toEqual(["stop"]);
  });

  test("are none for an embedding model", () => {
    const model = { outputModalities: ["embedding"], endpoints: [{}] } as unknown as ModelRecord;
    expect(addSamplingParameters([model], [])[0]?.endpoints[0]?.takes).toBeUndefined();
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
