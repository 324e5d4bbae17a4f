import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { copyMigratedDatabase } from "../../support/databases/sqlite-template.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";

let workspace: Workspace;

beforeAll(() => {
  workspace = createWorkspace();
});
afterAll(() => workspace.clear());

function dataDir(): { GATEWAY_DATA_DIR: string } {
  const folder = mkdtempSync(join(workspace.folder, "data-"));
  copyMigratedDatabase(folder);
  return { GATEWAY_DATA_DIR: folder };
}

describe.concurrent("gateway credits, ledger and usage", () => {
  test("grant credits only once per id, and list them", async () => {
    const environment = dataDir();
    await workspace.run(["migrate"], environment);
    const grant = ["credits", "grant", "acct_default", "12.50", "--note", "welcome", "--id", "w1"];
    const first = await workspace.run(grant, environment);
    expect([first.exitCode, first.stderr]).toEqual([0, ""]);
    expect(first.stdout).toContain(
      "Added 12.5 US dollars to default (acct_default): grant:w1. Its balance is 12.5.",
    );
    const again = await workspace.run([...grant, "--json"], environment);
    expect(JSON.parse(again.stdout)).toMatchObject({
      data: { id: "grant:w1", amount_nanodollars: 12_500_000_000 },
    });
    for (const [words, balance] of [
      [["credits", "list", "acct_default"], ""],
      [["ledger", "acct_default"], "balance"],
    ] as const) {
      const table = await workspace.run(words, environment);
      const [heading, row, ...rest] = table.stdout.trim().split("\n");
      const columns = ["number", "time", "kind", "dollars", balance, "expires", "model", "about"];
      expect(heading?.split(/ +/)).toEqual(columns.filter((name) => name !== ""));
      expect(row?.split(/ +/).slice(2)).toEqual(["grant", "12.5", ...(balance ? ["12.5"] : []), "welcome"]);
      expect(rest).toEqual([]);
      const json = await workspace.run([...words, "--json"], environment);
      expect(JSON.parse(json.stdout)).toMatchObject({ data: [{ kind: "grant", note: "welcome" }] });
    }
  });

  test("list the balance after each entry of the ledger", async () => {
    const environment = dataDir();
    await workspace.run(["credits", "grant", "acct_default", "10"], environment);
    await workspace.run(["credits", "correct", "acct_default", "-2.5", "--note", "mistake"], environment);
    await workspace.run(["credits", "grant", "acct_default", "1"], environment);
    const { stdout } = await workspace.run(["ledger", "acct_default"], environment);
    const rows = stdout.trim().split("\n").slice(1);
    expect(rows.map((row) => row.split(/ +/).slice(2, 5))).toEqual([
      ["grant", "1", "8.5"],
      ["correction", "-2.5", "7.5"],
      ["grant", "10", "10"],
    ]);
  });

  test("report no usage as a sentence and as JSON", async () => {
    const environment = dataDir();
    const days = ["usage", "--from", "2026-01-01", "--to", "2026-01-31"];
    expect((await workspace.run(days, environment)).stdout).toContain("from 2026-01-01 to 2026-01-31");
    expect((await workspace.run([...days, "--by", "model", "--json"], environment)).stdout).toBe(
      '{"data":[]}\n',
    );
  });

  test.each<[string, string[], number, string]>([
    ["an invalid amount", ["credits", "grant", "acct_default", "many"], 2, "12.50"],
    ["an unknown account", ["credits", "grant", "user_none", "1"], 1, "user_none"],
    [
      "an expiry time in the past",
      ["credits", "grant", "acct_default", "1", "--expires", "2020-01-01"],
      1,
      "--expires",
    ],
    ["an unknown kind", ["ledger", "acct_default", "--kind", "gift"], 2, "grant"],
    ["an unknown group", ["usage", "--by", "mood"], 2, "model"],
    ["days in the wrong order", ["usage", "--from", "2026-02-01", "--to", "2026-01-01"], 1, "from"],
  ])("reject %s", async (_what, args, exitCode, word) => {
    const run = await workspace.run(args, dataDir());
    expect([run.exitCode, run.stdout]).toEqual([exitCode, ""]);
    expect(run.stderr).toContain(word);
  });
});
