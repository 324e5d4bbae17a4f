import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PGBOUNCER, startTestPgBouncer, type TestPgBouncer } from "../../support/databases/pgbouncer.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { IS_LONG_RUN } from "../../support/long-run.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.clear());

test("gateway migrate creates the tables of SQLite, names the steps, and applies nothing the second time", async () => {
  const environment = { DATABASE_URL: "" };
  const first = await workspace.run(["migrate"], environment);
  expect(first).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("  step 1\n  step 2\n") });
  const second = await workspace.run(["migrate"], environment);
  expect(second.stdout).toBe("./data has all tables of this version: nothing to apply.\n");
});

test("a command on an unreachable database names it without its password, and the reason", async () => {
  const environment = { DATABASE_URL: "postgres://gateway:hush@127.0.0.1:1/books" };
  for (const command of [["migrate"], ["keys", "list"]]) {
    const { exitCode, stderr } = await workspace.run(command, environment);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("the database postgres://127.0.0.1:1/books"),
    ]);
    expect(stderr).not.toContain("hush");
  }
});

describe.skipIf(POSTGRES_BIN === null || !IS_LONG_RUN)("on PostgreSQL", () => {
  let server: TestPostgres;
  let environment: { readonly DATABASE_URL: string };
  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    environment = { DATABASE_URL: await server.createDatabase() };
  });

  test("a command that does not start a gateway leaves an empty database as it is and names the command to run", async () => {
    const { exitCode, stderr } = await workspace.run(["keys", "list"], environment);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("run `gateway migrate`")]);
    expect((await workspace.run(["migrate"], environment)).stdout).toContain("0001-accounts");
  });

  test("gateway migrate in several processes at the same time applies each step once", async () => {
    const runs = await Promise.all(
      Array.from({ length: 3 }, () => workspace.runInOwnProcess(["migrate"], { environment })),
    );
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(Array(3).fill([0, ""]));
    expect(runs.filter(({ stdout }) => stdout.includes("  0001-accounts\n"))).toHaveLength(1);
    expect(runs.filter(({ stdout }) => stdout.includes("nothing to apply"))).toHaveLength(2);
  });

  test("a gateway creates the tables when it starts, and commands share them with it", async () => {
    const gateway = await workspace.start(environment);
    const made = await workspace.run(["users", "create", "Ada", "--json"], environment);
    const { data } = JSON.parse(made.stdout) as { data: { id: string } };
    const listed = await workspace.run(["users", "list"], environment);
    expect(listed.stdout).toContain(data.id);
    expect((await workspace.run(["audit", "verify"], environment)).exitCode).toBe(0);
    expect(await gateway.stop()).toMatchObject({ exitCode: 0 });
  });

  describe.skipIf(PGBOUNCER === null)("behind PgBouncer in transaction mode", () => {
    let pooler: TestPgBouncer;
    beforeEach(async () => {
      pooler = await startTestPgBouncer(environment.DATABASE_URL);
      writeFileSync(join(workspace.folder, "gateway.yaml"), "database: { pooled: true }\n");
    });
    afterEach(() => pooler.remove());

    test("gateway migrate, a gateway with concurrent requests, and commands work", async () => {
      const pooled = { DATABASE_URL: pooler.url };
      expect(await workspace.run(["migrate"], pooled)).toMatchObject({ exitCode: 0, stderr: "" });
      const gateway = await workspace.start(pooled);
      const key = /inference key +(gw_\w+)/.exec(gateway.greeting())?.[1];
      const ask = async () => {
        const response = await fetch(`${gateway.url}/api/gateway/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }] }),
        });
        await response.text();
        return response.status;
      };
      const made = Array.from({ length: 10 }, (_, index) =>
        workspace.run(["users", "create", `user ${index}`], pooled),
      );
      expect(await Promise.all(Array.from({ length: 30 }, ask))).toEqual(Array(30).fill(200));
      expect((await Promise.all(made)).map(({ exitCode }) => exitCode)).toEqual(Array(10).fill(0));
      expect(await gateway.stop()).toMatchObject({ exitCode: 0 });
      const { stdout } = await workspace.run(["usage", "--by", "model", "--csv"], pooled);
      expect(stdout).toContain("sandbox/echo,30,0");
      expect(await workspace.run(["ledger", "check"], pooled)).toMatchObject({ exitCode: 0 });
    });
  });
});
