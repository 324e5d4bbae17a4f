import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

/** A gateway whose configuration comes from a file, from variables and from the database. */
const FILE = {
  limits: { attempts: 3, models: { "openai/*": { concurrent: 5 } } },
  policy: { denied_models: ["openai/gpt-4"] },
  providers: {
    mine: {
      base_url: "http://127.0.0.1:1/v1",
      api_keys: ["sk-in-the-file-0123456789"],
      headers: { "x-team": "a-header-value" },
      models: [{ id: "mine/one", name: "one" }],
    },
  },
  guardrails: [{ name: "keys", kind: "regex", action: "block", patterns: ["sk-[a-z]{20}"] }],
};
const VARIABLES = { OPENAI_API_KEY: "sk-in-the-environment-0001", GATEWAY_LOG_LEVEL: "warn" };

const EDITS = [
  { path: ["providers", "groq", "api_keys"], value: [{ id: "main", key: "gsk-stored-0123456789" }] },
  { path: ["providers", "mine", "models", "mine/two"], value: { id: "mine/two", name: "two" } },
  { path: ["named_routes", "fast"], value: { kind: "alias", target: "mine/one" } },
  {
    path: ["guardrails", "mails"],
    value: { name: "mails", kind: "pii", on: "both", action: "mask", types: ["email"] },
  },
  { path: ["alerts", "error_share"], value: 0.2 },
  { path: ["timers", "silence_ms"], value: 45_000 },
];

// biome-ignore lint/suspicious/noExplicitAny: the tests look at many shapes
type Body = any;

describe("the configuration of a gateway", () => {
  let full: TestGateway;
  let empty: TestGateway;

  beforeAll(async () => {
    full = await startTestGateway({ yaml: JSON.stringify(FILE), environment: VARIABLES });
    empty = await startTestGateway();
  });
  afterAll(async () => {
    await full.stop();
    await empty.stop();
  });

  const admin = async (gateway: TestGateway, method: string, path: string, body?: unknown) => {
    const answer = await callAdmin(gateway, gateway.adminKey, method, path, body);
    return { status: answer.status, body: answer.body as Body, data: answer.data as Body };
  };

  /** Returns the values in force, without those of the machine. */
  const settingsOf = async (gateway: TestGateway) => {
    const { data } = await admin(gateway, "GET", "/settings");
    const left = new Set(["server.port", "data_dir", "admin_key", "database.url", "redis.url"]);
    // A provider that only variables configure has no entry, and so no default of it.
    left.add("providers.openai.enabled");
    const shown = data.filter(({ name }: Body) => !left.has(name));
    return Object.fromEntries(shown.map(({ name, value }: Body) => [name, sorted(value)]));
  };

  test("is exported and applied to an empty gateway, which then has the same values in force", async () => {
    expect((await admin(full, "PATCH", "/config", { edits: EDITS })).status).toBe(200);
    const { data: exported } = await admin(full, "GET", "/config/export");
    const text = JSON.stringify(exported);
    for (const secret of ["sk-in-the", "gsk-stored", "a-header-value"]) expect(text).not.toContain(secret);
    expect(exported.left_out).toContain("server.port");

    const missing = await admin(empty, "PUT", "/config", { document: exported.document });
    expect(missing.status).toBe(400);
    expect(missing.body.error.metadata.missing_secrets.toSorted()).toEqual(exported.secrets);

    const secrets = Object.fromEntries(exported.secrets.map((id: string) => [id, `sk-${id}-0123456789`]));
    const applied = await admin(empty, "PUT", "/config", { document: exported.document, secrets });
    expect(applied.status).toBe(200);
    expect(await settingsOf(empty)).toEqual(await settingsOf(full));
    expect((await admin(empty, "GET", "/config/export")).data.document).toEqual(exported.document);
  });

  test("is applied again without any change, also where it comes from a file", async () => {
    const { data: exported } = await admin(full, "GET", "/config/export");
    const secrets = {
      "openai-api-key": VARIABLES.OPENAI_API_KEY,
      "providers-mine-api-keys-0": FILE.providers.mine.api_keys[0],
      "providers-mine-headers-x-team": FILE.providers.mine.headers["x-team"],
    };
    const { status, data } = await admin(full, "PUT", "/config?dry_run=true", {
      document: exported.document,
      secrets,
    });
    expect(status).toBe(200);
    expect(data.changes.filter(({ name }: Body) => !name.startsWith("providers.openai."))).toEqual([]);
  });
});

/** Sorts a list by its entries: those of a file come before stored ones. */
function sorted(value: unknown): unknown {
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)).toSorted() : value;
}
