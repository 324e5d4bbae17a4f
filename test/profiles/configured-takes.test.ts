import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import { startRecordingVendor } from "../support/vendors/recording-vendor.ts";
import { CHAT, MESSAGES, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

const CONFIGURED = {
  providers: {
    groq: { takes: { logit_bias: "yes", temperature: { max: 1 } } },
    mistral: { takes: { logit_bias: "yes" } },
    openai: { takes: { top_k: { max: 40 } } },
    deepseek: { takes: { structured_outputs: "yes" } },
    cellar: {
      base_url: "{vendor}",
      api_keys: ["sk-test-cellar-0001"],
      takes: { seed: "no", temperature: { max: 1 } },
      models: [
        { id: "cellar/plain", prices: { prompt: "0", completion: "0" } },
        {
          id: "cellar/own",
          prices: { prompt: "0", completion: "0" },
          takes: { seed: "yes", top_p: { not_with: { parameter: "temperature" } } },
        },
      ],
    },
  },
  catalog: {
    overrides: {
      "openai/gpt-4.1": {
        takes: { temperature: { min: 0.1, max: 0.9 }, seed: "no" },
        endpoints: { openai: { takes: { seed: "yes" } } },
      },
      "openai/gpt-5": { endpoints: { openai: { takes: { temperature: "yes" } } } },
      "mistralai/mistral-small-latest": { takes: { temperature: { max: 1 } } },
    },
  },
};

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(JSON.stringify(CONFIGURED));
});
afterAll(() => site.stop());

/** Returns the parameters that an endpoint of a model lists. */
async function listedBy(model: string, provider: string): Promise<readonly string[]> {
  const response = await fetch(`${site.gateway.base}/models/${model}/endpoints`);
  const { data } = (await response.json()) as {
    data: { endpoints: { tag: string; supported_parameters: string[] }[] };
  };
  return data.endpoints.find(({ tag }) => tag === provider)?.supported_parameters ?? [];
}

describe("what the configuration says that is taken", () => {
  test("of a provider precedes the provider's own refusal in the catalog", async () => {
    const given = { logit_bias: { "1": 2 }, temperature: 1.5, provider: { only: ["groq"] } };
    const { sent, named } = await site.ask(CHAT, "openai/gpt-oss-120b", given);
    expect(sent).toMatchObject({ logit_bias: { "1": 2 }, temperature: 1 });
    expect(named).toEqual(["temperature"]);
    expect(await listedBy("openai/gpt-oss-120b", "groq")).toContain("logit_bias");
  });

  test("precedes the lists of the fields that a provider refuses or knows", async () => {
    const refused = await site.ask(CHAT, "openai/gpt-4.1", { top_k: 50 });
    expect([refused.sent["top_k"], refused.named]).toEqual([40, ["top_k"]]);
    const unknown = await site.ask(CHAT, "mistralai/mistral-small-latest", { logit_bias: { "1": 2 } });
    expect([unknown.sent["logit_bias"], unknown.named]).toEqual([{ "1": 2 }, []]);
    expect(await listedBy("openai/gpt-4.1", "openai")).toContain("top_k");
  });

  test("lets a JSON Schema pass where the catalog says that there are none", async () => {
    const schema = { type: "object", properties: {} };
    const asking = { response_format: { type: "json_schema", json_schema: { name: "place", schema } } };
    const { sent, named } = await site.ask(CHAT, "deepseek/deepseek-v4-pro", {
      ...asking,
      provider: { only: ["deepseek"] },
    });
    expect([sent["response_format"], named]).toEqual([asking.response_format, []]);
    expect(await listedBy("deepseek/deepseek-v4-pro", "deepseek")).toContain("structured_outputs");
  });

  test("of a model precedes its family, and of an endpoint precedes its model", async () => {
    const family = await site.ask(CHAT, "openai/gpt-5", { temperature: 0.3 });
    expect([family.sent["temperature"], family.named]).toEqual([0.3, []]);
    expect(await listedBy("openai/gpt-5", "openai")).toContain("temperature");
    const endpoint = await site.ask(CHAT, "openai/gpt-4.1", { seed: 7, temperature: 0 });
    expect(endpoint.sent).toMatchObject({ seed: 7, temperature: 0.1 });
    expect(endpoint.named).toEqual(["temperature"]);
    expect(await listedBy("openai/gpt-4.1", "azure")).not.toContain("seed");
  });

  // Messages has no temperature above 1.
  test.each([CHAT, RESPONSES])("limits a parameter of $name", async (api) => {
    const { sent, named } = await site.ask(api, "mistralai/mistral-small-latest", { temperature: 1.4 });
    expect([sent["temperature"], named]).toEqual([1, ["temperature"]]);
  });

  test.each([CHAT, RESPONSES, MESSAGES])("limits a parameter that is translated from $name", async (api) => {
    const { sent } = await site.ask(api, "openai/gpt-4.1", { temperature: 1 });
    expect(sent["temperature"]).toBe(0.9);
  });

  test("of a host of the operator holds for its models, and of such a model precedes it", async () => {
    const given = { seed: 7, temperature: 1.5, top_p: 0.5 };
    const plain = await site.ask(CHAT, "cellar/plain", given);
    expect(plain.sent).toMatchObject({ temperature: 1, top_p: 0.5 });
    expect(plain.sent).not.toContainKey("seed");
    expect(plain.named).toEqual(["seed", "temperature"]);
    expect(await listedBy("cellar/plain", "cellar")).not.toContain("seed");
    const own = await site.ask(CHAT, "cellar/own", given);
    expect(own.sent).toMatchObject({ seed: 7, temperature: 1 });
    expect(own.named).toEqual(["temperature", "top_p"]);
  });
});

