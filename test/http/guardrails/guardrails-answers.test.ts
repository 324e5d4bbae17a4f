import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ReadAnswer, readAnswer } from "../../support/clients/read-answer.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, findLedgerProblems, manage } from "../../support/money.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { scrape } from "../../support/servers/scrape.ts";
import { type Speech, speak } from "../../support/vendors/speaking-vendor.ts";
import { startVendor, type Vendor } from "../../support/vendors/vendor.ts";

const SECRET = "sk-abcdefghij0123456789";
const FORMATS = ["openai-chat", "anthropic-messages", "openai-responses"] as const;

let vendor: Vendor;
let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  vendor = startVendor();
  const providers = FORMATS.map(
    (format) => `
  ${format}:
    base_url: "${vendor.baseUrl}"
    api_keys: [k]
    format: ${format}
    zero_retention: true
    models:
      - {id: ${format}/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.000002"}}
      - {id: ${format}/plain, context_length: 128000}`,
  );
  gateway = await startTestGateway({
    yaml: `
sandbox: on
providers:${providers.join("")}
guardrails:
  - {name: no-secrets, kind: regex, on: answer, action: block, patterns: ["sk-[a-z0-9]{20,}"], models: ["*/model"]}
  - {name: personal, kind: pii, on: both, action: mask, models: ["*/model"]}
  - {name: fim, kind: regex, on: answer, action: mask, patterns: ["ask"], models: ["mistralai/*"]}
  - {name: words, kind: regex, on: answer, action: warn, patterns: ["(?i)\\\\btulip\\\\b"], models: ["*/model"]}`,
  });
  key = await addAccountWithKey(gateway, { id: "user_1" }, {});
  await manage(gateway, "/accounts/user_1/credits", { amount: 10 });
});
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

/** The client APIs: path and body. */
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
  readonly speech: Speech;
  readonly stream: boolean;
  readonly model?: string;
  readonly text?: string;
  readonly withKey?: string;
  readonly more?: Readonly<Record<string, unknown>>;
}

function post(path: string, body: unknown, withKey = key): Promise<Response> {
  return fetch(`${gateway.base}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${withKey}` },
    body: JSON.stringify(body),
  });
}

function ask(
  api: Api,
  { speech, model = "openai-chat/model", text = "Hi", ...rest }: Ask,
): Promise<Response> {
  vendor.perform(speak(speech));
  const [path, bodyOf] = APIS[api];
  const { stream, more, withKey } = rest;
  return post(path, { model, ...bodyOf(text), stream, ...more }, withKey);
}

async function read(api: Api, asked: Ask): Promise<ReadAnswer & { readonly id: string }> {
  const response = await ask(api, asked);
  return { ...(await readAnswer(response)), id: response.headers.get("x-gateway-generation-id") as string };
}

async function recordOf(id: string): Promise<Record<string, unknown>> {
  return (await manage(gateway, `/generations/${id}`)).body["data"] as Record<string, unknown>;
}

const MASKED = "Write to [EMAIL_1], call [PHONE_1] or [EMAIL_1].";
const PERSONAL = ["Write to bo", "b@exam", "ple.com, call +49 ", "30 123", "45678 or bob@example.com", "."];

