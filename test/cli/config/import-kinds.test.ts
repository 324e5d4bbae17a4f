import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { stringify } from "yaml";
import { loadShippedCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { checkConfig } from "../../../src/app/config/load-config.ts";
import { parseYaml } from "../../../src/app/config/yaml-source.ts";
import { importLitellm } from "../../../src/app/import/import-litellm.ts";
import { importPortkey } from "../../../src/app/import/import-portkey.ts";
import { PYTHON_YAML } from "../../../src/app/import/python-yaml.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { manage } from "../../support/money.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const catalog = loadShippedCatalog();

// biome-ignore lint/suspicious/noExplicitAny: the tests read what a file may have
type Written = Record<string, any>;

/** Converts a LiteLLM file, and checks that the result is a valid configuration. */
function convert(yaml: string) {
  const { config, entries } = importLitellm([parseYaml(yaml, "config.yaml", PYTHON_YAML)], catalog);
  checkConfig(stringify(config), "gateway.yaml", { SLACK_WEBHOOK_URL: "https://hooks.example/x" });
  const of = (outcome: string) => entries.filter((entry) => entry.outcome === outcome);
  return { config: config as Written, entries, missing: of("missing"), unpriced: of("unpriced"), of };
}

const model = (name: string, params: string, info = "{}") =>
  `model_list: [{model_name: "${name}", litellm_params: {${params}}, model_info: ${info}}]\n`;
const OWN = 'model: openai/own-model, api_base: "https://own.example/v1", api_key: k';
/** Returns the only own model of a configuration. */
const ownModel = (config: Written): Written =>
  Object.values(config["providers"] as Written).flatMap((provider) => provider.models ?? [])[0];

describe("prices of a LiteLLM file", () => {
  test("of cached, written, spoken and reasoned tokens and of longer prompts are those of the model", () => {
    const { config, unpriced } = convert(
      model(
        "own",
        `${OWN}, input_cost_per_token: 3e-6, output_cost_per_token: 0.000_015, cache_read_input_token_cost: 3.0e-07,
        cache_creation_input_token_cost: 3.75e-06, cache_creation_input_token_cost_above_1hr: "0.000006",
        input_cost_per_audio_token: 0.00004, output_cost_per_reasoning_token: 0.00002,
        input_cost_per_token_above_200k_tokens: 6e-06, output_cost_per_token_above_200k_tokens: 2.25e-05`,
      ),
    );
    const cached = { cache_read: "0.0000003", cache_write: "0.00000375", cache_write_1h: "0.000006" };
    const others = { audio_in: "0.00004", reasoning: "0.00002" };
    expect(ownModel(config)).toMatchObject({
      prices: { prompt: "0.000003", completion: "0.000015", ...cached, ...others },
      price_tiers: [
        { min_prompt_tokens: 200_001, prompt: "0.000006", completion: "0.0000225", ...cached, ...others },
      ],
    });
    expect(unpriced).toEqual([]);
  });

  test("are all of the catalog's for a deployment that names its base model, with those of cached tokens", () => {
    const { config } = convert(
      model(
        "gpt",
        'model: azure/ours, api_base: "https://x.openai.azure.com", api_key: k',
        "{base_model: azure/gpt-5}",
      ),
    );
    const { prices } = ownModel(config);
    expect(Number(prices.cache_read)).toBeGreaterThan(0);
    expect(Number(prices.cache_read)).toBeLessThan(Number(prices.prompt));
  });

  test("are those of the same model in another region of Bedrock, which the report names", () => {
    const { config, of } = convert(
      model("sonnet", "model: bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0, aws_region_name: us-east-1"),
    );
    expect(Number(ownModel(config).prices.cache_read)).toBeGreaterThan(0);
    expect(
      of("differs")
        .map(({ text }) => text)
        .join(),
    ).toContain("global.anthropic.claude-sonnet-4-5");
  });

  test("without one of cached tokens replace the catalog's, and the report says what cached tokens cost then", () => {
    const { config, of } = convert(
      model(
        "sonnet",
        "model: anthropic/claude-sonnet-4-5, api_key: k, input_cost_per_token: 0.000003, output_cost_per_token: 0.000015",
      ),
    );
    expect(Object.values(config["catalog"].overrides)).toEqual([
      { endpoints: { anthropic: { prices: { prompt: "0.000003", completion: "0.000015" } } } },
    ]);
    expect(of("differs")).toContainEqual(
      expect.objectContaining({ text: expect.stringContaining("add cache_read") }),
    );
  });

  test("of images, speech, transcription and searches are per unit", () => {
    const prices = (params: string, mode: string) =>
      ownModel(convert(model("m", `${OWN}, ${params}`, `{mode: ${mode}}`)).config).prices;
    expect(prices("output_cost_per_image: 0.04", "image_generation").generated_image).toBe("0.04");
    expect(prices("input_cost_per_character: 0.000015", "audio_speech").character).toBe("0.000015");
    expect(prices("input_cost_per_second: 0.0001", "audio_transcription").audio_second).toBe("0.0001");
    expect(prices("input_cost_per_query: 0.002", "rerank").search).toBe("0.002");
  });

  test("that have no equal are named, and a model without any heads the report", () => {
    const { missing, entries } = convert(model("own", `${OWN}, input_cost_per_token_batches: 0.1`));
    expect(missing.map(({ source }) => source)).toEqual([
      "model_list.0.litellm_params.input_cost_per_token_batches",
    ]);
    expect(entries.filter(({ outcome }) => outcome === "unpriced")).toMatchObject([
      { source: "model_list.0" },
    ]);
  });
});

describe("names of a LiteLLM file", () => {
  test("are the only models that may be called, with their aliases", () => {
    const { config } = convert(
      `${model("Fast Model (new)", "model: openai/gpt-4o-mini, api_key: k")}router_settings: {model_group_alias: {gpt-3.5-turbo: "Fast Model (new)"}}\n`,
    );
    expect(config["policy"]).toEqual({
      allowed_models: ["fast model (new)", "gpt-3.5-turbo"],
      denied_models: ["gateway-auto/*"],
    });
    expect(config["named_routes"]["gpt-3.5-turbo"]).toEqual({ kind: "alias", target: "fast model (new)" });
  });

  test("with a * lead to one model, to a provider's models, or to all", () => {
    const { config, missing } = convert(`
model_list:
  - {model_name: "claude-*", litellm_params: {${OWN}, input_cost_per_token: 0, output_cost_per_token: 0}}
  - {model_name: "groq/*", litellm_params: {model: "groq/*", api_key: k}}
  - {model_name: "*", litellm_params: {model: "openai/*", api_key: k}}
`);
    expect(config["named_routes"]).toEqual({
      "claude-*": { kind: "alias", target: "own-example/own-model" },
      "groq/*": { kind: "alias", target: "*", provider: "groq", replaces_model: true },
      "*": { kind: "alias", target: "*", provider: "openai", replaces_model: true },
    });
    expect(missing).toEqual([]);
  });

  test("of a host's unknown models, and those with two *, are named as lost", () => {
    const { missing } = convert(`
model_list:
  - {model_name: "lm/*", litellm_params: {model: "openai/*", api_base: "http://127.0.0.1:1234/v1"}}
  - {model_name: "fo::*:static::*", litellm_params: {model: "openai/fo::*:static::*", api_key: k}}
  - {model_name: plain, litellm_params: {model: "openai/*", api_key: k}}
`);
    expect(missing.map(({ source }) => source)).toEqual(["model_list.0", "model_list.1", "model_list.2"]);
  });

  test("for all models of LiteLLM keep its names, which the file's own precede", () => {
    const { config } = convert(`
model_list:
  - {model_name: "*", litellm_params: {model: "*"}}
  - {model_name: "gpt-*", litellm_params: {model: openai/gpt-4o, api_key: k}}
`);
    expect(config["named_routes"]).toMatchObject({
      "gpt-*": { target: "openai/gpt-4o" },
      "claude-*": { target: "claude-*", provider: "anthropic" },
      "gemini/*": { target: "*", provider: "google" },
    });
  });

  test("that differ only in letter case are one here, and the report names the second", () => {
    const { missing } = convert(
      "model_list: [{model_name: A, litellm_params: {model: openai/gpt-4o}}, {model_name: a, litellm_params: {model: openai/gpt-5}}]",
    );
    expect(missing).toMatchObject([{ source: "model_list.1", text: expect.stringContaining("letter case") }]);
  });

  test("of fallbacks that do not exist are named as lost, and others keep their order", () => {
    const { config, missing } = convert(`
model_list:
  - {model_name: a, litellm_params: {model: openai/gpt-4o, api_key: k}}
  - {model_name: b, litellm_params: {model: anthropic/claude-sonnet-4-5, api_key: k}}
  - {model_name: "groq/*", litellm_params: {model: "groq/*", api_key: k}}
litellm_settings: {fallbacks: [{a: [b, nothing, groq/llama-3.3-70b-versatile]}, {gone: [a]}]}
`);
    expect(config["named_routes"].a.targets.map(({ model: id }: { model: string }) => id)).toEqual([
      "openai/gpt-4o",
      "anthropic/claude-sonnet-4.5",
      "groq/llama-3.3-70b-versatile",
    ]);
    expect(missing.map(({ text }) => text)).toEqual([
      'No model with the name "nothing" was taken over.',
      'No model with the name "gone" was taken over.',
    ]);
  });
});

describe("values of a LiteLLM file", () => {
  test.each([
    ["80_000", 80_000],
    ["010", 8],
    ["0x10", 16],
    ["0b101", 5],
    ["1:30", 90],
    ["1.5e+3", 1_500],
    ["0o17", "0o17"],
    ["1e5", "1e5"],
    ["+.5", "+.5"],
    ["yes", true],
    ["Off", false],
    ["y", "y"],
    ["~", null],
    ["'80_000'", "80_000"],
  ])("are read as PyYAML reads them: %s", (text, value) => {
    expect(parseYaml(`value: ${text}`, "config.yaml", PYTHON_YAML).value).toEqual({ value });
  });

  test("of repeated keys are the last ones, with a line of the report, and merged mappings are merged", () => {
    const { config, of } = convert(`
defaults: &defaults {api_base: "https://own.example/v1", input_cost_per_token: 0, output_cost_per_token: 0}
model_list:
  - model_name: own
    litellm_params:
      <<: *defaults
      model: openai/first
      model: openai/second
`);
    expect(ownModel(config)).toMatchObject({ name: "second", prices: { prompt: "0" } });
    expect(of("differs")).toContainEqual(expect.objectContaining({ source: "model", line: 8 }));
  });

  test("of rpm and tpm are only weights, unless LiteLLM is told to enforce them", () => {
    const list = model("gpt", "model: openai/gpt-4o, api_key: k, rpm: 1_000, max_parallel_requests: 5");
    expect(convert(list).config["limits"].models["openai/gpt-4o"]).toEqual({ concurrent: 5 });
    for (const settings of [
      "optional_pre_call_checks: [enforce_model_rate_limits]",
      "enable_pre_call_checks: on",
      "routing_strategy: usage-based-routing-v2",
    ])
      expect(
        convert(`${list}router_settings: {${settings}}\n`).config["limits"].models["openai/gpt-4o"],
      ).toEqual({ requests_per_minute: 1_000, concurrent: 5 });
  });

  test("that switch nothing on lose nothing", () => {
    const { missing } = convert(
      `${model("gpt", "model: openai/gpt-4o, api_key: k, timeout: null")}general_settings: {database_url: null, custom_auth: ""}\nlitellm_settings: {cache: off, set_verbose: False, callbacks: []}\n`,
    );
    expect(missing).toEqual([]);
  });
});

describe("addresses of a LiteLLM file", () => {
  test("of Ollama lead to its API in OpenAI's format", () => {
    const { config } = convert(model("llama", 'model: ollama/llama3.2, api_base: "http://localhost:11434/"'));
    expect(config["providers"]["localhost-11434"].base_url).toBe("http://localhost:11434/v1");
  });

  test("of Gemini with a version are Vertex AI's with a key, and others are lost", () => {
    const at = (url: string) =>
      convert(model("g", `model: gemini/gemini-2.5-flash, api_key: k, api_base: "${url}"`));
    expect(
      Object.keys(at("https://aiplatform.googleapis.com/v1/publishers/google").config["providers"]),
    ).toEqual(["google-vertex"]);
    expect(at("https://proxy.example/v1/models").missing).toHaveLength(1);
  });

  test("of models whose kind nothing states are for the endpoint that their names mean", () => {
    const { config } = convert(model("e", 'model: hosted_vllm/bge-m3, api_base: "http://127.0.0.1:8000/v1"'));
    expect(ownModel(config)).toMatchObject({ output: "embedding" });
  });
});

test("Slack alerts of a LiteLLM file become a webhook with the gateway's events", () => {
  const { config } = convert(
    `${model("gpt", "model: openai/gpt-4o, api_key: k")}general_settings: {alerting: [slack]}\n`,
  );
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  expect(config["webhooks"]).toEqual([{ url: "${SLACK_WEBHOOK_URL}", format: "slack" }]);
});

test("a free model of a LiteLLM file keeps its name, and cannot be called without a key", () => {
  const free = catalog.models.find(
    ({ id, endpoints }) =>
      id.endsWith(":free") && endpoints.some(({ provider }) => provider === "openrouter"),
  );
  const { config, missing } = convert(
    model(`openrouter/${free?.id}`, `model: openrouter/${free?.endpoints[0]?.name}, api_key: k`),
  );
  expect(config["policy"].allowed_models).toEqual([`openrouter/${free?.id}`]);
  expect(config["limits"]).toEqual({ anonymous_requests_per_hour: 0 });
  expect(missing).toEqual([]);
});

test("a Portkey target that takes the model from the request opens the models of the imported providers only", () => {
  const source = JSON.stringify({ provider: "openai", api_key: "k" });
  const { config } = importPortkey(parseYaml(source, "config.json"), "any", catalog);
  expect(config["policy"]).toEqual({ allowed_providers: ["openai"] });
});

describe("a gateway on an imported LiteLLM file", () => {
  let vendor: RecordingVendor;
  let gateway: TestGateway;

  beforeAll(async () => {
    vendor = startRecordingVendor();
    const { config } = convert(`
model_list:
  - {model_name: own, litellm_params: {model: openai/own-model, api_base: "${vendor.baseUrl}", api_key: k, input_cost_per_token: 0.000003, output_cost_per_token: 0.000015, cache_read_input_token_cost: 3.0e-07}}
  - {model_name: "claude-*", litellm_params: {model: openai/own-model, api_base: "${vendor.baseUrl}", api_key: k}}
  - {model_name: broken, litellm_params: {model: openai/broken, api_base: "${vendor.baseUrl}", api_key: k, input_cost_per_token: 0, output_cost_per_token: 0}}
  - {model_name: mini, litellm_params: {model: openai/gpt-4o-mini, api_key: k}}
  - {model_name: openai/gpt-5, litellm_params: {model: openai/gpt-5-mini, api_key: k}}
  - {model_name: "groq/*", litellm_params: {model: "groq/*", api_key: k}}
router_settings: {fallbacks: [{broken: [own]}]}
`);
    gateway = await startTestGateway({ yaml: stringify(config) });
  });
  afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

  const answer = {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }],
    usage: {
      prompt_tokens: 10_000,
      completion_tokens: 10,
      total_tokens: 10_010,
      prompt_tokens_details: { cached_tokens: 9_000 },
    },
  };
  const ask = async (name: string) => {
    vendor.reset(({ text }) =>
      text.includes('"model":"broken"') ? new Response("{}", { status: 500 }) : Response.json(answer),
    );
    const response = await postChat(gateway, { model: name, messages: [{ role: "user", content: "Hi" }] });
    const body = (await response.json()) as Written;
    return { status: response.status, model: body["model"] as string, cost: body["usage"]?.cost as number };
  };

  test("answers the names of the file, with the price of cached tokens, and by its fallbacks", async () => {
    const own = await ask("own");
    expect(own.status).toBe(200);
    expect(own.cost).toBeCloseTo(1_000 * 3e-6 + 9_000 * 3e-7 + 10 * 15e-6, 12);
    expect((await ask("claude-sonnet-9")).model).toBe(own.model);
    expect((await ask("broken")).model).toBe(own.model);
  });

  test("answers and lists nothing else", async () => {
    for (const name of [
      "openai/gpt-4o-mini",
      "openai/gpt-4o",
      "own/own-model",
      "claude",
      "gateway-auto/balanced",
    ])
      expect([name, (await ask(name)).status]).toEqual([name, /^(own|claude)/.test(name) ? 400 : 403]);
    const response = await fetch(`${gateway.base}/models`, {
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    const ids = ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(ids.filter((id) => !id.startsWith("groq/")).sort()).toEqual([
      "broken",
      "mini",
      "openai/gpt-5",
      "own",
    ]);
  });

  test("leads names of a provider's wildcard to its models", async () => {
    const explained = await manage(gateway, "/route/explain", {
      api: "chat.completions",
      request: { model: "groq/llama-3.3-70b-versatile", messages: [{ role: "user", content: "Hi" }] },
    });
    const { data } = explained.body as Written;
    expect(data.candidates.map(({ provider }: { provider: string }) => provider)).toEqual(["groq"]);
  });
});
