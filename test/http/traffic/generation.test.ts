import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, readEvents, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

function find(query: string, key: string | null = gateway.key): Promise<Response> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${gateway.base}/generation${query}`, { headers });
}

function ask(content: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const body = { model: "sandbox/echo", messages: [{ role: "user", content }], ...more };
  return postChat(gateway, body, headers);
}

async function found(response: Response): Promise<Record<string, unknown>> {
  if (!response.bodyUsed) await response.text();
  const answer = await find(`?id=${response.headers.get("x-gateway-generation-id")}`);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
}

describe("GET generation", () => {
  test("returns the model, outcome, token usage and cost of a generation as soon as it is answered", async () => {
    const response = await ask("Hello!");
    const body = (await response.json()) as { id: string; usage: { cost: number } };
    expect(await found(response)).toMatchObject({
      id: body.id,
      request_id: response.headers.get("x-request-id"),
      requested_model: "sandbox/echo",
      model: "sandbox/echo",
      provider_name: "sandbox",
      streamed: false,
      outcome: "completed",
      cancelled: false,
      status: 200,
      error_type: null,
      finish_reason: "stop",
      tokens_prompt: 2,
      tokens_completion: 4,
      estimated: false,
      total_cost: body.usage.cost,
      // Two tokens at 0.000001 and four at 0.000002 dollars.
      total_cost_nanodollars: 10_000,
      attempts: [{ provider_name: "sandbox", upstream_status: 200, error_type: null }],
    });
  });

  test("returns the same fields for a stream", async () => {
    const response = await ask("Hello!", { stream: true });
    const events = await readEvents(response);
    const usage = JSON.parse(events.at(-2) as string).usage as Record<string, number>;
    expect(await found(response)).toMatchObject({
      streamed: true,
      outcome: "completed",
      tokens_prompt: usage["prompt_tokens"],
      tokens_completion: usage["completion_tokens"],
      total_cost: usage["cost"],
    });
  });

  test("returns a failed generation, which costs nothing", async () => {
    const record = await found(await ask("[sandbox:error=500] x"));
    expect(record).toMatchObject({
      outcome: "failed",
      status: 502,
      error_type: "upstream_error",
      total_cost_nanodollars: 0,
      attempts: [{ upstream_status: 500, error_type: "upstream_error" }],
    });
  });

  test("returns a generation of a free model, which costs nothing", async () => {
    const record = await found(await ask("Hello!", { model: "sandbox/echo:free" }));
    expect(record).toMatchObject({ model: "sandbox/echo:free", total_cost: 0, total_cost_nanodollars: 0 });
  });

  test("contains neither prompt, answer, client address nor key", async () => {
    const response = await ask("the secret word is xyzzy");
    await response.text();
    const text = await (await find(`?id=${response.headers.get("x-gateway-generation-id")}`)).text();
    expect(text).not.toContain("xyzzy");
    expect(text).not.toContain("127.0.0.1");
    expect(text).not.toContain(gateway.key);
  });

  test("returns the same 404 for another caller's generation as for an unknown one", async () => {
    const anonymous = await ask("Hello!", { model: "sandbox/echo:free" }, { authorization: "" });
    await anonymous.text();
    for (const id of [anonymous.headers.get("x-gateway-generation-id"), "gen_none", "x", "%00"]) {
      const response = await find(`?id=${id}`);
      expect([id, response.status]).toEqual([id, 404]);
      expect(await response.json()).toMatchObject({ error: { type: "not_found" } });
    }
  });

  test.each(["", "?id=", "?other=1"])("rejects a request without an id: %p", async (query) => {
    const response = await find(query);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request", message: expect.stringContaining("id") },
    });
  });

  test("rejects a request without an inference key", async () => {
    expect((await find("?id=gen_none", null)).status).toBe(401);
    expect((await find("?id=gen_none", "wrong")).status).toBe(401);
    expect((await find("?id=gen_none", "anonymous")).status).toBe(401);
    expect((await find("?id=gen_none", gateway.adminKey)).status).toBe(403);
  });
});

describe("the log", () => {
  const HEADERS = { "x-forwarded-for": "203.0.113.77", "user-agent": "agent-secret" };

  test.each<[string, () => Promise<Response>, number]>([
    ["an answer", () => ask("xyzzy", {}, HEADERS), 200],
    ["a stream", () => ask("xyzzy", { stream: true }, HEADERS), 200],
    ["a stream that breaks", () => ask("[sandbox:cut] xyzzy", { stream: true }, HEADERS), 200],
    ["a rejection by the upstream", () => ask("[sandbox:error=500] xyzzy", {}, HEADERS), 502],
    ["a refusal by the upstream", () => ask("[sandbox:error=400] xyzzy", {}, HEADERS), 400],
    ["invalid parameters", () => ask("xyzzy", { temperature: 9 }, HEADERS), 400],
    ["an unknown model", () => ask("xyzzy", { model: "sandbox/unknown" }, HEADERS), 400],
    ["a wrong key", () => ask("xyzzy", {}, { ...HEADERS, authorization: "Bearer gw_xyzzy" }), 401],
    [
      "a request without a key",
      () => ask("xyzzy", { model: "sandbox/echo:free" }, { ...HEADERS, authorization: "" }),
      200,
    ],
    ["a list", () => fetch(`${gateway.base}/models?xyzzy=1`, { headers: HEADERS }), 200],
    ["a wrong method", () => fetch(`${gateway.base}/models`, { method: "POST", body: "xyzzy" }), 405],
    ["an unknown path", () => fetch(`${gateway.url}/xyzzy`, { headers: HEADERS }), 404],
    ["the creation of a key", () => makeKey("xyzzy"), 201],
  ])(
    "has one line for %s, which contains neither key, prompt nor client address",
    async (_name, call, status) => {
      const before = gateway.log.length;
      const response = await call();
      const text = await response.text();
      expect(response.status).toBe(status);
      const lines = gateway.log.slice(before);
      expect(lines.map(({ event }) => event)).toEqual(["request"]);
      const { fields } = lines[0] as { fields: Record<string, unknown> };
      expect(fields).toMatchObject({ request_id: response.headers.get("x-request-id"), status });
      expect(fields["duration_ms"]).toBeNumber();
      const line = JSON.stringify(lines);
      for (const secret of [
        "xyzzy",
        "127.0.0.1",
        "203.0.113",
        gateway.key,
        gateway.adminKey,
        "agent-secret",
      ]) {
        expect(line).not.toContain(secret);
      }
      const made = /"key":"(gw_\w+)"/.exec(text)?.[1];
      if (made !== undefined) expect(line).not.toContain(made);
    },
  );

  test("contains the token usage and cost of a generation", async () => {
    const response = await ask("Hello!");
    await response.text();
    expect(gateway.log.at(-1)?.fields).toMatchObject({
      route: "/chat/completions",
      generation_id: response.headers.get("x-gateway-generation-id"),
      key_id: expect.stringMatching(/^key_/),
      model: "sandbox/echo",
      provider: "sandbox",
      streamed: false,
      outcome: "completed",
      attempts: 1,
      prompt_tokens: 2,
      completion_tokens: 4,
      cost_nanodollars: 10_000,
    });
  });

  test("contains health checks only at debug level", async () => {
    const before = gateway.log.length;
    await (await fetch(`${gateway.url}/healthz`)).text();
    await (await fetch(`${gateway.url}/readyz`)).text();
    expect(gateway.log.slice(before).map(({ level }) => level)).toEqual(["debug", "debug"]);
  });

  function makeKey(name: string): Promise<Response> {
    return fetch(`${gateway.url}/api/admin/keys`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${gateway.adminKey}`,
        "content-type": "application/json",
        ...HEADERS,
      },
      body: JSON.stringify({ name }),
    });
  }
});
