import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey } from "../../support/money.ts";
import {
  answerHello,
  type RecordedRequest,
  type RecordingVendor,
  startRecordingVendor,
} from "../../support/vendors/recording-vendor.ts";

const MODEL = `name: up, context_length: 1000, prices: {prompt: "0.000001", completion: "0"}`;

let vendor: RecordingVendor;
let gateway: TestGateway;
/** The key of an account without credits. */
let poor: string;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  mistral:
    base_url: ${vendor.baseUrl}
    api_keys: [mistral-key-1]
    models: [{id: mistralai/inner, ${MODEL}}]
  cellar:
    base_url: ${vendor.baseUrl}
    formats: [openai-completions]
    models: [{id: acme/inner, ${MODEL}}]
limits: {per_account: {tokens_per_minute: 1000000}}
`,
  });
  poor = await addAccountWithKey(gateway, { id: "user_poor" });
});
beforeEach(() => vendor.reset(withoutUsage));
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

/** Answers without counting tokens. */
async function withoutUsage(request: RecordedRequest): Promise<Response> {
  if (request.path.endsWith("/fim/completions")) {
    const { usage: _, ...rest } = (await answerHello(request).json()) as Record<string, unknown>;
    return Response.json(rest);
  }
  const choices = [{ index: 0, text: "Hello there.", finish_reason: "stop" }];
  return Response.json({ id: "cmpl-vendor", object: "text_completion", created: 1, model: "up", choices });
}

/** Escapes all characters of a JSON text that are not ASCII. */
function escapeAll(json: string): string {
  return json.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const PROMPT = "def add(a, b):";
/** 400 bytes. */
const SUFFIX = "end ".repeat(100);

describe.each([
  ["/completions", "acme/inner"],
  ["/fim/completions", "mistralai/inner"],
])("the suffix of a request to %s", (path, model) => {
  function ask(more: Readonly<Record<string, unknown>>, key = gateway.key): Promise<Response> {
    return fetch(gateway.base + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: escapeAll(JSON.stringify({ model, prompt: PROMPT, max_tokens: 10, ...more })),
    });
  }

  test("is part of what must be held before a provider is called", async () => {
    const requiredFor = async (suffix: string) => {
      const { error } = (await (await ask({ suffix }, poor)).json()) as {
        error: { metadata: { required: number } };
      };
      return error.metadata.required;
    };
    const [short, long] = [await requiredFor(""), await requiredFor(SUFFIX)];
    // A token for every two bytes, at a millionth of a dollar.
    expect(long - short).toBeCloseTo(200e-6, 9);
    expect(vendor.requests).toHaveLength(0);
  });

  test("is part of the tokens that are charged if the provider counts none", async () => {
    const countOf = async (suffix: string) => {
      const { usage } = (await (await ask({ suffix })).json()) as {
        usage: { prompt_tokens: number; cost: number; estimated: boolean };
      };
      expect(usage.estimated).toBe(true);
      expect(usage.cost).toBeCloseTo(usage.prompt_tokens / 1e6, 12);
      return usage.prompt_tokens;
    };
    expect((await countOf(SUFFIX)) - (await countOf(""))).toBe(100);
  });

  test("is part of the tokens that a rate limit reserves", async () => {
    const reserved: number[] = [];
    for (const suffix of ["", SUFFIX]) {
      const gate = Promise.withResolvers<void>();
      const called = Promise.withResolvers<void>();
      vendor.reset(async (request) => {
        called.resolve();
        await gate.promise;
        return withoutUsage(request);
      });
      const key = await addAccountWithKey(gateway, {
        id: `user_${reserved.length}${path.length}`,
        overdraft: 1e9,
      });
      const first = ask({ suffix }, key);
      await called.promise;
      // What is not served counts for nothing, and its answer says what is left.
      const other = await ask({ model: "acme/none" }, key);
      reserved.push(1_000_000 - Number(other.headers.get("x-ratelimit-remaining-tokens")));
      gate.resolve();
      await (await first).text();
    }
    expect(reserved[1]! - reserved[0]!).toBe(100);
  });

  test("fills the context window together with the prompt", async () => {
    const words = (count: number) => "word ".repeat(count);
    const fits = await ask({ prompt: words(400), suffix: words(400) });
    expect(fits.status).toBe(200);
    const both = await ask({ prompt: words(750), suffix: words(750) });
    expect([both.status, await both.json()]).toMatchObject([
      400,
      { error: { type: "context_length_exceeded" } },
    ]);
    const suffix = await ask({ suffix: words(1_800) });
    expect(suffix.status).toBe(400);
    expect(vendor.requests).toHaveLength(1);
  });

  test("is measured by its characters, not by its escapes", async () => {
    // 250 words of about two tokens, whose escapes are 9,250 characters.
    const suffix = "привет ".repeat(250);
    expect((await ask({ suffix })).status).toBe(200);
  });
});