describe("a configuration that says what is taken", () => {
  const inOverride = (takes: unknown) => ({ catalog: { overrides: { "openai/gpt-4.1": { takes } } } });
  const inEndpoint = (takes: unknown) => ({
    catalog: { overrides: { "openai/gpt-4.1": { endpoints: { openai: { takes } } } } },
  });
  const inProvider = (takes: unknown) => ({ providers: { openai: { takes } } });
  const AT = [
    ["a model", inOverride, "catalog.overrides.openai/gpt-4.1.takes"],
    ["an endpoint", inEndpoint, "catalog.overrides.openai/gpt-4.1.endpoints.openai.takes"],
    ["a provider", inProvider, "providers.openai.takes"],
  ] as const;
  const WRONG = [
    ["is neither yes, no nor a rule", false],
    ["has no part", {}],
    ["has two parts", { values: [1], max: 1 }],
    ["has an unknown part", { max: 1, maximum: 1 }],
    ["has an empty range", { min: 2, max: 1 }],
  ] as const;
  const CASES = AT.flatMap(([where, write, path]) =>
    WRONG.map(([what, rule]) => [where, what, { write, path, rule }] as const),
  );

  test.each(CASES)(
    "of %s is rejected with the field and the remedy if a rule %s",
    (_where, _what, { write, path, rule }) => {
      const load = () => checkConfig(JSON.stringify(write({ temperature: rule })), "gateway.yaml", {});
      const remedy =
        rule !== false && "maximum" in rule
          ? ".maximum is not a known key"
          : " must be yes, no, or a rule with one of: values";
      expect(load).toThrow(`${path}.temperature${remedy}`);
    },
  );

  test("keeps the facts of a model apart from its parameters, also where both have the same name", () => {
    const takes = { reasoning: "always", sampling: false, seed: "no" };
    expect(() => checkConfig(JSON.stringify(inOverride(takes)), "gateway.yaml", {})).not.toThrow();
    const wrong = { reasoning: "sometimes" };
    expect(() => checkConfig(JSON.stringify(inOverride(wrong)), "gateway.yaml", {})).toThrow(
      "takes.reasoning",
    );
  });
});

test("a reload puts what is taken in force, and rejects a rule that says nothing", async () => {
  const vendor = startRecordingVendor();
  vendor.reset(answerAnyFormat);
  const print = (takes: unknown) =>
    JSON.stringify({
      providers: {
        cellar: {
          base_url: vendor.baseUrl,
          api_keys: ["sk-test-cellar-0001"],
          takes,
          models: [{ id: "cellar/plain", prices: { prompt: "0", completion: "0" } }],
        },
      },
    });
  let yaml = print({});
  const gateway = await startTestGateway({ yaml, readYaml: () => yaml });
  const reload = async (takes: unknown) => {
    yaml = print(takes);
    const headers = { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" };
    const url = `${gateway.url}/api/admin/settings/reload`;
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    return { status: response.status, text: await response.text() };
  };
  const sendSeed = async () => {
    await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...CHAT.body("cellar/plain"), seed: 7 }),
    });
    return JSON.parse(vendor.last().text).seed;
  };
  expect(await sendSeed()).toBe(7);
  expect((await reload({ seed: "no" })).status).toBe(200);
  expect(await sendSeed()).toBeUndefined();
  const rejected = await reload({ seed: {} });
  expect(rejected.status).toBe(409);
  expect(rejected.text).toContain("providers.cellar.takes.seed must be yes, no, or a rule");
  expect(await sendSeed()).toBeUndefined();
  await Promise.all([gateway.stop(), vendor.stop()]);
});
