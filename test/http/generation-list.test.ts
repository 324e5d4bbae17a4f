import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway.ts";
import { callAdmin } from "../support/management.ts";

let gateway: TestGateway;
let ids: string[];

beforeAll(async () => {
  gateway = await startTestGateway();
  ids = [];
  for (const [model, content] of [
    ["sandbox/echo", "one"],
    ["sandbox/echo", "two"],
    ["sandbox/echo:free", "[sandbox:error=400]"],
  ]) {
    const response = await postChat(gateway, { model, messages: [{ role: "user", content }] });
    await response.text();
    ids.unshift(response.headers.get("x-gateway-generation-id") ?? "");
  }
});
afterAll(() => gateway.stop());

async function list(query = "", key = gateway.adminKey) {
  const response = await callAdmin(gateway, key, "GET", `/generations${query}`);
  const body = response.body as { data: Record<string, unknown>[]; next: string | null };
  return { status: response.status, ids: body.data?.map(({ id }) => id), ...body };
}

describe("GET /api/admin/generations", () => {
  test("lists generations newest first, in pages", async () => {
    const first = await list("?limit=2");
    expect(first).toMatchObject({ status: 200, ids: ids.slice(0, 2), next: ids[1] });
    expect(await list(`?limit=2&after=${first.next}`)).toMatchObject({ ids: ids.slice(2), next: null });
  });

  test("shows who made a generation, its outcome, usage and cost", async () => {
    const { data } = await list();
    expect(data.at(-1)).toMatchObject({
      id: ids[2],
      account_id: "acct_default",
      api: "chat.completions",
      model: "sandbox/echo",
      outcome: "completed",
      status: 200,
      attempts: 1,
      is_byok: false,
    });
    expect(data.at(-1)?.["total_cost_nanodollars"]).toBeGreaterThan(0);
  });

  test("filters by account, key, model and outcome", async () => {
    const [newest] = (await list()).data;
    expect((await list("?outcome=failed")).ids).toEqual(ids.slice(0, 1));
    expect((await list("?model=sandbox/echo")).ids).toEqual(ids.slice(1));
    expect((await list(`?key_id=${newest?.["key_id"]}&account_id=acct_default`)).ids).toEqual(ids);
    expect((await list("?model=sandbox/echo&outcome=failed")).ids).toEqual([]);
    expect((await list("?account_id=user_none")).ids).toEqual([]);
  });

  test.each(["?after=17", "?outcome=lost", "?limit=1000", "?before=x"])(
    "rejects the query %s",
    async (query) => {
      expect((await list(query)).status).toBe(400);
    },
  );
});
