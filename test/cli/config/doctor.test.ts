import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { startCheckService } from "../../support/gateway/check-service.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { findFreePort } from "../../support/servers/free-port.ts";

interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failure";
  readonly text: string;
  readonly remedy: string | null;
}

/** Also where all tests run on PostgreSQL. */
const ON_SQLITE = { DATABASE_URL: "", REDIS_URL: "" };

let workspace: Workspace;

beforeAll(() => {
  workspace = createWorkspace();
});
afterAll(() => workspace.clear());

async function examine(environment: Readonly<Record<string, string>> = {}) {
  const { exitCode, stdout } = await workspace.run(["doctor", "--json"], environment);
  const { data } = JSON.parse(stdout) as { readonly data: readonly Finding[] };
  const of = (check: string) => data.filter((finding) => finding.check === check);
  return { exitCode, stdout, data, of };
}

describe("gateway doctor", () => {
  test("creates nothing where there is no data directory, and finds no failure", async () => {
    const folder = join(workspace.folder, "none");
    const { exitCode, of, data } = await examine({ ...ON_SQLITE, GATEWAY_DATA_DIR: folder });
    expect(data.filter(({ status }) => status === "failure")).toEqual([]);
    expect(exitCode).toBe(0);
    expect(of("data directory")[0]?.text).toBe(`${folder} does not exist`);
    expect(existsSync(folder)).toBe(false);
    expectPromisedOutput([{ command: "doctor", json: { data } }]);
  });

  test("says what is wrong with the configuration, keys and data directory, and what to do", async () => {
    const folder = join(workspace.folder, "open");
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    writeFileSync(
      join(folder, "gateway.db"),
      "this is no database, but long enough to look like a file of one",
    );
    writeFileSync(join(workspace.folder, "wrong.yaml"), "server: { prot: 1 }\n");
    const { exitCode, of, stdout } = await examine({
      GATEWAY_CONFIG: join(workspace.folder, "wrong.yaml"),
      ...ON_SQLITE,
      GATEWAY_DATA_DIR: folder,
      OPENAI_API_KEY: "your-openai-key",
      MISTRAL_API_KEY: "hush hush",
    });
    expect(exitCode).toBe(1);
    expect(of("configuration")).toMatchObject([
      { status: "failure", text: expect.stringContaining("Did you mean port?") },
    ]);
    expect(of("data directory")).toContainEqual({
      check: "data directory",
      status: "warning",
      text: "other users can read it",
      remedy: `The next start makes it private, or run: chmod -R go= ${folder}`,
    });
    expect(of("database file")).toMatchObject([{ status: "failure" }]);
    const ofKeys = of("provider keys").map(({ text }) => text);
    expect(ofKeys).toContain("a key of OpenAI is a placeholder");
    expect(ofKeys.some((text) => text.startsWith("a key of Mistral"))).toBe(true);
    expect(stdout).not.toContain("hush");
  });

  test("asks the webhooks of guardrails about a harmless text", async () => {
    const service = startCheckService();
    const rule = (name: string, url: string, onError: string) =>
      `  - {name: ${name}, kind: webhook, url: "${url}", on_error: ${onError}}`;
    const rules = [
      rule("good", service.url, "block"),
      rule("away", "http://127.0.0.1:1/hidden", "block"),
      rule("lax", "http://127.0.0.1:1/hidden", "allow"),
    ];
    const file = join(workspace.folder, "guardrails.yaml");
    writeFileSync(file, `guardrails:\n${rules.join("\n")}\n`);
    const { exitCode, of, stdout } = await examine({ ...ON_SQLITE, GATEWAY_CONFIG: file });
    expect(exitCode).toBe(1);
    expect(of("guardrails").map(({ status }) => status)).toEqual(["ok", "failure", "warning"]);
    expect(of("guardrails")[1]?.text).toContain(
      "the webhook of away at http://127.0.0.1:1 cannot check texts",
    );
    expect(service.questions).toHaveLength(1);
    expect(stdout).not.toContain("hidden");
    expect(stdout).not.toContain("secret-path");
    await service.stop();
  });

  test("reports servers that are away within its time, without passwords", async () => {
    const { exitCode, of, stdout } = await examine({
      DATABASE_URL: "postgres://gateway:hidden@127.0.0.1:1/gateway",
      REDIS_URL: "redis://:hidden@127.0.0.1:1",
    });
    expect(exitCode).toBe(1);
    expect(of("PostgreSQL")).toMatchObject([{ status: "failure" }]);
    expect(of("Redis")).toMatchObject([{ status: "failure" }]);
    expect(stdout).not.toContain("hidden");
  });

  test("prints marks, remedies and a sum as text", async () => {
    const { stdout } = await workspace.run(["doctor"], { GATEWAY_LOGLEVEL: "x" });
    expect(stdout).toMatch(/^ok {7}runtime: gateway /m);
    expect(stdout).toMatch(/^WARNING {2}configuration: GATEWAY_LOGLEVEL .*GATEWAY_LOG_LEVEL\?\n {9}\w/m);
    expect(stdout).toMatch(/\n\d+ failures, \d+ warnings\.\n$/);
  });
});

describe("gateway doctor at a configured address", () => {
  let gateway: GatewayProcess | null = null;
  afterAll(async () => {
    await gateway?.stop();
  });

  test("finds the running gateway, or another program that has the port", async () => {
    const port = String(await findFreePort());
    const environment = { GATEWAY_PORT: port };
    expect((await examine(environment)).of("address")).toMatchObject([
      { status: "ok", text: expect.stringContaining("is free") },
    ]);
    gateway = await workspace.start(environment);
    const { of } = await examine(environment);
    expect(of("address")).toMatchObject([{ status: "ok", text: expect.stringContaining("is ready") }]);
    const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
    try {
      const found = (await examine({ GATEWAY_PORT: String(other.port) })).of("address");
      expect(found).toMatchObject([{ status: "failure", text: expect.stringContaining("not a gateway") }]);
    } finally {
      await other.stop(true);
    }
  });
});

describe.skipIf(POSTGRES_BIN === null)("gateway doctor with PostgreSQL", () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());

  test("reports version, schema and clock of the server", async () => {
    const empty = await examine({ DATABASE_URL: await server.createDatabase() });
    expect(empty.of("PostgreSQL")).toMatchObject([
      { status: "ok", text: expect.stringMatching(/PostgreSQL \d+/) },
      { status: "warning", remedy: expect.stringContaining("gateway migrate") },
      { status: "ok", text: expect.stringContaining("clock differs") },
    ]);
    const migrated = await examine({ DATABASE_URL: await server.createMigratedDatabase() });
    expect(migrated.of("PostgreSQL").map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  });
});
