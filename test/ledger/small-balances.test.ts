import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../src/wire/conversation/traits/format-name.ts";
import { CLIENT_APIS } from "../faults/client-apis.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { addAccountWithKey, balanceOf, findLedgerProblems, manage } from "../support/money.ts";
import { SCRIPTS } from "../support/vendors/scripts/all-scripts.ts";
import { USAGE_OF } from "../support/vendors/scripts/usage-of.ts";
import {
  chunkOf,
  closing,
  documentOf,
  healthy,
  opening,
  startVendor,
  textOf,
  type Vendor,
  type VendorCall,
} from "../support/vendors/vendor.ts";

/** Nanodollars per token. */
const PROMPT = 1_000;
const COMPLETION = 10_000;
const DOLLAR = 1_000_000_000;
/** The longest answer of every model here without another value. Tokens. */
const LONGEST = 100_000;

let vendor: Vendor;
let gateway: TestGateway;
let made = 0;

beforeAll(async () => {
  vendor = startVendor();
  const origin = vendor.baseUrl.replace(/\/v1$/, "");
  const prices = '{prompt: "0.000001", completion: "0.00001"}';
  const model = (id: string) =>
    `{id: ${id}, name: up, context_length: 128000, max_output_tokens: ${LONGEST}, prices: ${prices}}`;
  const rows = FORMAT_NAMES.map(
    (format) =>
      `  at-${format}: {format: ${format}, auth: bearer, base_url: "${vendor.baseUrl}", api_keys: [k], models: [${model(`acme/${format}`)}]}`,
  );
  gateway = await startTestGateway({
    yaml: `
limits: {attempts: 2, repeats: 0}
providers:
${rows.join("\n")}
  dear: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/fallback, name: dear, context_length: 128000, max_output_tokens: ${LONGEST}, prices: {prompt: "0.00001", completion: "0.0001"}}]}
  mistral: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [${model("mistralai/code")}]}
  openai: {base_url: "${vendor.baseUrl}", api_keys: [k]}
  anthropic: {base_url: "${origin}", api_keys: [k]}
`,
  });
});
afterEach(async () => {
  await eventually(
    "nothing is held and all adds up",
    async () => (await findLedgerProblems(gateway)).length === 0,
  );
});
afterAll(async () => {
  await gateway.stop();
  vendor.stop();
});

/** Adds an account with a balance, and returns its id and key. */
async function addAccount(nanodollars: number): Promise<{ readonly id: string; readonly key: string }> {
  made += 1;
  const id = `user_small${made}`;
  const key = await addAccountWithKey(gateway, { id });
  await manage(gateway, `/accounts/${id}/credits`, { amount: (nanodollars / DOLLAR).toFixed(9) });
  return { id, key };
}

function post(key: string, path: string, body: object, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const url = path.startsWith("/fim") ? `${gateway.url}/api${path}` : gateway.base + path;
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body), ...init });
}

const MODEL = "acme/openai-chat";
const messages = [{ role: "user", content: "Write a book." }];

function chat(key: string, more: object = {}, init: RequestInit = {}): Promise<Response> {
  return post(key, "/chat/completions", { model: MODEL, messages, ...more }, init);
}

/** A text of ten tokens, estimated by its bytes. */
const WORDS = "word ".repeat(8);

/** Sends a stream of `tokens` tokens in pieces of a thousand, until it is complete or its connection is closed. */
async function sendLongAnswer(
  call: VendorCall,
  tokens: number,
  format: FormatName = "openai-chat",
): Promise<void> {
  const script = SCRIPTS[format];
  let isClosed = false;
  void call.connection.closed.then(() => {
    isClosed = true;
  });
  await call.begin(200, { "content-type": script.contentType });
  await call.piece(script.begin("Once"));
  for (let said = 0; said < tokens && !isClosed; said += 1_000)
    await call.piece(script.more(WORDS.repeat(100)));
  if (isClosed) return;
  await call.piece(script.close("stop", USAGE_OF[format](10, tokens)));
  await call.end();
}

