import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const YAML = `limits: { attempts: 3 }
providers:
  fixed:
    base_url: http://127.0.0.1:1/v1
    models: [{ id: file/model, name: m }]
`;

let yaml = YAML;
let gateway: TestGateway;
/** The keys with which the vendor was called. */
const calls: string[] = [];
let vendor: Bun.Server<undefined>;

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (new URL(request.url).pathname === "/v1/models")
        return Response.json({ data: [{ id: "llama-3", max_model_len: 8192 }, { id: "qwen" }] });
      calls.push(request.headers.get("authorization")?.replace("Bearer ", "") ?? "");
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
  gateway = await startTestGateway({ yaml: YAML, readYaml: () => yaml });
});
afterAll(async () => {
  await gateway.stop();
  await vendor.stop(true);
});

const refer = (to: string) => `\${${to}}`;
const SECRET = "sk-stored-0123456789abcdef";

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await callAdmin(gateway, gateway.adminKey, method, path, body);
  return { status: answer.status, body: answer.body as Body, data: answer.data as Body };
};
const edit = (path: readonly string[], value: unknown) =>
  admin("PATCH", "/config", { edits: [{ path, value }] });
const remove = (path: readonly string[]) => admin("PATCH", "/config", { edits: [{ path, remove: true }] });
const setting = async (name: string) =>
  (await admin("GET", "/settings")).data.find((one: Body) => one.name === name);
const ask = (model: string) => postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });

