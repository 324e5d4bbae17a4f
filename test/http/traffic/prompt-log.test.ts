import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const SECRET_WORDS = "the parrot keeps the harbour key";
const DAY_S = 86_400;

let gateway: TestGateway;
let clock: TestClock;
/** A key whose bodies are logged for a day, and one without a log. */
let logged: string;
let unlogged: string;
let managing: string;
let accountId: string;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startTestGateway({ clock });
  const create = createAccountTools(gateway);
  accountId = await create.user("Ada", { overdraft: null });
  logged = await create.key(accountId, { prompt_log: DAY_S });
  unlogged = await create.key(accountId);
  managing = await create.key(accountId, { kind: "management" });
});
afterAll(() => gateway.stop());

async function ask(key: string, more: Record<string, unknown> = {}) {
  const body = { model: "sandbox/echo", messages: [{ role: "user", content: SECRET_WORDS }], ...more };
  const response = await postChat(gateway, body, { authorization: `Bearer ${key}` });
  const text = await response.text();
  return { sent: JSON.stringify(body), text, id: response.headers.get("x-gateway-generation-id") as string };
}

function find(id: string, key = managing) {
  return callAdmin(gateway, key, "GET", `/generations/${id}/bodies`);
}

describe("the prompt log", () => {
  for (const stream of [false, true]) {
    test(`a key with prompt_log has the bodies of its generations stored, with stream: ${stream}`, async () => {
      const { sent, text, id } = await ask(logged, { stream });
      const found = await find(id);
      expect(found.status).toBe(200);
      expect(found.data).toMatchObject({
        id,
        account_id: accountId,
        request: sent,
        request_truncated: false,
        response: text,
        response_truncated: false,
      });
      const { created_at, expires_at } = found.data as unknown as Record<string, string>;
      expect(Date.parse(expires_at as string) - Date.parse(created_at as string)).toBe(DAY_S * 1_000);
    });
  }

  test("a read of stored bodies has an entry in the audit log, with the key that read them", async () => {
    const { id } = await ask(logged);
    expect((await find(id)).status).toBe(200);
    const audit = await callAdmin(gateway, managing, "GET", "/audit?limit=1");
    expect(audit.data).toMatchObject([
      { action: "GET /api/admin/generations/:id/bodies", target: id, account_id: accountId },
    ]);
  });

  test("a key without prompt_log has nothing stored", async () => {
    const { id } = await ask(unlogged);
    expect((await find(id)).status).toBe(404);
  });

  test("a request that demands zero data retention is not stored", async () => {
    const { id } = await ask(logged, { provider: { zdr: true } });
    expect(id).toStartWith("gen_");
    expect((await find(id)).status).toBe(404);
  });

  test("an account whose policy demands zero data retention has nothing stored", async () => {
    const create = createAccountTools(gateway);
    const other = await create.user("Eve", { policy: { zero_retention: true } });
    const { id } = await ask(await create.key(other, { prompt_log: DAY_S }));
    expect((await find(id, gateway.adminKey)).status).toBe(404);
  });

  test("a generation that failed has its request stored and no response", async () => {
    const { id } = await ask(logged, { messages: [{ role: "user", content: "[sandbox:error=500]" }] });
    const found = await find(id);
    expect(found.data["request"]).toContain("sandbox:error=500");
    expect(found.data["response"]).toBeNull();
  });

  test("the first MiB of a larger body is stored and marked as truncated", async () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(1_100_000)}` } };
    const { id } = await ask(logged, { messages: [{ role: "user", content: [image] }] });
    const found = await find(id);
    expect(found.data["request_truncated"]).toBe(true);
    expect((found.data["request"] as string).length).toBe(1024 * 1024);
  });

  test("management keys of other accounts and inference keys cannot read an entry", async () => {
    const create = createAccountTools(gateway);
    const stranger = await create.key(await create.user("Mallory"), { kind: "management" });
    const { id } = await ask(logged);
    expect((await find(id, stranger)).status).toBe(404);
    expect((await find(id, logged)).status).toBe(403);
  });

  test("no file of the data directory contains a logged body in plain text", async () => {
    const { id } = await ask(logged);
    expect((await find(id)).status).toBe(200);
    const files = readdirSync(gateway.dataDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      expect(readFileSync(join(file.parentPath, file.name)).includes(SECRET_WORDS)).toBe(false);
  });

  test("turning prompt_log off for a key ends the logging of further requests", async () => {
    const create = createAccountTools(gateway);
    const key = await create.key(accountId, { name: "to change", prompt_log: 60 });
    const { rows } = await callAdmin(gateway, managing, "GET", "/keys");
    const row = rows.find(({ name }) => name === "to change");
    expect(row).toMatchObject({ prompt_log: 60 });
    const changed = await callAdmin(gateway, managing, "PATCH", `/keys/${row?.id}`, { prompt_log: null });
    expect(changed.data).toMatchObject({ prompt_log: null });
    const { id } = await ask(key);
    expect((await find(id)).status).toBe(404);
    const audit = await callAdmin(gateway, managing, "GET", "/audit");
    expect(JSON.stringify(audit.rows)).toContain('"prompt_log":null');
  });

  test("prompt_log of a management key, and one outside its range, are rejected", async () => {
    const make = (more: Record<string, unknown>) =>
      callAdmin(gateway, managing, "POST", "/keys", { name: "x", ...more });
    expect((await make({ kind: "management", prompt_log: 60 })).status).toBe(400);
    expect((await make({ prompt_log: -1 })).status).toBe(400);
    expect((await make({ prompt_log: 90 * DAY_S })).status).toBe(400);
  });

  test("an entry is deleted after its retention period", async () => {
    const brief = await createAccountTools(gateway).key(accountId, { prompt_log: 60 });
    const { id } = await ask(brief);
    expect((await find(id)).status).toBe(200);
    clock.advance(60_000);
    expect((await find(id)).status).toBe(404);
  });
});
