import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiObject, callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const HOUR_MS = 3_600_000;

async function findKey(name: string): Promise<ApiObject> {
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/keys");
  return rows.find((row) => row["name"] === name) as ApiObject;
}

test("a key has no last use until it is used, and then the hour of its last use", async () => {
  const tools = createAccountTools(gateway);
  const inference = await tools.key("acct_default", { name: "caller" });
  const management = await tools.key("acct_default", { name: "manager", kind: "management" });
  await tools.key("acct_default", { name: "unused" });
  expect((await findKey("caller"))["last_used_at"]).toBeNull();
  const before = Date.now();
  const response = await fetch(`${gateway.base}/key`, { headers: { authorization: `Bearer ${inference}` } });
  expect(response.status).toBe(200);
  await response.text();
  expect((await callAdmin(gateway, management, "GET", "/users")).status).toBe(200);
  for (const name of ["caller", "manager"]) {
    const usedAt = await eventually(`the last use of ${name}`, async () => {
      const time = (await findKey(name))["last_used_at"];
      return typeof time === "string" && Date.parse(time);
    });
    expect(usedAt % HOUR_MS).toBe(0);
    expect(before - usedAt).toBeLessThan(HOUR_MS);
  }
  expect((await findKey("unused"))["last_used_at"]).toBeNull();
});
