import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { createWorkspace } from "../support/gateway/run-gateway.ts";
import { type RecordingVendor, startRecordingVendor } from "../support/vendors/recording-vendor.ts";

let vendor: RecordingVendor;
let gateway: TestGateway;
const workspace = createWorkspace();

const TOKENS = 'prices: { prompt: "0", completion: "0"';
/** Models of an own host: those whose id ends in `none` have no price. */
const MODELS = `
      - { id: own/chat-none }
      - { id: own/chat, ${TOKENS} } }
      - { id: own/chat-none:free }
      - { id: own/embed-none, output: embedding }
      - { id: own/embed, output: embedding, ${TOKENS} } }
      - { id: own/image-none, output: image, ${TOKENS} } }
      - { id: own/image, output: image, ${TOKENS}, generated_image: "0" } }
      - { id: own/image-tokens, output: image, prices: { prompt: "0.000001", completion: "0.00001" } }
      - { id: own/speech-none, output: speech, ${TOKENS} } }
      - { id: own/transcription, output: transcription, ${TOKENS}, audio_second: "0.0001" } }
      - { id: own/rerank-none, output: rerank, ${TOKENS} } }
`;
const UNPRICED = ["own/chat-none", "own/embed-none", "own/image-none", "own/speech-none", "own/rerank-none"];

const yamlFor = (baseUrl: string) => `
providers:
  own:
    base_url: "${baseUrl}"
    api_keys: [k]
    models:${MODELS}`;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({ yaml: yamlFor(vendor.baseUrl) });
});
beforeEach(() => vendor.reset());
afterAll(async () => {
  workspace.clear();
  await Promise.all([gateway.stop(), vendor.stop()]);
});

function write(yaml: string): string {
  const file = join(workspace.folder, "checked.yaml");
  writeFileSync(file, yaml);
  return file;
}