for (const api of Object.keys(APIS) as Api[])
  for (const format of FORMATS)
    for (const stream of [false, true]) {
      const model = `${format}/model`;
      describe(`a guardrail on a ${stream ? "streamed" : "whole"} answer of a host of ${format} in ${api}`, () => {
        test("masks what is split over events, and says so", async () => {
          const answer = await read(api, { speech: { text: PERSONAL }, stream, model });
          expect(answer.text).toBe(MASKED);
          for (const text of answer.repeated) expect(text).toBe(MASKED);
          expect(answer.raw).not.toContain("example.com");
          expect(answer.raw).not.toContain("12345678");
          const message = 'The guardrail "personal" masked 3 parts of the answer (EMAIL, PHONE).';
          expect(answer.raw).toContain(JSON.stringify(message).slice(1, -1));
          expect(await recordOf(answer.id)).toMatchObject({
            outcome: "completed",
            warnings: [{ field: "guardrail:personal", message }],
          });
        });

        test("blocks with an error that names it, and charges what was generated", async () => {
          const text = ["Your key is s", "k-abcdefghij", "0123456789", ", keep it.", " And more."];
          const answer = await read(api, { speech: { text }, stream, model });
          expect(answer.error).toMatch(/content_blocked|permission_error/);
          expect(answer.text).toBe(stream ? "Your key is " : "");
          expect(answer.raw).toContain('The guardrail \\"no-secrets\\" of this gateway does not allow');
          expect(answer.raw).not.toContain("abcdefghij");
          const record = await recordOf(answer.id);
          expect(record).toMatchObject({
            outcome: "failed",
            error_type: "content_blocked",
            warnings: [{ field: "guardrail:no-secrets" }],
            attempts: [{ error_type: null }],
          });
          expect(record["total_cost"]).toBeGreaterThan(0);
          expect(record["native_tokens_completion"] ?? record["tokens_completion"]).toBeGreaterThan(0);
        });

        test("masks arguments of tools, which stay JSON", async () => {
          const call = ['{"q":"x\\n', "bob@exa", 'mple.com","card":41111111', "11111111,", '"n":1}'];
          const answer = await read(api, { speech: { call }, stream, model });
          expect(JSON.parse(answer.args.replace(/^\{\}/, ""))).toEqual({
            q: "x\n[EMAIL_1]",
            card: "[CREDIT_CARD_1]",
            n: 1,
          });
          expect(answer.raw).not.toContain("example.com");
        });

        test("that warns changes nothing and holds nothing back", async () => {
          const text = ["A tu", "lip, two tuli", "ps."];
          const answer = await read(api, { speech: { text }, stream, model });
          expect(answer.text).toBe(text.join(""));
          expect(answer.raw).toContain('The guardrail \\"words\\" matches one part of the answer (WORDS).');
        });

        test("that matches nothing changes nothing", async () => {
          const answer = await read(api, { speech: { text: ["Hello", " world", "."] }, stream, model });
          expect(answer.text).toBe("Hello world.");
          expect(answer.raw).not.toContain("guardrail");
        });
      });
    }

