import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { completeTexts } from "../../support/vendors/complete-texts.ts";
import { type RecordingVendor, startRecordingVendor } from "../../support/vendors/recording-vendor.ts";

const TARGETS = Array.from({ length: 21 }, (_, at) => `acme/target-${at}`);

let vendor: RecordingVendor;
let gateway: TestGateway;
let user: string;

beforeAll(async () => {
  vendor = startRecordingVendor();
  gateway = await startTestGateway({
    yaml: `
providers:
  openai: {base_url: "${vendor.baseUrl}"}
  texts: {base_url: "${vendor.baseUrl}", formats: [openai-completions], models: [{id: "acme/base:free"}]}
  many: {base_url: "${vendor.baseUrl}", models: [${TARGETS.map((id) => `{id: ${id}}`)}]}
  mine: {base_url: "${vendor.baseUrl}", models: [{id: "acme/model:free"}, {id: "acme/embed:free", output: embedding}]}
`,
    environment: { GATEWAY_SECRETS_KEY: "a".repeat(64) },
  });
  user = await createAccountTools(gateway).user();
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

async function infer(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

/** Each bound of the documents: the highest value that is accepted, and the lowest beyond it. */
describe("a bound that the documents name is accepted, and one more is rejected:", () => {
  test("an account has 100 provider keys", async () => {
    const path = `/accounts/${user}/provider-keys`;
    const add = (at: number) => call("POST", path, { provider: "openai", key: `sk-${at}-0123456789abcdef` });
    for (let at = 0; at < 100; at++) expect((await add(at)).status).toBe(201);
    expect((await add(100)).status).toBe(400);
    const { rows } = await call("GET", path);
    expect((await call("DELETE", `${path}/${rows[0]!.id}`)).status).toBe(200);
    expect((await add(100)).status).toBe(201);
  });

  test("an account has 200 budgets", async () => {
    const add = () => call("POST", "/budgets", { account_id: user, limit: 1, end_user: "*" });
    for (let at = 0; at < 200; at++) expect((await add()).status).toBe(201);
    expect((await add()).status).toBe(409);
  });

  test.each([
    [1, 200],
    [365, 200],
    [0, 400],
    [366, 400],
  ])("a rolling budget has 1 to 365 days: %d", async (days, status) => {
    const organization = await createAccountTools(gateway).organization();
    const body = { account_id: organization, limit: 1, period: "rolling", days };
    expect((await call("POST", "/budgets", body)).status).toBe(status === 200 ? 201 : status);
  });

  test.each([
    ["tag", 200, 201],
    ["tag", 201, 400],
    ["tag", 0, 400],
    ["end_user", 512, 201],
    ["end_user", 513, 400],
    ["end_user", 0, 400],
  ])("the %s of a budget has 1 to 200 or 512 characters: %d", async (field, length, status) => {
    const account_id = await createAccountTools(gateway).organization();
    const body = { account_id, limit: 1, [field]: "x".repeat(length) };
    expect((await call("POST", "/budgets", body)).status).toBe(status);
  });

  test.each([
    [1, 200],
    [100, 200],
    [0, 400],
    [101, 400],
  ])("a page of a list has 1 to 100 entries: %d", async (limit, status) => {
    for (const list of ["/users", "/keys", "/audit", "/generations"])
      expect((await call("GET", `${list}?limit=${limit}`)).status).toBe(status);
  });

  test.each([
    ["2024-01-01", "2024-12-31", 200],
    ["2024-01-01", "2025-01-01", 400],
  ])("a report has 366 days: %s to %s", async (from, to, status) => {
    expect((await call("GET", `/usage?from=${from}&to=${to}`)).status).toBe(status);
  });

  test("a list of generations from a time to a later one is accepted, and to the same one rejected", async () => {
    const list = (from: string, to: string) => call("GET", `/generations?from=${from}&to=${to}`);
    const [noon, later] = ["2024-01-01T12:00:00.000Z", "2024-01-01T12:00:00.001Z"];
    expect((await list(noon, later)).status).toBe(200);
    expect((await list(noon, noon)).status).toBe(400);
  });

  test.each([
    [1, 200],
    [2_592_000, 200],
    [0, 200],
    [-1, 400],
    [2_592_001, 400],
  ])("bodies are stored for 1 to 2592000 seconds, or never: %d", async (prompt_log, status) => {
    const { status: made } = await call("POST", "/keys", { name: "k", account_id: user, prompt_log });
    expect(made).toBe(status === 200 ? 201 : status);
  });

  test.each([
    [1, 200],
    [20, 200],
    [0, 400],
    [21, 400],
  ])("a group has 1 to 20 targets: %d", async (count, status) => {
    const targets = TARGETS.slice(0, count).map((model) => ({ model, weight: 1 }));
    const put = await call("PUT", `/named-routes/group-${count}`, { kind: "group", targets });
    expect(put.status < 300 ? 200 : put.status).toBe(status);
  });

  test.each([
    [1_000, 200],
    [1_001, 400],
  ])("a dry run of a policy looks at 1,000 generations: %d", async (last, status) => {
    const body = { account_id: user, policy: { denied_models: ["acme/*"] }, last };
    expect((await call("POST", "/policy/dry-run", body)).status).toBe(status);
  });

  test.each([
    [255, 200],
    [256, 400],
  ])("an Idempotency-Key has 255 characters: %d", async (length, status) => {
    const headers = { "idempotency-key": "k".repeat(length) };
    const body = { model: "acme/model:free", messages: [{ role: "user", content: "Hello!" }] };
    expect(await infer("/chat/completions", body, headers)).toBe(status);
  });

  test.each([
    [10, 64, 200],
    [11, 64, 400],
    [10, 65, 400],
  ])("a request has 10 tags of 64 characters: %d of %d", async (count, length, status) => {
    const tags = Array.from({ length: count }, (_, at) => `${at}`.padEnd(length, "x"));
    const body = { model: "acme/model:free", messages: [{ role: "user", content: "Hello!" }], tags };
    expect(await infer("/chat/completions", body)).toBe(status);
  });

  test.each([
    [2_048, 200],
    [2_049, 400],
  ])("a request for embeddings has 2,048 texts: %d", async (count, status) => {
    const vector = (_: unknown, index: number) => ({ object: "embedding", index, embedding: [0.5] });
    const usage = { prompt_tokens: count, total_tokens: count };
    vendor.reset(() => Response.json({ data: Array.from({ length: count }, vector), model: "m", usage }));
    const body = { model: "acme/embed:free", input: Array(count).fill("a") };
    expect(await infer("/embeddings", body)).toBe(status);
    vendor.reset();
  });

  const hello = { role: "user", content: "Hi" };
  const countedBody = {
    "/chat/completions": (count: number) => ({ messages: Array(count).fill(hello) }),
    "/messages": (count: number) => ({ max_tokens: 9, messages: Array(count).fill(hello) }),
    "/responses": (count: number) => ({ input: Array(count).fill(hello) }),
  } as const;

  test.each(Object.entries(countedBody))(
    "a conversation has 20,000 messages or items: %s",
    async (path, bodyOf) => {
      const ask = (count: number) => infer(path, { model: "acme/model:free", ...bodyOf(count) });
      expect([await ask(20_000), await ask(20_001)]).toEqual([200, 400]);
    },
  );

  test.each([
    [8, 128, 200],
    [1_024, 1, 200],
    [9, 114, 400],
    [1_025, 1, 400],
  ])("a text completion has 1,024 choices: %d prompts times %d", async (prompts, n, status) => {
    vendor.reset(completeTexts);
    const body = { model: "acme/base:free", prompt: Array(prompts).fill("a"), n };
    expect(await infer("/completions", body)).toBe(status);
    vendor.reset();
  });
});
