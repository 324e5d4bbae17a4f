import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

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
    expect((await list("?model_contains=ECHO")).ids).toEqual(ids);
    expect((await list("?model_contains=o:Free")).ids).toEqual(ids.slice(0, 1));
    expect((await list("?account_id=user_none")).ids).toEqual([]);
  });

  test("filters by user, provider, type of error and time", async () => {
    const { data } = await list();
    const times = data.map((line) => String(line["created_at"]));
    expect((await list("?provider=sandbox&outcome=completed")).ids).toEqual(ids.slice(1));
    expect((await list("?provider=openai")).ids).toEqual([]);
    expect((await list(`?error_type=${data[0]?.["error_type"]}`)).ids).toEqual(ids.slice(0, 1));
    expect((await list("?user_id=user_none")).ids).toEqual([]);
    expect((await list(`?to=${times[2]}`)).ids).toEqual([]);
    expect((await list("?from=2020-01-01T00:00:00%2B02:00&limit=100")).ids).toEqual(ids);
  });

  test("shows the names of the account and the API key, and the id of the request", async () => {
    const [line] = (await list()).data;
    expect(line).toMatchObject({ account_name: "default", user_id: null, user_name: null });
    expect(line?.["key_name"]).toBeString();
    expect(line?.["request_id"]).toMatch(/^req_/);
  });

  test("finds one generation by its id or by the id of its request, if it matches the other filters", async () => {
    const [, line] = (await list()).data;
    for (const id of [line?.["id"], line?.["request_id"]]) {
      expect(await list(`?id=${id}`)).toMatchObject({ ids: [ids[1]], next: null });
      expect((await list(`?id=${id}&outcome=failed`)).ids).toEqual([]);
    }
    expect((await list("?id=req_none")).ids).toEqual([]);
  });

  test.each([
    "?after=17",
    "?outcome=lost",
    "?limit=1000",
    "?before=x",
    "?id=17",
    "?from=yesterday",
    "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
  ])("rejects the query %s", async (query) => {
    expect((await list(query)).status).toBe(400);
  });
});

describe("GET /api/admin/generations/{id}", () => {
  test("shows route, cost, caller and ledger entries, by the id of the generation or of the request", async () => {
    const [id] = ids.slice(1);
    const { status, data } = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${id}`);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      id,
      outcome: "completed",
      account: { id: "acct_default", name: "default" },
      user: null,
      has_bodies: false,
      transfers: [{ id, kind: "usage", account_id: "acct_default" }],
    });
    expect(data["transfers"]).toHaveLength(1);
    expect(data["plan"]).not.toBeEmpty();
    expect(data["duration"]).toBeNumber();
    const byRequest = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${data["request_id"]}`);
    expect(byRequest.data).toEqual(data);
  });

  test("shows refunds after the charge", async () => {
    const id = ids.at(-1);
    await callAdmin(gateway, gateway.adminKey, "POST", `/generations/${id}/refund`, {});
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${id}`);
    const transfers = data["transfers"] as { kind: string; amount_nanodollars: number }[];
    expect(transfers.map(({ kind }) => kind)).toEqual(["usage", "refund"]);
    expect(transfers[0]?.amount_nanodollars).toBe(-(transfers[1]?.amount_nanodollars ?? 0));
  });

  test("returns 404 for a generation of another account, as for one that does not exist", async () => {
    const create = createAccountTools(gateway);
    const key = await create.key(await create.user("stranger"), { kind: "management" });
    const [there, not] = await Promise.all(
      [ids[0], "gen_none"].map((id) => callAdmin(gateway, key, "GET", `/generations/${id}`)),
    );
    expect([there?.status, there?.body]).toEqual([404, not?.body]);
    expect((await list("", key)).ids).toEqual([]);
    expect((await list(`?id=${ids[0]}`, key)).ids).toEqual([]);
  });
});

describe("GET /api/admin/generations/histogram", () => {
  async function count(query: string) {
    const { status, body } = await callAdmin(
      gateway,
      gateway.adminKey,
      "GET",
      `/generations/histogram${query}`,
    );
    return { status, body: body as unknown as Histogram };
  }
  interface Histogram {
    readonly is_exact: boolean;
    readonly bucket_ms: number;
    readonly buckets: readonly {
      at: string;
      completed: number;
      failed: number;
      cancelled: number;
      open: number;
    }[];
  }
  const sumOf = ({ buckets }: Histogram, name: "completed" | "failed") =>
    buckets.reduce((sum, bucket) => sum + bucket[name], 0);

  test("counts the generations of the last 24 hours by outcome", async () => {
    const { status, body } = await count("");
    expect(status).toBe(200);
    expect([body.is_exact, sumOf(body, "completed"), sumOf(body, "failed")]).toEqual([true, 2, 1]);
    expect(body.buckets.length).toBeLessThanOrEqual(60);
    const [first, second] = body.buckets.map(({ at }) => Date.parse(at));
    expect((second ?? 0) - (first ?? 0)).toBe(body.bucket_ms);
  });

  test("has at most as many periods as asked for, and only what matches the filter", async () => {
    const { body } = await count("?buckets=3&model=sandbox/echo");
    expect(body.buckets.length).toBeLessThanOrEqual(3);
    expect([sumOf(body, "completed"), sumOf(body, "failed")]).toEqual([2, 0]);
  });

  test.each(["?buckets=0", "?buckets=121", "?from=2100-01-01T00:00:00Z", "?limit=1"])(
    "rejects the query %s",
    async (query) => {
      expect((await count(query)).status).toBe(400);
    },
  );
});

describe("GET /api/admin/usage", () => {
  const usage = (query: string) => callAdmin(gateway, gateway.adminKey, "GET", `/usage${query}`);

  test("groups by two dimensions, and names keys and accounts", async () => {
    const { status, rows } = await usage("?group_by=model,key");
    expect(status).toBe(200);
    expect(rows.map((row) => [row["model"], row["requests"]])).toEqual([
      ["sandbox/echo", 2],
      ["sandbox/echo:free", 1],
    ]);
    for (const row of rows) {
      expect(row["key"]).toStartWith("key_");
      expect(row["key_name"]).toBeString();
    }
    const [account] = (await usage("?group_by=account")).rows;
    expect(account).toMatchObject({ account: "acct_default", account_name: "default" });
  });

  test("sums only the usage of a model, provider, key or user", async () => {
    const sumOf = async (query: string) =>
      (await usage(query)).rows.reduce((sum, row) => sum + Number(row["requests"]), 0);
    expect(await sumOf("?model=sandbox/echo")).toBe(2);
    expect(await sumOf("?provider=sandbox")).toBe(3);
    expect(await sumOf("?provider=openai")).toBe(0);
    expect(await sumOf("?key_id=key_none")).toBe(0);
    expect(await sumOf("?user_id=user_none")).toBe(0);
  });

  test("has the names in CSV, too", async () => {
    const response = await fetch(`${gateway.url}/api/admin/usage?group_by=day,key&format=csv`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(response.headers.get("content-disposition")).toContain("usage-by-day-and-key-");
    expect(await response.text()).toStartWith("day,key,key_name,requests,errors,");
  });

  test.each(["?group_by=week", "?group_by=day,day", "?group_by=hour,day,model,key", "?group_by="])(
    "rejects the query %s, and names the field",
    async (query) => {
      const { status, body } = await usage(query);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("group_by")]);
    },
  );
});