describe("guardrails on answers", () => {
  test("mask reasoning, also of Messages", async () => {
    const reasoning = ["The user is bob@", "example.com", ", so"];
    for (const stream of [false, true])
      for (const [api, model] of [
        ["chat", "openai-chat/model"],
        ["messages", "anthropic-messages/model"],
        ["chat", "anthropic-messages/model"],
      ] as const) {
        const answer = await read(api, { speech: { reasoning, text: ["Hi"] }, stream, model });
        expect(answer.reasoning).toBe("The user is [EMAIL_1], so");
        expect(answer.raw).not.toContain("example.com");
      }
  });

  test("give a value of the answer the mask that it has in the request", async () => {
    const text = "I am bob@example.com, not eve@example.com";
    const speech = { text: ["eve@example.com and joe@example.com"] };
    const answer = await read("chat", { speech, text, stream: false });
    expect(answer.text).toBe("[EMAIL_2] and [EMAIL_3]");
  });

  test("give the same text streamed as whole, however it is split", async () => {
    const random = createSeededRandom(5);
    const words = [
      "bob@example.com",
      "+49 30 12345678",
      "4111 1111 1111 1111",
      "tulip",
      "äöü😀",
      "1.2.3.4",
      "x",
    ];
    for (let round = 0; round < 25; round++) {
      const text = Array.from({ length: 12 }, () => random.pick(words) + random.pick([" ", ", ", "\n"])).join(
        "",
      );
      const pieces: string[] = [];
      const chars = [...text];
      for (let at = 0; at < chars.length; ) {
        const length = 1 + random.below(6);
        pieces.push(chars.slice(at, at + length).join(""));
        at += length;
      }
      const api = random.pick(Object.keys(APIS) as Api[]);
      const model = `${random.pick(FORMATS)}/model`;
      const streamed = await read(api, { speech: { text: pieces }, stream: true, model });
      const whole = await read(api, { speech: { text: [text] }, stream: false, model });
      expect(streamed.text).toBe(whole.text);
      expect(whole.text).not.toContain("example.com");
    }
  });

  test("check FIM", async () => {
    const body = { model: "mistralai/sandbox-fim", prompt: "ask", suffix: "x" };
    for (const stream of [false, true]) {
      const response = await post("/fim/completions", { ...body, stream });
      expect(response.status).toBe(200);
      const { text } = await readAnswer(response);
      expect(text).toContain("[FIM_1]");
      expect(text).not.toContain("ask");
    }
  });

  test("leave out log probabilities, which repeat the text", async () => {
    vendor.perform((call) => {
      const logprobs = {
        content: [{ token: "bob@example.com", logprob: -0.1, bytes: null, top_logprobs: [] }],
      };
      const choices = [
        {
          index: 0,
          message: { role: "assistant", content: "bob@example.com" },
          logprobs,
          finish_reason: "stop",
        },
      ];
      return call.respond(200, {
        object: "chat.completion",
        choices,
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      });
    });
    const body = { model: "openai-chat/model", messages: [{ role: "user", content: "Hi" }], logprobs: true };
    const raw = await (await post("/chat/completions", body)).text();
    expect(raw).not.toContain("example.com");
    expect(raw).toContain("Log probabilities are left out");
  });

  test("apply only to the models that they are for: others are relayed as they are", async () => {
    for (const stream of [false, true]) {
      const speech = { text: [`bob@example.com ${SECRET}`] };
      const answer = await read("chat", { speech, stream, model: "openai-chat/plain" });
      expect(answer.text).toBe(`bob@example.com ${SECRET}`);
    }
  });

  test("keep what they mask and block out of the prompt log, the answer cache and repeated answers", async () => {
    const stored = await addAccountWithKey(gateway, { id: "user_stored" }, { promptLog: 86_400, cache: 600 });
    await manage(gateway, "/accounts/user_stored/credits", { amount: 1 });
    for (const stream of [false, true]) {
      const asked = { speech: { text: PERSONAL }, stream, text: `Hi ${stream}`, withKey: stored };
      const first = await read("chat", asked);
      expect(first.text).toBe(MASKED);
      const bodies = (await manage(gateway, `/generations/${first.id}/bodies`)).body["data"];
      expect(JSON.stringify(bodies)).toContain("[EMAIL_1]");
      expect(JSON.stringify(bodies)).not.toContain("example.com");
      const again = await ask("chat", asked);
      expect(again.headers.get("x-gateway-cache")).toBe("hit");
      expect((await readAnswer(again)).text).toBe(MASKED);
      const blocked = { ...asked, speech: { text: ["Take ", SECRET] }, text: `Secret ${stream}` };
      await read("chat", blocked);
      const missed = await ask("chat", blocked);
      expect(missed.headers.get("x-gateway-cache")).toBe("miss");
      await missed.text();
    }
  });

  test("name the rule and never the text in the log, and count answers in metrics", async () => {
    await read("chat", { speech: { text: ["bob@example.com"] }, stream: true });
    const lines = gateway.log.filter(({ event }) => event === "a guardrail matched");
    expect(lines.at(-1)?.fields).toMatchObject({
      guardrail: "personal",
      action: "mask",
      on: "answer",
      matches: 1,
      kinds: ["EMAIL"],
    });
    expect(JSON.stringify(gateway.log)).not.toContain("example.com");
    const metrics = await scrape(gateway);
    const labels = { rule: "personal", action: "mask", on: "answer" };
    expect(metrics.value("gateway_guardrail_matches_total", labels)).toBeGreaterThan(0);
  });
});
