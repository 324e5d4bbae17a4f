import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;
let organization: string;
let ownKey: string;
let memberId: string;

const manage = (method: string, path: string, body?: object, key = gateway.adminKey) =>
  callAdmin(gateway, key, method, path, body);

beforeAll(async () => {
  gateway = await startTestGateway();
  const create = createAccountTools(gateway);
  memberId = await create.user("member");
  organization = await create.organization(memberId);
  ownKey = await create.key(organization, { kind: "management" });
});
afterAll(() => gateway.stop());

describe("managing budgets", () => {
  test("a new budget has defaults, and the audit log has its changes", async () => {
    const { status, data } = await manage("POST", "/budgets", { account_id: organization, limit: 12.5 });
    expect(status).toBe(201);
    const expected = {
      ...{ subject: "account", key_id: null, user_id: null, end_user: null, tag: null, limit: 12.5 },
      ...{ name: "account by month", period: "month", days: null, action: "block", warn_at: 0.8 },
      ...{ set_by: "operator", spent: 0, remaining: 12.5, state: "ok", top: [] },
    };
    expect(data).toMatchObject(expected);
    const path = `/budgets/${data.id}`;
    await manage("PATCH", path, { limit: 3, action: "warn", warn_at: 0.555, name: "New" });
    expect((await manage("GET", path)).data).toMatchObject({
      limit: 3,
      action: "warn",
      warn_at: 0.555,
      name: "New",
    });
    await manage("DELETE", path);
    expect((await manage("GET", path)).status).toBe(404);
    const audit = await manage("GET", `/audit?account_id=${organization}&limit=3`);
    const entries = (audit.body["data"] as { target: string; action: string }[]).filter(
      ({ target }) => target === data.id,
    );
    expect(entries.map(({ action }) => action.split(" ")[0])).toEqual(["DELETE", "PATCH", "POST"]);
  });

  test("an organization changes its own budgets, and none that the operator has set", async () => {
    const { data: own } = await manage("POST", "/budgets", { limit: 1 }, ownKey);
    expect(own).toMatchObject({ account_id: organization, set_by: "account" });
    const { data: fixed } = await manage("POST", "/budgets", { account_id: organization, limit: 1 });
    expect((await manage("PATCH", `/budgets/${own.id}`, { limit: 2 }, ownKey)).status).toBe(200);
    for (const [method, body] of [["PATCH", { limit: 2 }], ["DELETE"]] as const)
      expect((await manage(method, `/budgets/${fixed.id}`, body, ownKey)).status).toBe(403);
  });

  const invalid = [
    { field: "days", budget: { period: "rolling" } },
    { field: "days", budget: { period: "day", days: 3 } },
    { field: "key_id", budget: { key_id: "key_none" } },
    { field: "user_id", budget: { user_id: "user_none" } },
    { field: "tag", budget: { end_user: "ada", tag: "a" } },
    { field: "limit", budget: { limit: 0 } },
    { field: "warn_at", budget: { warn_at: 0.12345 } },
  ];
  test.each(invalid)(
    "a budget with $budget is rejected, and the error names $field",
    async ({ field, budget }) => {
      const { status, body } = await manage("POST", "/budgets", { limit: 1, ...budget }, ownKey);
      expect(status).toBe(400);
      expect(JSON.stringify(body["error"])).toContain(field);
    },
  );

  test("the key of a member sees the budgets that all its requests count for, and no others", async () => {
    const { body, data: key } = await manage("POST", "/keys", {
      name: "k",
      account_id: organization,
      user_id: memberId,
    });
    const other = await manage("POST", "/keys", { name: "other", account_id: organization });
    await manage("POST", "/budgets", { account_id: organization, name: "own", key_id: key.id, limit: 1 });
    await manage("POST", "/budgets", { account_id: organization, name: "mine", user_id: memberId, limit: 1 });
    await manage("POST", "/budgets", {
      account_id: organization,
      name: "foreign",
      key_id: other.data.id,
      limit: 1,
    });
    const response = await fetch(`${gateway.base}/key`, {
      headers: { authorization: `Bearer ${body["key"]}` },
    });
    const { data } = (await response.json()) as { data: { budgets: { name: string; remaining: number }[] } };
    const names = data.budgets.map(({ name }) => name);
    expect(names).toContain("own");
    expect(names).toContain("mine");
    expect(names).not.toContain("foreign");
  });

  test("a list shows the budgets of one account page by page", async () => {
    const create = createAccountTools(gateway);
    const account_id = await create.user("pages");
    for (const name of ["a", "b", "c"]) await manage("POST", "/budgets", { account_id, name, limit: 1 });
    const first = await manage("GET", `/budgets?account_id=${account_id}&limit=2`);
    const second = await manage(
      "GET",
      `/budgets?account_id=${account_id}&limit=2&after=${first.body["next"]}`,
    );
    const namesOf = ({ body }: { body: Record<string, unknown> }) =>
      (body["data"] as { name: string }[]).map(({ name }) => name);
    expect([...namesOf(first), ...namesOf(second)]).toEqual(["a", "b", "c"]);
    expect(second.body["next"]).toBeNull();
  });
});