const restOf = (id: string) =>
  eventually("its hold is gone", async () => {
    const { balance, held } = await balanceOf(gateway, id);
    return held === 0 ? { balance } : null;
  });

describe("a stream without max_tokens that exceeds what its account covers", () => {
  for (const api of CLIENT_APIS) {
    for (const format of FORMAT_NAMES) {
      test(`the answer ends completely, with finish reason length and a warning: ${api.name} client, ${format} upstream`, async () => {
        const { id, key } = await addAccount(0.083 * DOLLAR);
        vendor.perform((call) => sendLongAnswer(call, LONGEST, format));
        const { max_tokens: _, ...asked } = api.ask(`acme/${format}`, true) as Record<string, unknown>;
        const response = await post(key, api.path, asked);
        const text = await response.text();
        const heard = api.readStream(text);
        expect([response.status, heard.ending]).toEqual([200, { finish: "length" }]);
        expect(text).toContain("does not cover more");
        // The last event of this API repeats the answer so far.
        if (api.name === "responses")
          expect(text.slice(text.lastIndexOf("event: response.incomplete"))).toContain("word word");
        const { balance } = await restOf(id);
        expect(balance).toBeGreaterThanOrEqual(0);
        // What the balance covers was delivered.
        expect(heard.usage).toMatchObject({ estimated: true });
        expect(heard.usage!.completion).toBeGreaterThan(7_000);
        expect(balance).toBeLessThan(0.083 * DOLLAR - 7_000 * COMPLETION);
        await vendor.calls[0]!.connection.closed;
      });
    }
  }

  test("the answer is bounded by the limits of key, member and organization in the same way", async () => {
    const limit = 0.083 * DOLLAR;
    const keys = [
      [
        "key",
        await addAccountWithKey(gateway, { id: "user_limited", overdraft: null }, { spendLimit: limit }),
      ],
      [
        "member",
        await addAccountWithKey(
          gateway,
          { id: "org_daily", kind: "organization", overdraft: null },
          { userId: "user_m" },
          { userId: "user_m", dailyLimit: limit },
        ),
      ],
      [
        "organization",
        await addAccountWithKey(gateway, {
          id: "org_monthly",
          kind: "organization",
          overdraft: null,
          monthlyLimit: limit,
        }),
      ],
    ] as const;
    for (const [of, key] of keys) {
      vendor.perform((call) => sendLongAnswer(call, LONGEST));
      const text = await (await chat(key, { stream: true })).text();
      expect(text).toContain('"finish_reason":"length"');
      expect(text).toContain(`what is left of the ${of}'s`);
      const spent = await fetch(`${gateway.base}/activity`, { headers: { authorization: `Bearer ${key}` } });
      const { data } = (await spent.json()) as { data: { cost_nanodollars: number }[] };
      expect(data.reduce((sum, { cost_nanodollars: cost }) => sum + cost, 0)).toBeWithin(
        limit / 2,
        limit + 1,
      );
    }
  });

  test("the hold grows with an answer that the account covers", async () => {
    const { id, key } = await addAccount(DOLLAR);
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(...opening("Once"));
      for (let said = 0; said < 30_000; said += 1_000) await call.events(textOf(WORDS.repeat(100)));
      await call.gate();
      await call.events(chunkOf({}, "stop"));
      await call.events(
        { ...chunkOf({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 30_000 } },
        "[DONE]",
      );
      await call.end();
    });
    const reading = chat(key, { stream: true }).then((response) => response.text());
    await (await vendor.call(0)).atGate;
    await eventually(
      "what came is held",
      async () => (await balanceOf(gateway, id)).held >= 30_000 * COMPLETION,
    );
    vendor.calls[0]!.openGate();
    expect(await reading).toContain('"finish_reason":"stop"');
    expect(await restOf(id)).toEqual({ balance: DOLLAR - 10 * PROMPT - 30_000 * COMPLETION });
  });
});

