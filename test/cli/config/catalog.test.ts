import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadCatalog } from "../../../src/app/catalog/load-catalog.ts";
import { CATALOG_FILE } from "../../../src/storage/files/catalog-store.ts";
import { type SourceModels, seedCatalog, startSource, type TestSource } from "../../catalog/seed-catalog.ts";
import { sourceModel } from "../../catalog/source-fixture.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { withStoresOf } from "../../support/money.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");
const FIRST: SourceModels = { openai: ["gpt-a", "gpt-b"].map((id) => sourceModel(id)) };
const JUMPED: SourceModels = {
  openai: [
    sourceModel("gpt-a", { cost: { input: 9, output: 2 } }),
    sourceModel("gpt-b"),
    sourceModel("gpt-c"),
  ],
};

let workspace: Workspace;
let source: TestSource;
let dataDir: string;
beforeAll(async () => {
  workspace = createWorkspace();
  source = startSource(JUMPED);
  dataDir = await seedCatalog(FIRST);
  writeFileSync(join(workspace.folder, "gateway.yaml"), JSON.stringify({ catalog: { source: source.url } }));
});
afterAll(() => {
  workspace.clear();
  source.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function run(...words: string[]) {
  return workspace.run(["catalog", ...words], { GATEWAY_DATA_DIR: dataDir });
}

/** Runs the command in its own process. */
function runInOwnProcess(...words: string[]) {
  return workspace.runInOwnProcess(["catalog", ...words], { environment: { GATEWAY_DATA_DIR: dataDir } });
}

function load() {
  return withStoresOf({ dataDir }, ({ catalog }) => loadCatalog(catalog));
}

async function promptPrice(id: string): Promise<string | undefined> {
  const model = (await load()).data.models.find((known) => known.id === id);
  return model?.endpoints[0]?.prices?.prompt;
}

test.skipIf(ON_POSTGRES)(
  "a refresh that is killed before it renames its file keeps the previous catalog",
  async () => {
    const file = join(dataDir, CATALOG_FILE);
    const before = readFileSync(file, "utf8");
    const preload = join(workspace.folder, "kill-at-rename.ts");
    writeFileSync(preload, 'require("node:fs").renameSync = () => process.kill(process.pid, "SIGKILL");');
    const child = Bun.spawn([process.execPath, "--preload", preload, MAIN, "catalog", "refresh"], {
      cwd: workspace.folder,
      env: { PATH: process.env["PATH"] ?? "", GATEWAY_DATA_DIR: dataDir },
      stdout: "ignore",
      stderr: "ignore",
    });
    expect(await child.exited).toBe(137);
    expect(readFileSync(file, "utf8")).toBe(before);
    const written = readdirSync(dataDir).find((name) => name.endsWith(".tmp"));
    expect(readFileSync(join(dataDir, written ?? "nothing was written"), "utf8")).toContain("openai/gpt-c");
    expect(await load()).toMatchObject({ origin: "imported", problems: [] });
  },
);

test.skipIf(!RUNS_SLOW_TESTS)(
  "diff shows changes without applying them, concurrent refreshes do not corrupt the catalog, and a price jump is held",
  async () => {
    const diff = await run("diff");
    expect(diff.stdout).toContain("+ openai/gpt-c");
    expect(diff.stdout).toContain("nothing was changed");
    expect(await promptPrice("openai/gpt-c")).toBeUndefined();

    const runs = await Promise.all([run("refresh"), runInOwnProcess("refresh", "--json")]);
    for (const { exitCode, stderr } of runs)
      if (exitCode !== 0) expect(stderr).toContain("The catalog is being refreshed");
    expect(runs.some(({ exitCode }) => exitCode === 0)).toBe(true);
    expect((await load()).problems).toEqual([]);
    expect([await promptPrice("openai/gpt-a"), await promptPrice("openai/gpt-c")]).toEqual([
      "0.000001",
      "0.000001",
    ]);

    const pending = await run("pending");
    expect(pending.stdout).toMatch(/^id +model +provider +price +in force +at the source +since\n/);
    expect(pending.stdout).toMatch(/change_\w{12} +openai\/gpt-a +openai +prompt +0\.000001 +0\.000009/);
  },
);

test.skipIf(!RUNS_SLOW_TESTS)(
  "held changes can be rejected and approved, and status reports missing models and failed refreshes",
  async () => {
    const held = await run("pending", "--json");
    const [{ id }] = (JSON.parse(held.stdout) as { data: [{ id: string }] }).data;
    expect((await run("approve")).stderr).toContain("Give the IDs of changes, or --all");
    expect((await run("reject", id)).stdout).toContain("openai/gpt-a at openai");
    expect((await run("pending")).stdout).toBe("No pending price changes.\n");
    expect((await run("pending", "--rejected")).stdout).toContain(id);
    expect((await run("approve", id)).exitCode).toBe(0);
    expect(await promptPrice("openai/gpt-a")).toBe("0.000009");
    expect((await run("approve", id)).exitCode).toBe(1);

    source.serve({ openai: (JUMPED["openai"] ?? []).slice(0, 2) });
    expect((await run("refresh")).stdout).toContain("openai/gpt-c: openai (gpt-c): not listed since");
    const status = JSON.parse((await run("status", "--json")).stdout) as { data: object };
    expect(status.data).toMatchObject({
      waiting: 0,
      rejected: 0,
      problem: null,
      missing: [{ model: "openai/gpt-c" }],
    });
    source.serve(() => new Response("oops", { status: 500 }));
    const failed = await run("refresh");
    expect([failed.exitCode, failed.stderr]).toEqual([1, `${source.url} answers 500\nnothing was changed\n`]);
    expect((await run("status")).stdout).toContain("answers 500");
  },
);
