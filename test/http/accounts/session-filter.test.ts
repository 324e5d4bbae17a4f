import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

let gateway: TestGateway;
let accounts: readonly { readonly id: string; readonly key: string; readonly managementKey: string }[];

beforeAll(async () => {
  gateway = await startTestGateway();
  const create = createAccountTools(gateway);
  accounts = await Promise.all(
    ["one", "two"].map(async (name) => {
      const id = await create.user(name);
      await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${id}/credits`, { amount: 1 });
      return {
        id,
        key: await create.key(id),
        managementKey: await create.key(id, { kind: "management" }),
      };
    }),
  );
});
afterAll(() => gateway.stop());

/** Sends a request of an account and returns the id of its generation. */
async function ask(
  at: number,
  more: { readonly body?: Record<string, unknown>; readonly headers?: Record<string, string> },
): Promise<string> {
  const response = await fetch(`${gateway.base}/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${accounts[at]?.key}`,
      "content-type": "application/json",
      ...more.headers,
    },
    body: JSON.stringify({
      model: "sandbox/echo",
      messages: [{ role: "user", content: "Hi" }],
      ...more.body,
    }),
  });
  await response.text();
  return response.headers.get("x-gateway-generation-id") ?? "";
}

async function list(query: string, key = gateway.adminKey) {
  const { status, body } = await callAdmin(gateway, key, "GET", `/generations?${query}`);
  const data = (body as unknown as { data?: { id: string; session_id: string | null }[] }).data ?? [];
  return { status, body, ids: data.map(({ id }) => id), sessions: data.map(({ session_id }) => session_id) };
}

test("the requests of a session are listed by what its client sent, and by its hash, for each account separately", async () => {
  const [one, two] = accounts;
  const first = await ask(0, { body: { session_id: "my session" } });
  const second = await ask(0, { headers: { "x-session-id": "my session" } });
  const other = await ask(0, {});
  const foreign = await ask(1, { body: { session_id: "my session" } });

  const own = await list("session_id=my%20session", one?.managementKey);
  expect(own.ids).toEqual([second, first]);
  const [hash] = own.sessions;
  expect(hash).toMatch(/^s_[\w-]{32}$/);
  expect((await list(`session_id=${hash}`)).ids).toEqual([second, first]);
  expect((await list(`session_id=my%20session&account_id=${two?.id}`)).ids).toEqual([foreign]);
  expect((await list(`session_id=${hash}`, two?.managementKey)).ids).toEqual([]);

  const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${first}`);
  expect(data["session_id"]).toBe(hash ?? null);
  expect(JSON.stringify(data)).not.toContain("my session");
  const without = await callAdmin(gateway, gateway.adminKey, "GET", `/generations/${other}`);
  expect(without.data["session_id"]).toBeNull();
});

test("a client's session without an account is rejected with the remedy", async () => {
  const { status, body } = await list("session_id=mine");
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("Set account_id too")]);
});