describe("an answer without max_tokens that is not streamed", () => {
  /** Reads the limit of an answer's length from a request in each format. */
  const BOUND_OF: Readonly<Record<FormatName, (body: VendorCall["body"]) => unknown>> = {
    "openai-chat": (body) => body["max_tokens"],
    "openai-responses": (body) => body["max_output_tokens"],
    "anthropic-messages": (body) => body["max_tokens"],
    gemini: (body) => (body["generationConfig"] as Record<string, unknown>)["maxOutputTokens"],
    "bedrock-converse": (body) => (body["inferenceConfig"] as Record<string, unknown>)["maxTokens"],
    "cohere-chat": (body) => body["max_tokens"],
  };

  for (const api of CLIENT_APIS) {
    for (const format of FORMAT_NAMES) {
      test(`the request to the upstream has a limit that the balance covers: ${api.name} client, ${format} upstream`, async () => {
        const { id, key } = await addAccount(0.083 * DOLLAR);
        let bound = 0;
        vendor.perform(async (call) => {
          bound = BOUND_OF[format](call.body) as number;
          await call.respond(200, SCRIPTS[format].document("Once", "length", USAGE_OF[format](10, bound)));
        });
        const { max_tokens: _, ...asked } = api.ask(`acme/${format}`, false) as Record<string, unknown>;
        const response = await post(key, api.path, asked);
        const text = await response.text();
        expect(api.readDocument(text).ending).toEqual({ finish: "length" });
        expect(bound).toBeWithin(7_000, 8_300);
        expect(JSON.parse(text).gateway_metadata.warnings).toEqual([
          {
            field: api.name === "responses" ? "max_output_tokens" : "max_tokens",
            message: expect.stringContaining("the account's balance"),
          },
        ]);
        expect((await restOf(id)).balance).toBeGreaterThan(0);
      });
    }
  }

  test("the answer may cost all that the balance covers, and no more", async () => {
    const { id, key } = await addAccount(0.083 * DOLLAR);
    vendor.perform((call) => {
      const usage = { prompt_tokens: 10, completion_tokens: call.body["max_tokens"] };
      return call.respond(200, documentOf("Once", { usage }));
    });
    const { usage } = (await (await chat(key)).json()) as {
      usage: { completion_tokens: number; cost: number };
    };
    expect(usage.completion_tokens).toBeGreaterThan(7_000);
    expect((await restOf(id)).balance).toBe(
      0.083 * DOLLAR - 10 * PROMPT - usage.completion_tokens * COMPLETION,
    );
  });

  test("an answer that ends by itself, or at a limit of the vendor, has no warning", async () => {
    const { key } = await addAccount(0.083 * DOLLAR);
    for (const finish of ["stop", "length"] as const) {
      vendor.perform((call) => call.respond(200, SCRIPTS["openai-chat"].document("Once", finish)));
      const body = (await (await chat(key)).json()) as Record<string, unknown>;
      expect(body["gateway_metadata"]).toBeUndefined();
    }
  });

  test("the request gets no limit if the account covers the longest answer many times", async () => {
    const { key } = await addAccount(100 * DOLLAR);
    vendor.perform(healthy("Alpha"));
    await (await chat(key)).text();
    await (await chat(key, { max_tokens: 90_000 })).text();
    expect(vendor.calls.map(({ body }) => body["max_tokens"])).toEqual([undefined, 90_000]);
  });

  test("the limit is sent in the field that the provider accepts", async () => {
    const { key } = await addAccount(0.02 * DOLLAR);
    vendor.perform((call) => call.respond(200, documentOf("Once")));
    for (const more of [{}, { max_tokens: 60_000 }, { max_completion_tokens: 60_000 }]) {
      await (await chat(key, { model: "openai/gpt-4o", ...more })).text();
    }
    expect(vendor.calls).toHaveLength(3);
    for (const { body } of vendor.calls) {
      expect(body["max_tokens"]).toBeUndefined();
      expect(body["max_completion_tokens"]).toBeWithin(256, 8_192);
    }
  });

  test("a fill in the middle with a small balance is limited to less than 1,000 tokens", async () => {
    const { key } = await addAccount(0.006 * DOLLAR);
    vendor.perform((call) => call.respond(200, documentOf("return a + b")));
    await (await post(key, "/fim/completions", { model: "mistralai/code", prompt: "def f(" })).text();
    expect(vendor.calls[0]!.body["max_tokens"]).toBeWithin(256, 1_000);
  });

  test("the thinking budget of a Messages client stays below the limit", async () => {
    const { key } = await addAccount(0.1 * DOLLAR);
    vendor.perform((call) => call.respond(200, SCRIPTS["anthropic-messages"].document("Once", "stop")));
    const thinking = { type: "enabled", budget_tokens: 20_000 };
    const body = { model: "anthropic/claude-sonnet-4.5", max_tokens: 32_000, thinking, messages };
    expect((await post(key, "/messages", body)).status).toBe(200);
    const sent = vendor.calls[0]!.body as { max_tokens: number; thinking: { budget_tokens: number } };
    expect(sent.max_tokens).toBeWithin(2_000, 7_000);
    expect(sent.thinking.budget_tokens).toBeWithin(1_024, sent.max_tokens);
  });
});