describe("a model of the configuration without a price", () => {
  test("is named in the log when the gateway starts", () => {
    const line = gateway.log.find(({ event }) => event.includes("no price"));
    expect(line).toMatchObject({ level: "warn", fields: { count: UNPRICED.length } });
    expect(String(line?.fields["models"]).split(", ").sort()).toEqual([...UNPRICED].sort());
  });

  test("is marked in the list of models, and no other is", async () => {
    const response = await fetch(`${gateway.base}/models?output_modalities=all`);
    const { data } = (await response.json()) as { data: { id: string; is_price_unknown?: true }[] };
    const marked = data.filter((model) => model.is_price_unknown === true).map(({ id }) => id);
    expect(marked.filter((id) => id.startsWith("own/")).sort()).toEqual(
      [...UNPRICED].filter((id) => data.some((model) => model.id === id)).sort(),
    );
    expect(marked).toContain("own/chat-none");
  });

  test.each([["own/chat-none"], ["own/chat"], ["own/chat-none:free"]])(
    "says so in its answers, which others do not: %s",
    async (model) => {
      const response = await postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });
      const answer = (await response.json()) as {
        gateway_metadata?: { warnings: { field: string; message: string }[] };
      };
      const expected =
        model === "own/chat-none"
          ? [{ field: "model", message: expect.stringContaining("no price") }]
          : undefined;
      expect(answer.gateway_metadata?.warnings).toEqual(expected);
    },
  );

  test("says so in streamed answers, too", async () => {
    const response = await postChat(gateway, {
      model: "own/chat-none",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(await response.text()).toContain("no price");
  });

  test("says so in embeddings, too", async () => {
    vendor.reset(() =>
      Response.json({
        object: "list",
        data: [{ index: 0, embedding: [0.5] }],
        model: "m",
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    );
    const response = await fetch(`${gateway.base}/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "own/embed-none", input: "a" }),
    });
    expect(await response.text()).toContain("no price");
  });

  test("is a warning of config check with its place in the file", async () => {
    const { exitCode, stdout } = await workspace.run([
      "config",
      "check",
      write(yamlFor("http://127.0.0.1:9/v1")),
    ]);
    const warned = stdout
      .split("\n")
      .filter((line) => line.startsWith("warning:") && line.includes("not charged"));
    expect(exitCode).toBe(0);
    expect(warned).toHaveLength(UNPRICED.length);
    for (const id of UNPRICED) expect(warned.some((line) => line.includes(`(${id})`))).toBe(true);
    expect(warned[0]).toMatch(/yaml:7:9: providers\.own\.models\.0 /);
  });

  test("is a warning of doctor", async () => {
    const file = write(yamlFor("http://127.0.0.1:9/v1"));
    const { stdout } = await workspace.run(["doctor"], { GATEWAY_CONFIG: file });
    expect(stdout).toContain("own/chat-none");
    expect(stdout).toContain("not charged");
  });
});

describe("config check warns", () => {
  const warnings = async (yaml: string, environment: Readonly<Record<string, string>> = {}) => {
    const { stdout, exitCode } = await workspace.run(["config", "check", write(yaml)], environment);
    expect([exitCode, stdout]).toEqual([0, expect.any(String)]);
    return stdout.split("\n").filter((line) => line.startsWith("warning:") && /token|endpoint/.test(line));
  };
  const host = (more: string) =>
    `providers:\n  own: { base_url: "http://127.0.0.1:9/v1", api_keys: [k], models: [{ id: own/chat, ${more} }] }\n`;

  test("of prices per million tokens that are given per token, with the price to write", async () => {
    const [one, two, ...more] = await warnings(host('prices: { prompt: "0.15", completion: "2.50" }'));
    expect(more).toEqual([]);
    expect(one).toContain("providers.own.models.0.prices.prompt is $0.15 for each token");
    expect(one).toContain('"0.00000015"');
    expect(two).toContain('"0.0000025"');
  });

  test("of prices per token that were divided by a million once more", async () => {
    const found = await warnings(host('prices: { prompt: "0.00000000000015", completion: "0.0000006" }'));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("$0.00000015 per million tokens");
  });

  test("of such prices in overrides, their tiers, and pricing rules, and of none that is usual or per request", async () => {
    const yaml = `
catalog:
  overrides:
    openai/gpt-4o-mini: { endpoints: { openai: { prices: { prompt: "0.15", completion: "0.0000006", request: "0.5", search: "0.01", cache_read: "0.075" }, price_tiers: [{ min_prompt_tokens: 1000, prompt: "0.3", completion: "0.0000012" }] } } }
pricing:
  rules:
    - { plans: [pro], prices: { prompt: "3", completion: "0.00003" } }
`;
    const found = await warnings(yaml);
    expect(found.map((line) => /: (\S+) is \$/.exec(line)?.[1]).sort()).toEqual([
      "catalog.overrides.openai/gpt-4o-mini.endpoints.openai.price_tiers.0.prompt",
      "catalog.overrides.openai/gpt-4o-mini.endpoints.openai.prices.cache_read",
      "catalog.overrides.openai/gpt-4o-mini.endpoints.openai.prices.prompt",
      "pricing.rules.0.prices.prompt",
    ]);
  });

  test.each([
    ["0.005", true],
    ["0.0006", false],
    ["0.00000001", false],
    ["0.0000000001", false],
    ["0.000000000075", true],
  ])("of the price %s for a token: %p", async (price, isOdd) => {
    expect(await warnings(host(`prices: { prompt: "${price}", completion: "0" }`))).toHaveLength(
      isOdd ? 1 : 0,
    );
  });

  test.each([
    ["http://127.0.0.1:9/v1/chat/completions", "http://127.0.0.1:9/v1"],
    ["http://127.0.0.1:9/v1/messages/", "http://127.0.0.1:9/v1"],
    ["http://127.0.0.1:9/openai/v1/responses", "http://127.0.0.1:9/openai/v1"],
    ["http://127.0.0.1:9/v1/embeddings", "http://127.0.0.1:9/v1"],
    ["http://127.0.0.1:9/v1/images/generations", "http://127.0.0.1:9/v1"],
  ])("of the base URL %s, which ends in the path of an endpoint", async (url, right) => {
    const price = 'prices: { prompt: "0", completion: "0" }';
    const found = await warnings(host(price).replace("http://127.0.0.1:9/v1", url));
    expect(found).toHaveLength(1);
    expect(found[0]).toEndWith(`write ${right}`);
  });

  test("of such a base URL in a provider's variable, and of no usual base URL", async () => {
    const environment = {
      OPENAI_API_KEY: "k",
      OPENAI_BASE_URL: "https://proxy.example/v1/chat/completions",
      ANTHROPIC_BASE_URL: "https://proxy.example/v1",
    };
    const found = await warnings(host('prices: { prompt: "0", completion: "0" }'), environment);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain("OPENAI_BASE_URL");
  });
});
