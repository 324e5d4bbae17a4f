// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of references
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openTestPostgres } from "../../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { makeTempFolder } from "../../support/temp-folder.ts";

/** Has every character that a URL gives a meaning to, and what a template could expand. */
const PASSWORD = "p@ss:w/o?r#d%41 $&'\"\\é";

const ROLES = `host all gateway 127.0.0.1/32 trust
local all gateway trust
host all locked 127.0.0.1/32 scram-sha-256
`;

describe.skipIf(POSTGRES_BIN === null || !RUNS_SLOW_TESTS)("the database of the gateway's commands", () => {
  let server: TestPostgres;
  let url: string;
  let other: string;
  let workspace: Workspace;

  beforeAll(async () => {
    const folder = makeTempFolder("gateway-hba-");
    chmodSync(folder, 0o755);
    const hba = join(folder, "pg_hba.conf");
    writeFileSync(hba, ROLES);
    server = await startTestPostgres({ hba_file: hba });
    const admin = openTestPostgres(await server.createDatabase());
    await admin.run(`CREATE ROLE locked SUPERUSER LOGIN PASSWORD '${PASSWORD.replaceAll("'", "''")}'`);
    await admin.close();
  });
  afterAll(() => server?.remove());
  beforeEach(async () => {
    [url, other] = await Promise.all([server.createMigratedDatabase(), server.createDatabase()]);
    workspace = createWorkspace();
  });
  afterEach(() => workspace.clear());

  const nameOf = (database: string) => new URL(database).pathname.slice(1);
  const locked = (password: string) => `postgres://locked${password}@127.0.0.1:${server.port}/${nameOf(url)}`;

  async function countTables(database: string): Promise<number> {
    const sql = openTestPostgres(database);
    const rows = await sql.run(
      "SELECT 1 FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    await sql.close();
    return rows.length;
  }

  test("is that of DATABASE_URL, whatever the variables of libpq say, and commands that check it name it with its schema", async () => {
    const variables = {
      PGDATABASE: nameOf(other),
      PGHOST: "nowhere.invalid",
      PGPORT: "1",
      PGUSER: "another",
      PGPASSWORD: "wrong",
      PGOPTIONS: "-c search_path=elsewhere",
      PGSSLMODE: "verify-full",
      PGAPPNAME: "another",
      PGCHANNELBINDING: "require",
    };
    for (const args of [
      ["ledger", "check"],
      ["audit", "verify"],
    ]) {
      const run = await workspace.run(args, { ...variables, DATABASE_URL: url });
      expect(run).toMatchObject({ exitCode: 0 });
      expect(run.stderr).toBe(
        `Database: postgres://127.0.0.1:${server.port}/${nameOf(url)}, schema public\n`,
      );
    }
    const copied = await workspace.run(
      ["storage", "copy", "--from", url, "--to", join(workspace.folder, "copy")],
      {
        ...variables,
        DATABASE_URL: url,
      },
    );
    expect(copied).toMatchObject({ exitCode: 0 });
    expect(copied.stdout).toContain(`127.0.0.1:${server.port}/${nameOf(url)}`);
    expect(await countTables(other)).toBe(0);
  });

  test("is named by a start with its schema, also one over a unix socket in a schema of its own", async () => {
    const sql = openTestPostgres(other);
    await sql.run("CREATE SCHEMA apart");
    const [{ folder = "" } = {}] = await sql.run<{ folder: string }>(
      "SELECT current_setting('unix_socket_directories') AS folder",
    );
    await sql.close();
    const DATABASE_URL = `postgres://gateway@/${nameOf(other)}?host=${folder}&port=${server.port}&search_path=apart`;
    const gateway = await workspace.start({ DATABASE_URL, PGDATABASE: nameOf(url) });
    const { stderr, stdout } = await gateway.stop();
    expect(stdout + stderr).toContain(
      `"stores":"postgres:///${nameOf(other)}?host=${folder}&port=${server.port}","schema":"apart"`,
    );
    expect(await countTables(url)).toBeGreaterThan(20);
  });

  test("takes a password with any characters from a file or a variable, which is encoded where it is inserted", async () => {
    const file = join(workspace.folder, "password");
    writeFileSync(file, `${PASSWORD}\n`);
    const config = (yaml: string) => writeFileSync(join(workspace.folder, "gateway.yaml"), yaml);
    const check = (environment: Readonly<Record<string, string>>) =>
      workspace.run(["ledger", "check"], environment);
    const right = { exitCode: 0 };
    // In the variable itself, and in the file.
    expect(await check({ DATABASE_URL: locked(`:\${file:${file}}`) })).toMatchObject(right);
    expect(await check({ DATABASE_URL: locked(":${DB_PASSWORD}"), DB_PASSWORD: PASSWORD })).toMatchObject(
      right,
    );
    config(`database: {url: "${locked(`:\${file:${file}}`)}"}`);
    expect(await check({})).toMatchObject(right);
    config(`database: {password_file: ${file}}`);
    expect(await check({ DATABASE_URL: locked("") })).toMatchObject(right);
    const wrong = await check({ DATABASE_URL: locked(":other") });
    expect(wrong.stderr).toContain("is a second password: database.url has one");
    const printed = await workspace.run(["config", "print"], { DATABASE_URL: locked("") });
    for (const part of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(printed.stdout).not.toContain(part);
    config("");
    expect((await check({ DATABASE_URL: locked(":wrong") })).stderr).toContain(
      "password authentication failed",
    );
  });

  test("says at a wrong reference of DATABASE_URL which variable and file it is", async () => {
    const run = await workspace.run(["ledger", "check"], { DATABASE_URL: locked(":${file:/nowhere}") });
    expect(run.exitCode).not.toBe(0);
    expect(run.stderr).toContain('DATABASE_URL has "${file:/nowhere}": the file cannot be read');
  });
});
