import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

let vendor: Vendor;
let gateway: TestGateway;
let elsewhere: Database;
/** What the calls are about: made before the database rejects writes. */
let made: Record<
  "account" | "organization" | "user" | "key" | "providerKey" | "budget" | "generation",
  string
>;

const manage = (method: string, path: string, body?: object) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

async function idOf(path: string, body: object): Promise<string> {
  const { status, data } = await manage("POST", path, body);
  expect([path, status]).toEqual([path, 201]);
  return data["id"] as string;
}

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
providers:
  mine:
    base_url: "${vendor.baseUrl}"
    models: [{id: mine/chat, prices: {prompt: "0.000001", completion: "0.000002"}}]
`,
  });
  const account = await idOf("/users", { name: "Ada" });
  await idOf(`/accounts/${account}/credits`, { amount: "1" });
  const created = await manage("POST", "/keys", { name: "k", account_id: account });
  const answer = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${created.body["key"]}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "mine/chat", messages: [{ role: "user", content: "Hello!" }] }),
  });
  await answer.text();
  made = {
    account,
    organization: await idOf("/organizations", { name: "Acme" }),
    user: await idOf("/users", { name: "Bea" }),
    key: created.data["id"] as string,
    providerKey: await idOf(`/accounts/${account}/provider-keys`, {
      provider: "openai",
      key: "sk-0123456789",
    }),
    budget: await idOf("/budgets", { limit: 5, account_id: account }),
    generation: answer.headers.get("x-gateway-generation-id") as string,
  };
  // The generation is in the store.
  expect((await manage("GET", "/usage")).status).toBe(200);
  elsewhere = openGatewayDatabase(gateway.dataDir);
  rejectWrites(elsewhere);
});
afterAll(async () => {
  for (const name of listTriggers(elsewhere)) elsewhere.exec(`DROP TRIGGER ${name}`);
  elsewhere.close();
  await gateway.stop();
  vendor.stop();
});

/** Lets every table reject changes but those of the audit log, which notes each attempt first. */
function rejectWrites(database: Database): void {
  const tables = database
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('audit_log', 'announced_changes')",
    )
    .all();
  for (const { name } of tables)
    for (const change of ["INSERT", "UPDATE", "DELETE"])
      database.exec(
        `CREATE TRIGGER rejects_${name}_${change} BEFORE ${change} ON ${name} BEGIN SELECT RAISE(ABORT, 'rejected'); END`,
      );
}

function listTriggers(database: Database): readonly string[] {
  const triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'rejects_%'";
  return database
    .query<{ name: string }, []>(triggers)
    .all()
    .map(({ name }) => name);
}

describe("a management call whose change the store does not take", () => {
  test.each<[method: string, path: string, body: object | null]>([
    ["POST", "/users", { name: "Cleo" }],
    ["PATCH", "/users/{user}", { name: "Bee" }],
    ["POST", "/organizations", { name: "Umbrella" }],
    ["PATCH", "/organizations/{organization}", { name: "Acme 2" }],
    ["PUT", "/organizations/{organization}/members/{user}", { role: "member" }],
    ["POST", "/keys", { name: "k2" }],
    ["PATCH", "/keys/{key}", { name: "k3" }],
    ["DELETE", "/keys/{key}", null],
    ["POST", "/accounts/{account}/credits", { amount: "1" }],
    ["POST", "/accounts/{account}/corrections", { amount: "1", note: "by hand" }],
    ["POST", "/generations/{generation}/refund", {}],
    ["POST", "/accounts/{account}/provider-keys", { provider: "openai", key: "sk-9876543210" }],
    ["PATCH", "/accounts/{account}/provider-keys/{providerKey}", { name: "mine" }],
    ["DELETE", "/accounts/{account}/provider-keys/{providerKey}", null],
    ["POST", "/budgets", { limit: 5 }],
    ["PATCH", "/budgets/{budget}", { limit: 7 }],
    ["DELETE", "/budgets/{budget}", null],
    ["PUT", "/named-routes/fast", { kind: "alias", target: "sandbox/echo" }],
    ["PUT", "/tiers/fast", { name: "Fast", rule: { by: "free" } }],
    ["POST", "/health/anthropic/drain", {}],
  ])("%s %s says so with 503", async (method, path, body) => {
    const whole = path.replace(/\{(\w+)\}/g, (_, name: keyof typeof made) => made[name]);
    const { status, body: answer } = await manage(method, whole, body ?? undefined);
    expect([status, answer["error"]]).toEqual([503, expect.objectContaining({ type: "unavailable" })]);
  });
});