describe("the stored configuration", () => {
  test("adds a provider with its key, which the next request uses, and stores the key encrypted", async () => {
    const { status, data } = await edit(["providers", "mine"], {
      base_url: `http://127.0.0.1:${vendor.port}/v1`,
      api_keys: [SECRET],
      models: [{ id: "mine/model", name: "m", prices: { prompt: "0", completion: "0" } }],
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({ stored: true });
    expect(data.changes.map(({ name }: Body) => name)).toContain("providers.mine.api_keys");
    expect(JSON.stringify(data)).not.toContain(SECRET);
    expect((await ask("mine/model")).status).toBe(200);
    expect(calls.at(-1)).toBe(SECRET);
    const stored = await admin("GET", "/config");
    const [reference] = stored.data.document.providers.mine.api_keys;
    expect(reference).toMatch(/^\$\{secret:mine-[0-9a-f]{8}\}$/);
    expect(stored.data.secrets).toEqual([
      expect.objectContaining({ id: reference.slice(9, -1), last_four: "cdef" }),
    ]);
    expect(JSON.stringify(stored.body)).not.toContain(SECRET);
    expect(await setting("providers.mine.base_url")).toMatchObject({ source: "database" });
    expect(await setting("providers.mine.api_keys")).toMatchObject({
      value: ["********"],
      is_secret: true,
    });
  });

  test("replaces the value of a secret at the next request", async () => {
    const { data } = await admin("GET", "/config");
    const id = data.document.providers.mine.api_keys[0].slice(9, -1);
    expect((await admin("PUT", `/config/secrets/${id}`, { value: "sk-rotated-0123456789" })).status).toBe(
      200,
    );
    expect((await ask("mine/model")).status).toBe(200);
    expect(calls.at(-1)).toBe("sk-rotated-0123456789");
    expect((await admin("DELETE", `/config/secrets/${id}`)).status).toBe(409);
  });

  test("is rejected where the file sets the setting, with the file and the line", async () => {
    const { status, body } = await edit(["limits", "attempts"], 4);
    expect(status).toBe(409);
    expect(body.error.message).toContain("limits.attempts is set in gateway.yaml:1");
    expect(body.error.metadata.pinned).toEqual([
      { path: ["limits", "attempts"], file: "gateway.yaml", line: 1, variable: null, gateway: null },
    ]);
    expect((await edit(["limits", "repeats"], 2)).status).toBe(200);
    expect(await setting("limits.repeats")).toMatchObject({ value: 2, source: "database" });
  });

  test("adds an entry to a list of the file, and not one with an id that the file has", async () => {
    const path = ["providers", "fixed", "models"];
    const added = { id: "stored/model", name: "s" };
    expect((await edit([...path, "stored/model"], added)).status).toBe(200);
    expect((await setting("providers.fixed.models")).value.map(({ id }: Body) => id)).toEqual([
      "file/model",
      "stored/model",
    ]);
    const { status, body } = await edit([...path, "file/model"], { id: "file/model", name: "other" });
    expect(status).toBe(409);
    expect(body.error.message).toContain('providers.fixed.models."file/model" is set in gateway.yaml:5');
    expect((await remove([...path, "stored/model"])).status).toBe(200);
  });

  test("is rejected with the field of each problem, and nothing changes", async () => {
    const before = await admin("GET", "/config");
    const { status, body } = await admin("PATCH", "/config", {
      edits: [
        { path: ["limits", "atempts"], value: 1 },
        { path: ["timers", "silence_ms"], value: "soon" },
        { path: ["policy", "denied_providers"], value: ["opnai"] },
      ],
    });
    expect(status).toBe(400);
    expect(body.error.metadata.problems.map(({ field }: Body) => field).sort()).toEqual([
      "limits.atempts",
      "policy.denied_providers.0",
      "timers.silence_ms",
    ]);
    expect((await admin("GET", "/config")).data).toEqual(before.data);
  });

  test("names no line of the file in a problem with what the file does not have", async () => {
    const { status, body } = await edit(["providers", "unknown", "api_keys"], ["sk-0123456789abcdef"]);
    expect(status).toBe(400);
    const [problem] = body.error.metadata.problems;
    expect(problem).toMatchObject({ file: null, line: null, field: "providers.unknown" });
    expect(problem.message).toStartWith("providers.unknown is not in the catalog");
  });

  test("refers to no variable and no file of the machine, and sets nothing that belongs to it", async () => {
    for (const value of [refer("HOME"), refer("file:/etc/hostname")]) {
      const { status, body } = await edit(["console", "url"], value);
      expect(status).toBe(400);
      expect(body.error.message).toContain(refer("secret:id"));
    }
    const { status, body } = await edit(["server", "port"], 1);
    expect(status).toBe(400);
    expect(body.error.metadata.field).toBe("server.port");
  });

  test("names the secrets that are missing, and takes them with the change", async () => {
    const document = { metrics: { token: refer("secret:metrics") } };
    const before = (await admin("GET", "/config")).data.document;
    const put = (more: object) => admin("PUT", "/config", { document: { ...before, ...document }, ...more });
    const { status, body } = await put({});
    expect(status).toBe(400);
    expect(body.error.metadata.missing_secrets).toEqual(["metrics"]);
    expect((await put({ secrets: { metrics: "a-token-of-32-characters-000000" } })).status).toBe(200);
    const scrape = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: "Bearer a-token-of-32-characters-000000" },
    });
    expect(scrape.status).toBe(200);
    await scrape.body?.cancel();
  });

  test("rejects a change that was made from a revision that is not the latest", async () => {
    const { data } = await admin("GET", "/config");
    const change = { edits: [{ path: ["log_level"], value: "warn" }] };
    expect((await admin("PATCH", "/config", { revision: data.revision, ...change })).status).toBe(200);
    const { status, body } = await admin("PATCH", "/config", { revision: data.revision, ...change });
    expect(status).toBe(409);
    expect(body.error.metadata.latest).toBe(data.revision + 1);
  });

  test("checks a change without storing it", async () => {
    const { data: before } = await admin("GET", "/config");
    const { status, data } = await admin("PATCH", "/config?dry_run=true", {
      edits: [{ path: ["log_level"], value: "error" }],
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      stored: false,
      revision: before.revision,
      changes: [{ name: "log_level", before: "warn", after: "error" }],
    });
    expect((await admin("GET", "/config")).data).toEqual(before);
  });

  test("can be set back to a former revision", async () => {
    const { data: rows } = await admin("GET", "/config/revisions?limit=2");
    await edit(["log_level"], "error");
    expect((await admin("POST", `/config/revisions/${rows[0].revision}/restore`)).status).toBe(200);
    expect(await setting("log_level")).toMatchObject({ value: "warn" });
    expect((await admin("POST", "/config/revisions/999/restore")).status).toBe(404);
  });

  test("is in the audit log with the values before and after, without secrets", async () => {
    await edit(["policy", "denied_models"], ["mine/model"]);
    const { body } = await admin("GET", "/audit?limit=1");
    expect(body.data[0].changes).toEqual({ "policy.denied_models": { before: [], after: ["mine/model"] } });
    expect(JSON.stringify((await admin("GET", "/audit?limit=100")).body)).not.toContain("sk-");
    await remove(["policy"]);
  });

  test("gives way to the file when that sets the setting too", async () => {
    yaml = `${YAML}log_level: debug\n`;
    const { data } = await admin("POST", "/settings/reload");
    expect(data.changes).toMatchObject([{ name: "log_level", before: "warn", after: "debug" }]);
    expect(await setting("log_level")).toMatchObject({ source: "file" });
    yaml = YAML;
    await admin("POST", "/settings/reload");
    expect(await setting("log_level")).toMatchObject({ value: "warn", source: "database" });
  });

  test("forgets a secret to which no setting refers any more", async () => {
    expect((await remove(["metrics"])).status).toBe(200);
    const { data } = await admin("GET", "/config/secrets");
    expect(data.map(({ id }: Body) => id)).not.toContain("metrics");
  });

  test("is only for the operator", async () => {
    expect((await callAdmin(gateway, gateway.key, "GET", "/config")).status).toBe(403);
    expect((await callAdmin(gateway, gateway.key, "PATCH", "/config", { edits: [] })).status).toBe(403);
  });

  test("is applied at the next start", async () => {
    const { dataDir, key } = gateway;
    await gateway.stop({ keepData: true });
    gateway = await startTestGateway({ yaml: YAML, readYaml: () => yaml, dataDir, key });
    expect((await ask("mine/model")).status).toBe(200);
    expect(calls.at(-1)).toBe("sk-rotated-0123456789");
    expect(await setting("log_level")).toMatchObject({ value: "warn" });
  });
});

