import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { ADMIN_KEY, postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const START = "limits: { attempts: 3 }";

let yaml: string;
let gateway: TestGateway;

/** The keys with which the vendor was called. */
let calls: string[];
let vendor: Bun.Server<undefined>;
/** What the vendor's answers wait for. */
let held: Promise<void> | null = null;
/** The keys that the vendor rejects. */
let rejected: string[];

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const key = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      calls.push(key);
      await held;
      if (rejected.includes(key))
        return Response.json(
          { error: { message: "wrong key", type: "invalid_request_error" } },
          { status: 401 },
        );
      return Response.json({
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    },
  });
  gateway = await startTestGateway({ yaml: START, readYaml: () => yaml });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});
beforeEach(async () => {
  calls = [];
  rejected = [];
  held = null;
  yaml = START;
  await reload();
});

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

async function reload(query = "", key = gateway.adminKey) {
  const response = await fetch(`${gateway.url}/api/admin/settings/reload${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: "{}",
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function read(path: string, key = gateway.adminKey) {
  const response = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
  return { status: response.status, body: (await response.json()) as Body };
}

async function setting(name: string) {
  const { body } = await read("/api/admin/settings");
  return body.data.find((one: { name: string }) => one.name === name);
}

const host = (key: string) =>
  `providers: { mine: { base_url: "${vendor.url.href}v1", api_keys: [${key}], models: [{ id: me/m }] } }`;
const ask = (model: string) => postChat(gateway, { model, messages: [{ role: "user", content: "x" }] });

describe("a reload of the configuration", () => {
  test("answers what has changed, puts it in force, and writes it to the audit log", async () => {
    yaml = "limits: { attempts: 2 }\nserver: { port: 9999 }";
    const { status, body } = await reload();
    expect(status).toBe(200);
    expect(body.data.applied).toBe(true);
    expect(body.data.changes).toEqual([
      { name: "limits.attempts", before: 3, after: 2, is_secret: false, needs_restart: false },
    ]);
    expect(await setting("limits.attempts")).toMatchObject({ value: 2, awaits_restart: false });
    const audit = await read("/api/admin/audit?limit=1");
    expect(audit.body.data[0]).toMatchObject({
      action: "POST /api/admin/settings/reload",
      changes: { "limits.attempts": { before: 3, after: 2 } },
    });
  });

  test("names settings that need a restart, which keep their values", async () => {
    yaml = `${START}\nstorage: { max_staleness_ms: 5000 }`;
    const { body } = await reload();
    expect(body.data.changes).toEqual([
      {
        name: "storage.max_staleness_ms",
        before: 3_600_000,
        after: 5_000,
        is_secret: false,
        needs_restart: true,
      },
    ]);
    expect(await setting("storage.max_staleness_ms")).toMatchObject({
      value: 3_600_000,
      needs_restart: true,
      awaits_restart: true,
    });
  });

  test("with dry_run lists the changes and makes none", async () => {
    yaml = "limits: { attempts: 5 }";
    const { body } = await reload("?dry_run=true");
    expect(body.data).toMatchObject({ applied: false, changes: [{ name: "limits.attempts", after: 5 }] });
    expect(await setting("limits.attempts")).toMatchObject({ value: 3 });
  });

  test("is rejected as a whole with all problems, and nothing changes", async () => {
    yaml =
      "limits: { attempts: 9, atempts: 1 }\npolicy: { denied_providers: [opnai] }\nbilling: { webhook_secret: x }";
    const { status, body } = await reload();
    expect(status).toBe(409);
    const fields = body.error.metadata.problems.map(({ field }: { field: string }) => field);
    expect(fields.sort()).toEqual(["billing.webhook_secret", "limits.atempts", "policy.denied_providers.0"]);
    expect(body.error.metadata.problems[0]).toMatchObject({ file: "gateway.yaml", line: 1, column: 24 });
    expect(await setting("limits.attempts")).toMatchObject({ value: 3 });
    yaml = "policy: { denied_providers: [opnai, openai] }\nproviders: { nowhere: {} }";
    expect((await reload()).body.error.metadata.problems).toHaveLength(2);
    expect((await reload("?dry_run=true")).status).toBe(409);
    expect(await setting("policy.denied_providers")).toMatchObject({ value: [] });
  });

  test("is rejected if the file with the secret of the OpenID Connect client cannot be read, and nothing changes", async () => {
    yaml =
      "limits: { attempts: 9 }\nconsole: { oidc: { issuer: 'http://127.0.0.1:1', client_id: x, client_secret_file: /nowhere } }";
    const { status, body } = await reload();
    expect(status).toBe(409);
    expect(body.error.message).toContain("console.oidc.client_secret_file cannot be read");
    expect(await setting("limits.attempts")).toMatchObject({ value: 3 });
    expect((await ask("sandbox/echo")).status).toBe(200);
  });

  test("never shows a secret", async () => {
    yaml = `${START}\nbilling: { webhook_secret: hush-hush-hush-hush-hush-hush-hush-hush }\n${host("hush-key")}`;
    const { body } = await reload();
    expect(JSON.stringify(body)).not.toContain("hush");
    expect(body.data.changes).toContainEqual({
      name: "providers.mine.api_keys",
      before: null,
      after: ["********"],
      is_secret: true,
      needs_restart: false,
    });
    expect(JSON.stringify(await read("/api/admin/audit?limit=5"))).not.toContain("hush");
  });

  test("is only for the operator", async () => {
    expect((await reload("", gateway.key)).status).toBe(403);
    expect((await reload("", "gw_wrong")).status).toBe(401);
  });

  test("applies the policy and the rate limits to the next request", async () => {
    expect((await ask("sandbox/echo")).status).toBe(200);
    yaml = "policy: { denied_models: [sandbox/echo] }";
    await reload();
    expect((await ask("sandbox/echo")).status).toBe(403);
    yaml = "limits: { per_key: { requests_per_minute: 1 } }";
    await reload();
    const statuses = [(await ask("sandbox/echo")).status, (await ask("sandbox/echo")).status];
    expect(statuses).toContain(429);
    yaml = START;
    await reload();
    expect((await ask("sandbox/echo")).status).toBe(200);
  });

  test("adds and removes tiers, providers and models", async () => {
    yaml = `tiers: [{ id: gateway-auto/mine, name: Mine, rule: { by: balance, paid: { models: [me/m] }, else: { models: [me/m] } } }]\n${host("k")}`;
    await reload();
    expect((await ask("gateway-auto/mine")).status).toBe(200);
    yaml = START;
    await reload();
    expect((await ask("me/m")).status).toBe(400);
    expect((await ask("gateway-auto/mine")).status).toBe(400);
  });

  test("adds and removes named routes, which are listed and cannot be stored while the file has them", async () => {
    yaml = `named_routes: { echo: { kind: alias, target: sandbox/echo } }`;
    await reload();
    expect((await ask("echo")).status).toBe(200);
    expect((await read("/api/admin/named-routes")).body.data).toMatchObject([
      { name: "echo", source: "file" },
    ]);
    const put = () =>
      fetch(`${gateway.url}/api/admin/named-routes/echo`, {
        method: "PUT",
        headers: { authorization: `Bearer ${gateway.adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ kind: "alias", target: "sandbox/echo" }),
      });
    expect((await put()).status).toBe(409);
    yaml = START;
    await reload();
    expect((await ask("echo")).status).toBe(400);
    expect((await read("/api/admin/named-routes")).body.data).toEqual([]);
    expect((await put()).status).toBe(200);
    await fetch(`${gateway.url}/api/admin/named-routes/echo`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
  });

  test("changes hosts of the console and the largest body", async () => {
    yaml = "limits: { body_bytes: 1024 }\nconsole: { enabled: false }";
    await reload();
    const large = await postChat(gateway, {
      model: "sandbox/echo",
      messages: [{ role: "user", content: "x".repeat(2_000) }],
    });
    expect(large.status).toBe(413);
    expect((await fetch(`${gateway.url}/console`)).status).toBe(404);
  });
});

