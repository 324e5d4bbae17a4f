import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readAnswer } from "../../support/clients/read-answer.ts";
import { turnEventLoop } from "../../support/event-loop.ts";
import {
  type CheckService,
  isQuestionSigned,
  startCheckService,
} from "../../support/gateway/check-service.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, findLedgerProblems, manage } from "../../support/money.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { type Speech, speak } from "../../support/vendors/speaking-vendor.ts";
import { chunkOf, closing, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const SECRET = "0123456789abcdef0123456789abcdef";

let vendor: Vendor;
let service: CheckService;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  service = startCheckService();
  const rule = (name: string, rest: string) =>
    `  - {name: ${name}, kind: webhook, url: "${service.url}", secret: ${SECRET}, ${rest}, models: [acme/${name}]}`;
  gateway = await startTestGateway({
    yaml: `
providers:
  acme:
    base_url: "${vendor.baseUrl}"
    api_keys: [k]
    models:
${["before", "before-open", "after", "after-open", "observed", "both"].map((name) => `      - {id: acme/${name}, context_length: 128000, prices: {prompt: "0.000001", completion: "0.000002"}}`).join("\n")}
guardrails:
  - {name: personal, kind: pii, on: both, action: mask, models: [acme/both]}
${rule("before", "on_error: block")}
${rule("before-open", "on_error: allow")}
${rule("after", "on: answer, on_error: block")}
${rule("after-open", "on: answer, on_error: allow")}
${rule("observed", "on: answer, on_error: block, stream: observe")}
${rule("both", "on: both, on_error: block")}
  - {name: tulips, kind: regex, on: both, action: mask, patterns: [tulip], models: [acme/both]}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_1" }, {});
  await manage(gateway, "/accounts/user_1/credits", { amount: 10 });
});
beforeEach(() => service.answer(() => ({ action: "allow" })));
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  await service.stop();
  vendor.stop();
});

const APIS = {
  chat: ["/chat/completions", (text: string) => ({ messages: [{ role: "user", content: text }] })],
  messages: [
    "/messages",
    (text: string) => ({ max_tokens: 100, messages: [{ role: "user", content: text }] }),
  ],
  responses: ["/responses", (text: string) => ({ input: text })],
} as const;
type Api = keyof typeof APIS;

interface Ask {
  readonly model: string;
  readonly stream?: boolean;
  readonly speech?: Speech;
  readonly text?: string;
}

function ask(api: Api, { model, stream = false, speech = { text: ["Hel", "lo"] }, text = "Hi" }: Ask) {
  vendor.perform(speak(speech));
  const [path, bodyOf] = APIS[api];
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: `acme/${model}`, ...bodyOf(text), stream }),
  });
}

async function read(api: Api, asked: Ask) {
  const response = await ask(api, asked);
  const id = response.headers.get("x-gateway-generation-id") as string;
  return { ...(await readAnswer(response)), status: response.status, id };
}

async function recordOf(id: string): Promise<Record<string, unknown>> {
  return (await manage(gateway, `/generations/${id}`)).body["data"] as Record<string, unknown>;
}

describe("a webhook that checks requests", () => {
  for (const api of Object.keys(APIS) as Api[]) {
    test(`gets the texts, signed, and lets the request pass in ${api}`, async () => {
      const answer = await read(api, { model: "before", text: "My text" });
      expect(answer.text).toBe("Hello");
      expect(service.questions).toHaveLength(1);
      expect(service.questions[0]?.body).toMatchObject({
        guardrail: "before",
        input_type: "request",
        texts: ["My text"],
        generation_id: answer.id,
        model: "acme/before",
        account_id: "user_1",
      });
      expect(isQuestionSigned(service.questions[0]!, SECRET)).toBe(true);
    });

    test(`blocks with its reason in ${api}: no provider is asked, and nothing is charged`, async () => {
      service.answer(() => ({ action: "block", reason: "No poems." }));
      const { status, raw, id } = await read(api, { model: "before", text: "A poem" });
      expect(status).toBe(403);
      expect(raw).toContain(
        'The guardrail \\"before\\" of this gateway does not allow a text of the request: No poems.',
      );
      expect(vendor.calls).toHaveLength(0);
      expect(await recordOf(id)).toMatchObject({
        error_type: "content_blocked",
        total_cost: 0,
        warnings: [{ field: "guardrail:before", message: 'The guardrail "before" blocked the request.' }],
      });
    });

    test(`replaces texts in what the provider gets in ${api}`, async () => {
      service.answer(({ texts }) => ({ action: "mask", texts: texts.map((text) => text.toUpperCase()) }));
      const { raw } = await read(api, { model: "before", text: "quiet" });
      expect(JSON.stringify(vendor.calls[0]?.body)).toContain('"QUIET"');
      expect(raw).toContain("masked parts of one text of the request");
    });
  }

  test("that cannot check rejects the request with a 503, or lets it pass with a warning, as configured", async () => {
    service.answer(() => new Response("broken", { status: 500 }));
    const closed = await read("chat", { model: "before" });
    expect(closed.status).toBe(503);
    expect(closed.raw).toContain('The guardrail \\"before\\" of this gateway could not check the request.');
    expect(vendor.calls).toHaveLength(0);
    const open = await read("chat", { model: "before-open" });
    expect(open).toMatchObject({ status: 200, text: "Hello" });
    expect(open.raw).toContain('The guardrail \\"before-open\\" could not check the request.');
  });
});

describe("a webhook that checks answers", () => {
  for (const api of Object.keys(APIS) as Api[])
    for (const stream of [false, true]) {
      const form = `${stream ? "streamed" : "whole"} answer in ${api}`;

      test(`gets all texts of a ${form} and lets it pass`, async () => {
        const speech = { text: ["Hel", "lo"], call: ['{"q":"find ', 'me","n":1}'] };
        const answer = await read(api, { model: "after", stream, speech });
        expect(answer.text).toBe("Hello");
        expect(JSON.parse(answer.args.replace(/^\{\}/, ""))).toEqual({ q: "find me", n: 1 });
        expect(service.questions.map(({ body }) => body)).toMatchObject([
          { input_type: "response", texts: ["Hello", "find me"], generation_id: answer.id },
        ]);
      });

      test(`blocks a ${form}, of which the client gets nothing, and which is charged`, async () => {
        service.answer(() => ({ action: "block", reason: "It rhymes." }));
        const answer = await read(api, { model: "after", stream });
        expect(answer.error).not.toBeNull();
        expect(answer.status).toBe(stream ? 200 : 403);
        expect(answer.text).toBe("");
        expect(answer.raw).not.toContain("Hel");
        expect(answer.raw).toContain("It rhymes.");
        const record = await recordOf(answer.id);
        expect(record).toMatchObject({ outcome: "failed", error_type: "content_blocked" });
        expect(record["total_cost"]).toBeGreaterThan(0);
      });

      test(`replaces texts of a ${form}`, async () => {
        service.answer(({ texts }) => ({ action: "mask", texts: texts.map((text) => `[${text}]`) }));
        const speech = { text: ["Hel", "lo"], call: ['{"q":"find ', 'me","n":1}'] };
        const answer = await read(api, { model: "after", stream, speech });
        expect(answer.text).toBe("[Hello]");
        expect(JSON.parse(answer.args.replace(/^\{\}/, ""))).toEqual({ q: "[find me]", n: 1 });
        for (const text of answer.repeated) expect(text).toBe("[Hello]");
        expect(answer.raw).toContain("masked 2 parts of the answer");
      });

      test(`that cannot check blocks a ${form}, or lets it pass with a warning, as configured`, async () => {
        service.answer(() => new Response("{", { status: 200 }));
        const closed = await read(api, { model: "after", stream });
        expect(closed.text).toBe("");
        expect(closed.raw).toContain("could not check the answer");
        expect((await recordOf(closed.id))["error_type"]).toBe("unavailable");
        service.answer(() => ({ action: "allow" }));
        await read(api, { model: "after", stream });
        service.answer(() => new Response("{", { status: 200 }));
        const open = await read(api, { model: "after-open", stream });
        expect(open.text).toBe("Hello");
        expect(open.raw).toContain('The guardrail \\"after-open\\" could not check the answer.');
        service.answer(() => ({ action: "allow" }));
        await read(api, { model: "after-open", stream });
      });
    }

  test("that observes a stream does not hold it back, and its verdict is recorded", async () => {
    service.answer(() => ({ action: "block", reason: "It rhymes." }));
    const answer = await read("chat", { model: "observed", stream: true });
    expect(answer).toMatchObject({ text: "Hello", pieces: ["Hel", "lo"], error: null });
    const message = 'The guardrail "observed" matches one part of the answer.';
    expect(answer.raw).toContain(JSON.stringify(message).slice(1, -1));
    expect(await recordOf(answer.id)).toMatchObject({
      outcome: "completed",
      warnings: [{ field: "guardrail:observed", message }],
    });
    const whole = await read("chat", { model: "observed" });
    expect(whole.status).toBe(403);
  });

  test("is asked about texts as earlier guardrails left them, and later ones see what it replaced", async () => {
    service.answer(({ texts }) => ({ action: "mask", texts: texts.map((text) => `${text} tulip`) }));
    for (const stream of [false, true]) {
      const speech = { text: ["I am bob@exam", "ple.com"] };
      const answer = await read("chat", { model: "both", stream, speech, text: "bob@example.com" });
      expect(JSON.stringify(vendor.calls[0]?.body)).toContain("[EMAIL_1] [TULIPS_1]");
      expect(answer.text).toBe("I am [EMAIL_1] [TULIPS_1]");
    }
    expect(service.questions.map(({ texts }) => texts[0])).toEqual([
      "[EMAIL_1]",
      "I am [EMAIL_1]",
      "[EMAIL_1]",
      "I am [EMAIL_1]",
    ]);
  });

  test("is waited for also if the provider's connection breaks behind the last event of an answer", async () => {
    const asked = Promise.withResolvers<void>();
    service.answer(async () => {
      await asked.promise;
      return { action: "allow" };
    });
    vendor.perform(async (call) => {
      await call.begin();
      await call.events(chunkOf({ role: "assistant", content: "Hello" }), ...closing("stop").slice(0, -1));
      call.connection.end();
    });
    const answered = fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "acme/after",
        messages: [{ role: "user", content: "Hi" }],
        stream: true,
      }),
    });
    await service.question(0);
    await turnEventLoop();
    asked.resolve();
    const answer = await readAnswer(await answered);
    expect(answer).toMatchObject({ text: "Hello", error: null });
    expect(answer.raw).toContain("[DONE]");
  });

  test("whose client leaves meanwhile charges what was generated", async () => {
    service.answer(() => new Promise(() => {}));
    vendor.perform(speak({ text: ["Hello"] }));
    const leaving = new AbortController();
    const response = fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "acme/after",
        messages: [{ role: "user", content: "Hi" }],
        stream: true,
      }),
      signal: leaving.signal,
    });
    response.catch(() => {});
    const { body } = await service.question(0);
    leaving.abort();
    const id = body["generation_id"] as string;
    let record = await recordOf(id).catch(() => undefined);
    while (record?.["outcome"] !== "cancelled") record = await recordOf(id).catch(() => undefined);
    expect(record["total_cost"]).toBeGreaterThan(0);
  });

  for (const stream of [false, true])
    test(`that does not answer ends ${stream ? "a stream" : "a whole answer"} at its total time, with an error`, async () => {
      service.answer(() => new Promise(() => {}));
      vendor.perform(speak({ text: ["Hello"] }));
      const clock = createTestClock();
      const own = await startTestGateway({
        clock,
        yaml: `
timers: {total_ms: 5000}
providers:
  acme: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model}]}