describe("settings before they are stored", () => {
  const host = (more: object = {}) => ({
    base_url: `http://127.0.0.1:${vendor.port}/v1`,
    api_keys: ["sk-one-0123456789", { id: "two", key: "sk-two-0123456789", weight: 0 }],
    models: [{ id: "tried/model", name: "m", prices: { prompt: "0", completion: "0" } }],
    ...more,
  });

  test("of a provider are tested with each key, and neither stored nor served", async () => {
    calls.length = 0;
    const { status, data } = await admin("POST", "/config/providers/tried/test", { settings: host() });
    expect(status).toBe(200);
    expect(data).toMatchObject([
      { key: "tried#0", status: "ok", model: "tried/model" },
      { key: "tried#two", status: "ok" },
    ]);
    expect(calls).toEqual(["sk-one-0123456789", "sk-two-0123456789"]);
    expect((await ask("tried/model")).status).toBe(400);
    expect(JSON.stringify((await admin("GET", "/config")).body)).not.toContain("tried");
  });

  test("of a provider list the models of its host", async () => {
    const { status, data } = await admin("POST", "/config/providers/tried/models", { settings: host() });
    expect(status).toBe(200);
    expect(data).toEqual([
      { id: "llama-3", context_length: 8192 },
      { id: "qwen", context_length: null },
    ]);
  });

  test("of a provider do not reach a cloud's metadata service", async () => {
    const settings = host({ base_url: "http://169.254.169.254/v1" });
    const { status, body } = await admin("POST", "/config/providers/tried/test", { settings });
    expect(status).toBe(400);
    expect(body.error.message).toContain("metadata service");
  });

  test("of a guardrail are tried on a text", async () => {
    const guardrail = { name: "mails", kind: "pii", types: ["email"], on: "request", action: "mask" };
    const text = "Write to ada@example.com";
    expect((await admin("POST", "/config/guardrails/try", { guardrail, text })).data).toEqual({
      action: "mask",
      kinds: ["EMAIL"],
      reason: null,
      text: "Write to [EMAIL_1]",
    });
    const wrong = await admin("POST", "/config/guardrails/try", {
      guardrail: { ...guardrail, kind: "pi" },
      text,
    });
    expect(wrong.status).toBe(400);
    const off = { ...guardrail, enabled: false };
    expect((await admin("POST", "/config/guardrails/try", { guardrail: off, text })).data).toMatchObject({
      action: "mask",
    });
    expect(JSON.stringify((await admin("GET", "/config")).body)).not.toContain("mails");
  });

  test("of a guardrail of the file are tried under its name", async () => {
    yaml = `${YAML}guardrails: [{ name: no-keys, kind: regex, patterns: ["sk-[0-9]+"], action: mask }]\n`;
    await admin("POST", "/settings/reload");
    const guardrail = { name: "no-keys", kind: "regex", patterns: ["sk-[0-9]+"], action: "mask" };
    expect(
      (await admin("POST", "/config/guardrails/try", { guardrail, text: "It is sk-1." })).data,
    ).toMatchObject({ action: "mask", text: "It is [NO_KEYS_1]." });
    yaml = YAML;
    await admin("POST", "/settings/reload");
  });
});