describe("a rotated provider key", () => {
  test("is used by the next request, while a request in progress ends with the former one", async () => {
    yaml = host("old-key");
    await reload();
    const gate = Promise.withResolvers<void>();
    held = gate.promise;
    const running = ask("me/m");
    await eventually("the call", () => calls.length > 0);
    yaml = host("new-key");
    await reload();
    held = null;
    expect((await ask("me/m")).status).toBe(200);
    gate.resolve();
    expect((await running).status).toBe(200);
    expect(calls).toEqual(["old-key", "new-key"]);
  });

  test("has none of the cooldowns of the former one, also not of a request that fails late", async () => {
    yaml = host("bad-key");
    rejected = ["bad-key"];
    await reload();
    expect((await ask("me/m")).status).toBeGreaterThanOrEqual(500);
    const gate = Promise.withResolvers<void>();
    yaml = host("worse-key");
    rejected = ["bad-key", "worse-key"];
    await reload();
    held = gate.promise;
    calls = [];
    const late = ask("me/m");
    await eventually("the call", () => calls.length > 0);
    yaml = host("good-key");
    await reload();
    gate.resolve();
    expect((await late).status).toBeGreaterThanOrEqual(500);
    expect((await ask("me/m")).status).toBe(200);
    expect(calls).toEqual(["worse-key", "good-key"]);
  });

  test("of the management API replaces the former one", async () => {
    const own = await startTestGateway({
      adminKey: null,
      yaml: `admin_key: ${ADMIN_KEY}-1`,
      readYaml: () => `admin_key: ${ADMIN_KEY}-2`,
      key: "unused",
    });
    try {
      const call = (key: string) =>
        fetch(`${own.url}/api/admin/settings`, { headers: { authorization: `Bearer ${key}` } });
      await fetch(`${own.url}/api/admin/settings/reload`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN_KEY}-1`, "content-type": "application/json" },
        body: "{}",
      });
      expect((await call(`${ADMIN_KEY}-1`)).status).toBe(401);
      expect((await call(`${ADMIN_KEY}-2`)).status).toBe(200);
    } finally {
      await own.stop();
    }
  });
});