describe("a max_tokens above what the balance covers", () => {
  test("the hold for a max_tokens above the model's maximum is that of the model's maximum", async () => {
    const { id, key } = await addAccount(20 * DOLLAR);
    vendor.perform(async (call) => {
      await call.gate();
      await call.respond(200, documentOf("Once"));
    });
    const answer = chat(key, { max_tokens: 100_000_000 });
    await (await vendor.call(0)).atGate;
    const { held } = await balanceOf(gateway, id);
    expect(held).toBeWithin(LONGEST * COMPLETION, LONGEST * COMPLETION + 1_000 * PROMPT);
    vendor.calls[0]!.openGate();
    expect((await answer).status).toBe(200);
  });

  test("max_tokens is lowered to what the balance covers, and the request is not rejected", async () => {
    const { id, key } = await addAccount(0.05 * DOLLAR);
    vendor.perform((call) => {
      const usage = { prompt_tokens: 10, completion_tokens: call.body["max_tokens"] };
      return call.respond(200, documentOf("Once", { usage }));
    });
    expect((await chat(key, { max_tokens: 32_000 })).status).toBe(200);
    expect((await restOf(id)).balance).toBeGreaterThanOrEqual(0);
  });

  test("nothing is held and max_tokens is not lowered for a BYOK key", async () => {
    const { id, key } = await addAccount(0);
    await manage(gateway, `/accounts/${id}/provider-keys`, { provider: "openai", key: "sk-own-0123456789" });
    vendor.perform((call) => call.respond(200, documentOf("Once")));
    expect((await chat(key, { model: "openai/gpt-4o", max_tokens: 16_000 })).status).toBe(200);
    expect(vendor.calls[0]!.body["max_completion_tokens"]).toBe(16_000);
    expect(await restOf(id)).toEqual({ balance: 0 });
  });
});

describe("reasoning that is not seen before the answer ends", () => {
  test("a streamed answer is limited to what is held", async () => {
    const { id, key } = await addAccount(0.2 * DOLLAR);
    const bounds: number[] = [];
    vendor.perform(async (call) => {
      const most = call.body["max_completion_tokens"] as number;
      bounds.push(most);
      const usage = {
        prompt_tokens: 10,
        completion_tokens: most,
        completion_tokens_details: { reasoning_tokens: most - 5 },
      };
      await call.begin();
      await call.events(
        ...opening("Once"),
        chunkOf({}, "stop"),
        { ...chunkOf({}), choices: [], usage },
        "[DONE]",
      );
      await call.end();
    });
    const ask = () => chat(key, { model: "openai/o3", stream: true }).then((response) => response.text());
    await Promise.all([ask(), ask(), ask()]);
    expect(bounds).toHaveLength(3);
    for (const bound of bounds) expect(bound).toBeWithin(256, 20_000);
    expect((await restOf(id)).balance).toBeGreaterThanOrEqual(0);
  });
});

