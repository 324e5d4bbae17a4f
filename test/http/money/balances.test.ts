import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;
let tools: AccountTools;
beforeAll(async () => {
  gateway = await startTestGateway();
  tools = createAccountTools(gateway);
});
afterAll(() => gateway.stop());

const call = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

test("the balances of all organizations are listed by pages, and those of users on request", async () => {
  const user = await tools.user("Ada");
  const first = await tools.organization(user, { name: "Acme" });
  const second = await tools.organization(undefined, { name: "Globex", overdraft: 5 });
  await call("POST", `/accounts/${first}/credits`, { amount: "12.5" });
  await call("PATCH", `/organizations/${first}`, { closed: true });

  const page = await call("GET", "/balances?limit=1");
  expect(page.rows).toEqual([
    {
      account: { id: second, name: "Globex", kind: "organization" },
      balance: 0,
      balance_nanodollars: 0,
      held: 0,
      held_nanodollars: 0,
      overdraft: 5,
      closed_at: null,
    } as never,
  ]);
  const next = await call("GET", `/balances?limit=1&after=${page.body["next"]}`);
  expect(next.rows[0]).toMatchObject({
    account: { id: first, name: "Acme" },
    balance_nanodollars: 12_500_000_000,
    closed_at: expect.any(String),
  });
  expect(next.body["next"]).toBeNull();
  const users = await call("GET", "/balances?kind=user");
  expect(users.rows.map(({ account }) => account)).toContainEqual({ id: user, name: "Ada", kind: "user" });
});

test("the list of members has their names", async () => {
  const grace = await tools.user("Grace Hopper");
  const organization = await tools.organization(grace);
  const { rows } = await call("GET", `/organizations/${organization}/members`);
  expect(rows).toEqual([
    expect.objectContaining({ user_id: grace, user_name: "Grace Hopper", role: "owner" }),
  ]);
});
