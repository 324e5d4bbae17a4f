import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { createAccountTools } from "../../support/gateway/management.ts";
import { manage } from "../../support/money.ts";
import { createSeededRandom } from "../../support/seeded-random.ts";
import { answerAnyFormat } from "../../support/vendors/answer-any-format.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const GIFTS = ["acme/one:free", "acme/two:free", "acme/three:free"];
const MODELS = ["acme/plan", "acme/code", "acme/chat", "acme/responses", "acme/small", ...GIFTS];

let vendor: RecordingVendor;
let gateway: TestGateway;
let accountId: string;
let cached: string;
/** A key of the same account without a cache: what it gets is what a request should get. */
let plain: string;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    environment: { OPENAI_API_KEY: "sk-test-openai-0001", OPENAI_BASE_URL: vendor.baseUrl },
    yaml: `
tiers:
  - {id: gateway-auto/frontier, name: F, rule: {by: header, header: x-gateway-mode, cases: [{values: [plan], pick: {models: [acme/plan], reasoning: medium}}], else: {models: [acme/code]}}}
  - {id: gateway-auto/effort, name: E, rule: {by: header, header: x-effort, cases: [{values: [high], pick: {models: [openai/gpt-5.1], reasoning: high}}], else: {models: [openai/gpt-5.1], reasoning: low}}}
  - {id: gateway-auto/balanced, name: B, rule: {by: api, cases: {responses: {models: [acme/responses]}}, else: {models: [acme/chat]}}}
  - {id: gateway-auto/small, name: S, rule: {by: balance, paid: {models: [acme/small]}, else: {models: ["acme/one:free"]}}}
providers:
  host:
    base_url: ${vendor.baseUrl}
    api_keys: [k-0123456789]
    models: [${MODELS.map((id) => `{id: "${id}", name: "up-${id.slice(5).replace(":", "-")}"}`).join(", ")}]
`,
  });
  const tools = createAccountTools(gateway);
  accountId = await tools.user();
  cached = await tools.key(accountId, { cache: 600 });
  plain = await tools.key(accountId);
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));
beforeEach(() => vendor.reset(answerAnyFormat));

interface Asked {
  readonly model: string;
  readonly path: "/chat/completions" | "/responses";
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks with a key. Returns the model, what the vendor was asked by the generation that produced the answer, and what the cache did. */
async function ask(key: string, { model, path, headers }: Asked) {
  const question =
    path === "/responses" ? { input: "Hello!" } : { messages: [{ role: "user", content: "Hello!" }] };
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify({ model, ...question }),
  });
  const answer = (await response.json()) as { readonly model: string };
  return { status: response.status, model: answer.model, did: response.headers.get("x-gateway-cache") };
}

const bodyOf = (at: number) => JSON.parse(vendor.requests.at(at)?.text ?? "{}") as Record<string, unknown>;

test("a cached answer is that of the model which answers without a cache, whatever a tier decides by", async () => {
  const random = createSeededRandom(4);
  let hasCredits = false;
  let hits = 0;
  for (let at = 0; at < 150; at++) {
    if (random.oneIn(12)) {
      hasCredits = !hasCredits;
      await manage(gateway, `/accounts/${accountId}/credits`, {
        amount: hasCredits ? "5" : "-5",
        ...(hasCredits ? {} : { kind: "adjustment", note: "test" }),
      });
    }
    const asked: Asked = {
      model: random.pick(["frontier", "balanced", "small", "free"].map((name) => `gateway-auto/${name}`)),
      path: random.pick(["/chat/completions", "/responses"]),
      headers: {
        ...random.pick([{}, { "x-gateway-mode": "plan" }, { "x-gateway-mode": "code" }]),
        ...random.pick([{ "x-session-id": "one" }, { "x-session-id": "two" }, { session_id: "three" }]),
      },
    };
    const expected = await ask(plain, asked);
    const given = await ask(cached, asked);
    expect([given.status, given.model]).toEqual([200, expected.model]);
    if (given.did === "hit") hits++;
  }
  expect(hits).toBeGreaterThan(30);
});

test("a cached answer was made with the reasoning effort that the request's header asks for", async () => {
  const asked = (effort: string): Asked => ({
    model: "gateway-auto/effort",
    path: "/chat/completions",
    headers: { "x-effort": effort },
  });
  expect((await ask(cached, asked("high"))).did).toBe("miss");
  expect((await ask(cached, asked("low"))).did).toBe("miss");
  expect(bodyOf(0)).not.toEqual(bodyOf(1));
  expect((await ask(cached, asked("high"))).did).toBe("hit");
  expect((await ask(cached, asked("low"))).did).toBe("hit");
});

test("a repetition with another mode is another request for its Idempotency-Key, and one with the same mode gets the answer", async () => {
  const asked = (mode: string): Asked => ({
    model: "gateway-auto/frontier",
    path: "/chat/completions",
    headers: { "x-gateway-mode": mode, "idempotency-key": "one-name" },
  });
  expect((await ask(plain, asked("plan"))).model).toBe("acme/plan");
  expect((await ask(plain, asked("code"))).status).toBe(409);
  expect(await ask(plain, asked("plan"))).toMatchObject({ status: 200, model: "acme/plan" });
  expect(vendor.requests).toHaveLength(1);
});

test("a repetition gets its answer also if the balance has changed since, by which its tier chooses", async () => {
  const asked: Asked = {
    model: "gateway-auto/small",
    path: "/chat/completions",
    headers: { "idempotency-key": "another-name" },
  };
  const { model } = await ask(plain, asked);
  await manage(gateway, `/accounts/${accountId}/credits`, { amount: "7" });
  expect(await ask(plain, asked)).toMatchObject({ status: 200, model });
  expect(vendor.requests).toHaveLength(1);
});