describe("concurrent requests on a balance of one dollar", () => {
  test.each([true, false])(
    "requests do not block each other because of a maximum that none reaches, streamed: %p",
    async (stream) => {
      const { id, key } = await addAccount(DOLLAR);
      vendor.perform(async (call) => {
        await call.gate();
        if (!call.isStream) return call.respond(200, documentOf("Alpha"));
        await call.begin();
        await call.events(...opening("Alpha"), ...closing());
        await call.end();
      });
      const all = Array.from({ length: 12 }, (_, at) =>
        chat(key, { stream, ...(at % 2 === 0 ? {} : { max_tokens: 90_000 }) }).then(async (response) => {
          await response.text();
          return response.status;
        }),
      );
      await eventually("all have reached the vendor", () => vendor.calls.length === all.length);
      for (const call of vendor.calls) call.openGate();
      expect(await Promise.all(all)).toEqual(all.map(() => 200));
      expect(await restOf(id)).toEqual({ balance: DOLLAR - all.length * (10 * PROMPT + 5 * COMPLETION) });
    },
  );

  test("requests never spend more than the balance, even if each has the longest answer", async () => {
    const { id, key } = await addAccount(DOLLAR);
    vendor.perform((call) => sendLongAnswer(call, LONGEST));
    gateway.log.length = 0;
    const texts = await Promise.all(
      Array.from({ length: 6 }, () => chat(key, { stream: true }).then((response) => response.text())),
    );
    for (const text of texts) expect(text).toEndWith("data: [DONE]\n\n");
    const { balance } = await restOf(id);
    expect(balance).toBeWithin(0, DOLLAR / 2);
  });
});

test("the answer of a fallback at ten times the price is limited to what is held", async () => {
  const { id, key } = await addAccount(0.1 * DOLLAR);
  let bound = 0;
  vendor.perform((call) => {
    if (call.body["model"] === "up") return call.respond(500, { error: { message: "down" } });
    bound = call.body["max_tokens"] as number;
    const usage = { prompt_tokens: 10, completion_tokens: bound };
    return call.respond(200, documentOf("Once", { usage }));
  });
  const response = await chat(key, { models: ["acme/fallback"] });
  expect(response.headers.get("x-gateway-model")).toBe("acme/fallback");
  expect(bound).toBeWithin(256, 1_000);
  expect((await restOf(id)).balance).toBeGreaterThanOrEqual(0);
});

test("an answer that costs more than its account covers is charged as far as it is covered, and the log has an error", async () => {
  const { id, key } = await addAccount(0.01 * DOLLAR);
  // A prompt within the context window that is much longer than the request's text.
  const usage = { prompt_tokens: 100_000, completion_tokens: 5 };
  vendor.perform((call) => call.respond(200, documentOf("Once", { usage })));
  gateway.log.length = 0;
  const response = await chat(key, { max_tokens: 100 });
  const { usage: told } = (await response.json()) as { usage: Record<string, unknown> };
  expect(told).toMatchObject({ prompt_tokens: 100_000, cost: 0.01 });
  expect(await restOf(id)).toEqual({ balance: 0 });
  const lines = gateway.log.filter(({ event }) => event.includes("more than its account covers"));
  expect(lines.map(({ fields }) => fields)).toMatchObject([
    {
      account_id: id,
      cost_nanodollars: 100_000 * PROMPT + 5 * COMPLETION,
      charged_nanodollars: 0.01 * DOLLAR,
    },
  ]);
});

test("the 402 error names the required amount, and that holds are subtracted", async () => {
  const { id, key } = await addAccount(0.003 * DOLLAR);
  vendor.perform(async (call) => {
    await call.gate();
    await call.respond(200, documentOf("Once"));
  });
  const first = chat(key, { max_tokens: 200 });
  await (await vendor.call(0)).atGate;
  const { held } = await balanceOf(gateway, id);
  const refused = await chat(key, { max_tokens: 200 });
  const { error } = (await refused.json()) as {
    error: { message: string; metadata: Record<string, number> };
  };
  expect(refused.status).toBe(402);
  expect(error.message).toContain("the account's balance, minus what is held for requests in progress, is $");
  expect(error.metadata).toMatchObject({
    balance: (0.003 * DOLLAR - held) / DOLLAR,
    limit_source: "account",
  });
  vendor.calls[0]!.openGate();
  expect((await first).status).toBe(200);
});