guardrails:
  - {name: slow, kind: webhook, url: "${service.url}", secret: ${SECRET}, on: answer, on_error: allow, timeout_ms: 30000}`,
      });
      try {
        const messages = [{ role: "user", content: "Hi" }];
        const asked = postChat(own, { model: "acme/model", messages, stream });
        await service.question(0);
        await turnEventLoop();
        clock.advance(5_000);
        const response = await asked;
        const text = await response.text();
        expect(response.status).toBe(stream ? 200 : 503);
        expect(text).toContain("the whole request took longer than is allowed");
        expect(text).not.toContain("Hello");
      } finally {
        await own.stop();
      }
    });

  test("is counted by verdict, and its address, secret and texts are in no log and no settings", async () => {
    await read("chat", { model: "before", text: "My secret text" });
    const metrics = await scrape(gateway);
    for (const verdict of ["allow", "block", "mask", "unavailable"])
      expect(metrics.value("gateway_guardrail_webhook_total", { rule: "before", verdict })).toBeGreaterThan(
        0,
      );
    expect(JSON.stringify(gateway.log)).not.toContain("My secret text");
    expect(JSON.stringify(gateway.log)).not.toContain("secret-path");
    const settings = JSON.stringify((await manage(gateway, "/settings")).body);
    expect(settings).toContain("before-open");
    expect(settings).not.toContain(SECRET);
    expect(settings).not.toContain("secret-path");
  });
});
