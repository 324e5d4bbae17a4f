import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { loadShippedCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { checkConfig } from "../../../src/app/config/load-config.ts";
import { buildServing } from "../../../src/app/serving/build-serving.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { formatImportedCatalog } from "../../../src/core/catalog/records/format-catalog.ts";
import type { ModelRecord } from "../../../src/core/catalog/records/records.ts";
import {
  findModelProblems,
  parseImportedCatalog,
} from "../../../src/core/catalog/served/validate-catalog.ts";
import { createHttp1Transport } from "../../../src/providers/http1/transport.ts";
import { createSandboxTransport } from "../../../src/providers/sandbox/sandbox-transport.ts";
import { growsLinearly, LARGER } from "../../growth/measure-growth.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { withStoresOf } from "../../support/money.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { threadTimeMs } from "../../support/thread-time.ts";

const ENVIRONMENT = {
  OPENAI_API_KEY: "sk-test-openai-0001",
  GROQ_API_KEY: "gsk-test-groq-0001",
  MISTRAL_API_KEY: "test-mistral-0001",
  DEEPINFRA_API_KEY: "test-deepinfra-0001",
};
const MODELS = 2_400;
const PROVIDERS = ["deepinfra", "groq", "mistral", "openai"];

const models = Array.from(
  { length: MODELS },
  (_, index): ModelRecord => ({
    id: `openai/test-${index}`,
    name: `Test ${index}`,
    description: null,
    released: "2026-01-01",
    inputModalities: ["text", "image"],
    outputModalities: ["text"],
    tokenizer: null,
    supportedParameters: ["max_tokens", "temperature", "top_p", "tools", "tool_choice", "response_format"],
    expires: null,
    endpoints: PROVIDERS.map((provider, at) => ({
      provider,
      name: `test-${index}`,
      contextLength: 128_000,
      maxOutputTokens: 16_000,
      prices: { prompt: `0.00000${at + 1}`, completion: `0.0000${at + 1}`, cacheRead: "0.0000001" },
      lacks: at === 0 ? ["image"] : [],
    })),
  }),
);

let gateway: TestGateway;
let narrowKey: string;
beforeAll(async () => {
  const dataDir = makeTempFolder("gateway-many-");
  await withStoresOf({ dataDir }, ({ catalog }) => catalog.writeCatalog({ source: "a test", models }));
  // With the system clock, the lists may be prepared in the background while a test counts.
  const clock = createTestClock();
  gateway = await startTestGateway({ clock, dataDir, environment: ENVIRONMENT, yaml: "sandbox: off" });
  const create = createAccountTools(gateway);
  const account = await create.user("Ada", { policy: { denied_providers: ["openai"] } });
  narrowKey = await create.key(account);
});
afterAll(() => gateway.stop());

/** Returns how many values are encoded as JSON during `work`. */
async function countWritten(work: () => Promise<unknown>): Promise<number> {
  const stringify = spyOn(JSON, "stringify");
  try {
    await work();
    return stringify.mock.calls.length;
  } finally {
    stringify.mockRestore();
  }
}

for (const [what, path, hasKey] of [
  ["the served models", "/models", false],
  ["the whole catalog", "/models?all=true", false],
  ["the models that a policy allows", "/models", true],
] as const) {
  test(`the list of ${what} is built once and then sent from a cache, or answered with 304`, async () => {
    const headers: Record<string, string> = hasKey ? { authorization: `Bearer ${narrowKey}` } : {};
    const get = (more: Record<string, string> = {}) =>
      fetch(gateway.base + path, { headers: { ...headers, ...more } });
    let first = new Response();
    const builtWith = await countWritten(async () => {
      first = await get();
    });
    expect(builtWith).toBeGreaterThanOrEqual(MODELS);
    const { data } = (await first.json()) as { data: { pricing: { prompt: string } }[] };
    expect(data).toHaveLength(MODELS);
    const etag = first.headers.get("etag") ?? "";
    expect((await get({ "if-none-match": etag })).status).toBe(304);
    expect(await countWritten(async () => (await get()).arrayBuffer())).toBeLessThan(MODELS / 1_000);
    expect(await countWritten(() => get({ "if-none-match": etag }))).toBeLessThan(MODELS / 1_000);
  });
}

test("a list that is restricted by a policy has its own entity tag", async () => {
  const tagOf = async (headers: Record<string, string>) =>
    (await fetch(`${gateway.base}/models`, { headers })).headers.get("etag");
  expect(await tagOf({ authorization: `Bearer ${narrowKey}` })).not.toBe(await tagOf({}));
});

/** Returns the least processor time of this thread in three runs of `work`. Milliseconds. */
function timeQuickest(work: () => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const begin = threadTimeMs();
    work();
    return threadTimeMs() - begin;
  });
  return Math.min(...times);
}

test("reading a catalog and joining it with provider keys take time linear in its models, and less than 15 times as long as parsing it", () => {
  const transport = createHttp1Transport({ clock: systemClock });
  const sandboxTransport = createSandboxTransport({ clock: systemClock });
  const config = checkConfig("sandbox: off", "gateway.yaml", { GATEWAY_DATA_DIR: gateway.dataDir });
  const sources = { config, environment: ENVIRONMENT, clock: systemClock, transport, sandboxTransport };
  const { providers } = loadShippedCatalog();
  const open = (text: string, count: number) => {
    const load = () => {
      const { value } = parseImportedCatalog("catalog.json", text);
      expect(findModelProblems(value?.models ?? [], providers)).toEqual([]);
      return { source: "a test", providers, models: value?.models ?? [], families: [] };
    };
    const data = load();
    const join = () => buildServing(data, sources);
    expect(join().servedModels.models).toHaveLength(count);
    return { load, join };
  };
  const fewer = models.slice(0, MODELS / LARGER);
  const text = formatImportedCatalog("a test", models);
  const small = open(formatImportedCatalog("a test", fewer), fewer.length);
  const large = open(text, MODELS);
  const parsing = timeQuickest(() => JSON.parse(text));
  for (const step of ["load", "join"] as const) {
    expect([step, growsLinearly(small[step], large[step])]).toEqual([step, true]);
    expect(timeQuickest(large[step]) / parsing).toBeLessThan(15);
  }
  transport.close();
});
