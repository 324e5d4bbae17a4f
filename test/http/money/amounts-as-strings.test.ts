import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;
let user: string;
let organization: string;
let key: string;
let budget: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  const create = createAccountTools(gateway);
  user = await create.user("Ada");
  organization = await create.organization(user);
  const make = async (path: string, body: object) =>
    (await callAdmin(gateway, gateway.adminKey, "POST", path, body)).data.id;
  key = await make("/keys", { name: "k", account_id: user });
  budget = await make("/budgets", { account_id: user, limit: 1 });
});
afterAll(() => gateway.stop());

const cases: readonly (readonly [string, string, () => string, string, object])[] = [
  ["credits", "POST", () => `/accounts/${user}/credits`, "amount", {}],
  ["a correction", "POST", () => `/accounts/${user}/corrections`, "amount", { note: "n" }],
  ["an overdraft", "PATCH", () => `/users/${user}`, "overdraft", {}],
  ["a monthly limit", "PATCH", () => `/organizations/${organization}`, "monthly_limit", {}],
  [
    "a daily limit",
    "PUT",
    () => `/organizations/${organization}/members/${user}`,
    "daily_limit",
    { role: "owner" },
  ],
  ["a spending limit", "PATCH", () => `/keys/${key}`, "spend_limit", {}],
  ["a new spending limit", "POST", () => "/keys", "spend_limit", { name: "s" }],
  ["a budget", "PATCH", () => `/budgets/${budget}`, "limit", {}],
  ["a new budget", "POST", () => "/budgets", "limit", {}],
];

test.each(cases)("%s is a number or a decimal string", async (_what, method, path, field, more) => {
  for (const amount of ["12.500000001", 12.5, "7"]) {
    const { status, data } = await callAdmin(gateway, gateway.adminKey, method, path(), {
      ...more,
      [field]: amount,
    });
    expect(status).toBeLessThan(300);
    if (field !== "amount") expect(data[field]).toBe(Number(amount));
  }
});

test.each(cases)(
  "%s is not another text, and the error names the field",
  async (_what, method, path, field, more) => {
    for (const amount of [
      "",
      "1e3",
      "0x10",
      " 1",
      "1,5",
      "1.0000000001",
      "10000000",
      true,
      [1],
      "NaN",
      ...(field === "amount" ? [] : ["-1", -1]),
    ]) {
      const { status, body } = await callAdmin(gateway, gateway.adminKey, method, path(), {
        ...more,
        [field]: amount,
      });
      expect([amount, status]).toEqual([amount, 400]);
      expect(JSON.stringify(body["error"])).toContain(field);
    }
  },
);
