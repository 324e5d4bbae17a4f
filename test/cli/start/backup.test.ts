import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hashFile } from "../../../src/app/backup/hash-files.ts";
import { type BackupManifest, readManifest } from "../../../src/app/backup/manifest.ts";
import { lockFile } from "../../../src/storage/sqlite/connection/data-lock.ts";
import { MIGRATIONS } from "../../../src/storage/sqlite/migrations/list.ts";
import { CAN_FILL_DISK, WITH_FULL_DISK } from "../../support/databases/full-disk.ts";
import { openGatewayDatabase } from "../../support/databases/gateway-database.ts";
import { AS_SHIPPED } from "../../support/gateway/gateway-process.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

const BYOK_KEY = "own-backed-up-0123456789";

let vendor: RecordingVendor;
let workspace: Workspace;
let at: (name: string) => string;

/** A row of sums for which there are no records. */
const SUM_OF_NOTHING = `INSERT INTO usage_days (day, account_id, key_id, user_id, model, provider, requests, errors,
  prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost, upstream_cost)
  VALUES (20000, 'acct_default', '', '', 'acme/model', 'vendor', 1, 0, 1, 1, 0, 0, 0, 5, 5)`;

/** A backup of a data directory with an account, credits and a BYOK key, without its master key. */
const BACKUP = "backup";

beforeAll(async () => {
  vendor = startRecordingVendor();
  workspace = createWorkspace();
  at = (name) => join(workspace.folder, name);
  writeFileSync(at("gateway.yaml"), yamlFor(vendor));
  await workspace.run(["migrate"]);
  await workspace.run(["orgs", "create", "Acme"]);
  await workspace.run(["credits", "grant", "acct_default", "5"]);
  await workspace.runInOwnProcess(["provider-keys", "add", "vendor"], { stdin: `${BYOK_KEY}\n` });
  expect(await run("create", BACKUP)).toMatchObject({ exitCode: 0, stderr: "" });
});
afterAll(async () => {
  await vendor.stop();
  workspace.clear();
});

const run = (...args: readonly string[]) => workspace.run(["backup", ...args]);

/** Copies the backup, and changes the copy. Unless `change` says otherwise, the manifest fits the changed database. */
async function changed(name: string, change: (folder: string) => void, isHashed = true): Promise<string> {
  cpSync(at(BACKUP), at(name), { recursive: true });
  change(at(name));
  const file = join(at(name), "gateway.db");
  const { files, ...rest } = readManifest(at(name));
  const rehashed = files.map((one) => ({ ...one, bytes: statSync(join(at(name), one.name)).size }));
  for (const one of rehashed)
    if (one.name === "gateway.db" && isHashed) Object.assign(one, { sha256: await hashFile(file) });
  writeManifest(name, { ...rest, files: rehashed });
  return name;
}

const writeManifest = (name: string, manifest: Partial<BackupManifest>): void =>
  writeFileSync(join(at(name), "manifest.json"), JSON.stringify(manifest));

const execute =
  (text: string) =>
  (folder: string): void => {
    const database = openGatewayDatabase(folder);
    database.exec(text);
    database.close();
  };

describe("gateway backup create", () => {
  test("the backup is private, has no trace of its writing, and describes itself", async () => {
    const { files, rows, schema_version } = readManifest(at(BACKUP));
    expect(files.map(({ name }) => name)).toEqual(["gateway.db", "responses.db"]);
    expect(rows).toMatchObject({ accounts: 2, provider_keys: 1, transfers: 1 });
    expect(schema_version).toBe(MIGRATIONS.length);
    expect(readdirSync(at(BACKUP)).sort()).toEqual([
      "gateway.db",
      "journal",
      "manifest.json",
      "responses.db",
    ]);
    expect(statSync(at(BACKUP)).mode & 0o777).toBe(0o700);
    for (const name of ["gateway.db", "manifest.json", "responses.db"])
      expect(statSync(join(at(BACKUP), name)).mode & 0o777).toBe(0o600);
  });

  test("an existing target, a backup and a data directory as the folder are rejected with the reason", async () => {
    writeFileSync(at("file"), "");
    expect(await run("create", "file")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("file exists. Choose another name"),
    });
    for (const folder of [BACKUP, "data"])
      expect(await run("create", folder)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("it is a backup or a data directory"),
      });
    expect(readdirSync(workspace.folder).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });

  test("a data directory that does not exist is rejected and not created", async () => {
    const missing = await workspace.run(["backup", "create", "none"], { GATEWAY_DATA_DIR: at("missing") });
    expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("it has no gateway.db") });
    expect([existsSync(at("missing")), existsSync(at("none"))]).toEqual([false, false]);
  });

  test("with PostgreSQL the command names the document that says what to do", async () => {
    const environment = { DATABASE_URL: "postgres://127.0.0.1:1/gateway" };
    const rejected = await workspace.run(["backup", "create", "none"], environment);
    expect(rejected).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("docs/operations/backup.md"),
    });
  });

  test("with --keep a folder keeps that many backups, and other entries stay", async () => {
    mkdirSync(at("folder"));
    const old = ["gateway-20200101T000000Z", "gateway-20200102T000000Z"];
    for (const name of old) cpSync(at(BACKUP), join(at("folder"), name), { recursive: true });
    cpSync(at(BACKUP), join(at("folder"), "of-mine"), { recursive: true });
    const created = await run("create", "folder", "--keep", "2", "--json");
    const { data } = JSON.parse(created.stdout) as { data: { path: string; removed: string[] } };
    expect(data.removed).toEqual([old[0] as string]);
    expectPromisedOutput([{ command: "backup create", json: JSON.parse(created.stdout) }]);
    const kept = readdirSync(at("folder")).sort();
    const newest = await run("verify", "folder");
    expect([newest.exitCode, newest.stdout]).toEqual([0, expect.stringContaining(`${data.path}: of `)]);
    expect(kept).toEqual([old[1] as string, data.path.split("/").at(-1) as string, "of-mine"]);
  });

  test("what a killed backup has left is removed by the next one, and what another is writing is not", async () => {
    mkdirSync(at("shared"));
    const [left, busy] = ["gateway-20200101T000000Z.partial", "gateway-20200102T000000Z.partial"].map(
      (name) => join(at("shared"), name),
    ) as [string, string];
    for (const folder of [left, busy]) mkdirSync(folder);
    lockFile(join(left, "writer.db"))?.release();
    const lock = lockFile(join(busy, "writer.db"));
    expect(await run("create", "shared")).toMatchObject({ exitCode: 0 });
    lock?.release();
    expect([existsSync(left), existsSync(busy)]).toEqual([false, true]);
  });
});

describe("gateway backup verify", () => {
  test("it decrypts BYOK keys with the master key of the data directory, and leaves nothing behind", async () => {
    const before = readdirSync(workspace.folder).sort();
    const { exitCode, stdout } = await run("verify", BACKUP);
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining("ok       provider keys: 1 of 1 can be decrypted"),
    ]);
    expect(stdout).toContain("0 failures, 0 warnings.");
    expect(readdirSync(workspace.folder).sort()).toEqual(before);
    const { stdout: printed } = await run("verify", BACKUP, "--json");
    expectPromisedOutput([{ command: "backup verify", json: JSON.parse(printed) }]);
  });

  test("without any master key it warns, and with another one it fails and names the one that is missing", async () => {
    const elsewhere = { GATEWAY_DATA_DIR: at("elsewhere") };
    const verify = (environment: Record<string, string>) =>
      workspace.run(["backup", "verify", BACKUP], environment);
    expect(await verify(elsewhere)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("WARNING  provider keys: not decrypted"),
    });
    const wrong = await verify({ ...elsewhere, GATEWAY_SECRETS_KEY: "a".repeat(64) });
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stdout).toMatch(/FAILURE {2}provider keys: 1 of 1 cannot .* they need [0-9a-f]{16}/);
  });

  test("a backup with its master key proves itself anywhere", async () => {
    await run("create", "with-key", "--include-master-key");
    const verified = await workspace.run(["backup", "verify", "with-key"], {
      GATEWAY_DATA_DIR: at("elsewhere"),
    });
    expect(verified).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("1 of 1 can be decrypted"),
    });
  });

  test("where the backup cannot be restored for the checks, the option for another folder is named", async () => {
    const rejected = await run("verify", BACKUP, "--work-dir", "gateway.yaml");
    expect(rejected).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("with --work-dir") });
  });

  test.skipIf(!CAN_FILL_DISK)("a full disk is not taken for a damaged backup", async () => {
    const verify = [...WITH_FULL_DISK, ...AS_SHIPPED, "backup", "verify", BACKUP];
    const child = Bun.spawn(["bash", "-c", 'ulimit -f 100; exec "$@"', "bash", ...verify], {
      cwd: workspace.folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: workspace.folder },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    expect([await child.exited, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("the backup was not checked");
    expect(readdirSync(workspace.folder).filter((name) => name.startsWith("gateway-verify"))).toEqual([]);
  });

  test.each([
    ["a balance that is not the sum of its transfers", "UPDATE balances SET amount = amount + 1", "ledger"],
    ["a missing row", "DELETE FROM api_keys; DELETE FROM accounts WHERE kind = 'organization'", "rows"],
    ["sums of usage without records", SUM_OF_NOTHING, "usage sums"],
    [
      "a changed audit log",
      "DROP TRIGGER audit_log_stays; UPDATE audit_log SET action = 'nothing'",
      "audit log",
    ],
  ])("a backup with %s fails, also if its hashes are right", async (name, statement, check) => {
    const backup = await changed(`changed ${name}`, execute(statement));
    const { exitCode, stdout } = await run("verify", backup);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`FAILURE  ${check}: `)]);
  });

  test("a backup whose database has a damaged page fails, also if its hashes are right", async () => {
    const backup = await changed("damaged page", (folder) => {
      const file = join(folder, "gateway.db");
      const database = new Database(file);
      const { page } = database
        .query("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'transfers_from'")
        .get() as { page: number };
      const { page_size: size } = database.query("PRAGMA page_size").get() as { page_size: number };
      database.close();
      const bytes = readFileSync(file);
      bytes.fill(0, (page - 1) * size, page * size);
      writeFileSync(file, bytes);
    });
    const { exitCode, stdout } = await run("verify", backup);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("FAILURE  database: ")]);
  });

  test("a backup of an older version is migrated for the checks, and itself not changed", async () => {
    const allButLast = MIGRATIONS.slice(0, -1)
      .map(({ sql }) => sql)
      .join(";");
    const backup = await changed("older backup", (folder) => {
      rmSync(join(folder, "gateway.db"));
      execute(`${allButLast}; PRAGMA user_version = ${MIGRATIONS.length - 1}`)(folder);
    });
    const manifest = readManifest(at(backup));
    writeManifest(backup, { ...manifest, schema_version: MIGRATIONS.length - 1, rows: {} });
    const { exitCode, stdout } = await run("verify", backup);
    const migrated = `ok       schema: ${MIGRATIONS.length - 1}; this version has migrated a copy`;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(migrated)]);
    expect(await hashFile(join(at(backup), "gateway.db"))).toBe(manifest.files[0]?.sha256 as string);
  });

  test("a backup with a changed byte fails by its hash, and cannot be restored", async () => {
    const damage = (folder: string): void => {
      const file = join(folder, "gateway.db");
      const bytes = readFileSync(file);
      bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
      writeFileSync(file, bytes);
    };
    await changed("damaged", damage, false);
    expect(await run("verify", "damaged")).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("gateway.db is damaged: its SHA-256 differs"),
    });
    const restored = await run("restore", "damaged", "--data-dir", "from-damaged");
    expect(restored).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is damaged") });
    expect(readdirSync(at("from-damaged"))).toEqual([]);
  });

  test("a backup of a newer version is rejected, and a folder without a manifest is no backup", async () => {
    const manifest = readManifest(at(BACKUP));
    cpSync(at(BACKUP), at("newer"), { recursive: true });
    const later = MIGRATIONS.length + 1;
    const schema = { schema_version: later, oldest_schema_version: later };
    writeManifest("newer", { ...manifest, ...schema, gateway_version: "9.0.0" });
    expect(await run("verify", "newer")).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining("a newer version of the gateway (9.0.0) has made the backup"),
    });
    expect(await run("verify", "data")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("data is not a backup"),
    });
  });

  test("the tables of a newer version that this one shares are backed up, proved and restored as they are", async () => {
    const newer = MIGRATIONS.length + 1;
    expect(await run("restore", BACKUP, "--data-dir", "additive")).toMatchObject({ exitCode: 0, stderr: "" });
    execute(`ALTER TABLE accounts ADD COLUMN next_note TEXT; PRAGMA user_version = ${newer};
      UPDATE settings SET value = '${MIGRATIONS.length}' WHERE name = 'oldest_schema'`)(at("additive"));
    const shared = { GATEWAY_DATA_DIR: at("additive") };
    expect(await workspace.run(["backup", "create", "of-additive"], shared)).toMatchObject({ exitCode: 0 });
    const manifest = readManifest(at("of-additive"));
    expect(manifest).toMatchObject({ schema_version: newer, oldest_schema_version: MIGRATIONS.length });
    // A later version may count tables that this one does not know.
    writeManifest("of-additive", { ...manifest, rows: { ...manifest.rows, next: 3 } });
    const verified = await run("verify", "of-additive");
    expect([verified.exitCode, verified.stdout]).toEqual([
      0,
      expect.stringContaining(`schema: it has schema ${newer} of a newer version; this version`),
    ]);
    expect(await run("restore", "of-additive", "--data-dir", "additive-again")).toMatchObject({
      exitCode: 0,
    });
    const again = { GATEWAY_DATA_DIR: at("additive-again") };
    expect(await workspace.run(["migrate"], again)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("nothing to apply"),
    });
    expect((await workspace.run(["doctor"], again)).stdout).toMatch(
      /ok +database file: it has schema \d+ of a newer version/,
    );
    const copied = await workspace.run([
      "storage",
      "copy",
      "--from",
      at("additive-again"),
      "--to",
      "postgres://gateway@127.0.0.1:9/none",
    ]);
    expect(copied).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("a copy by this one would be incomplete"),
    });
  });

  test("a manifest that names a file outside the backup is rejected", async () => {
    const manifest = readManifest(at(BACKUP));
    cpSync(at(BACKUP), at("escaping"), { recursive: true });
    const [file] = manifest.files;
    writeManifest("escaping", {
      ...manifest,
      files: [{ ...(file as BackupManifest["files"][number]), name: "../x" }],
    });
    for (const command of ["verify", "restore"])
      expect(await run(command, "escaping")).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining("files.0.name"),
      });
  });
});

describe("gateway backup restore", () => {
  test("a data directory that is not empty is rejected and unchanged", async () => {
    const before = readFileSync(at("data/gateway.db"));
    const rejected = await run("restore", BACKUP);
    expect(rejected).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not empty") });
    expect(readFileSync(at("data/gateway.db")).equals(before)).toBe(true);
  });

  test("an interrupted restore is repeated, and the data directory has the master key only if it is put there", async () => {
    mkdirSync(at("again/restore.partial"), { recursive: true });
    writeFileSync(at("again/restore.partial/gateway.db"), "half");
    const restored = await run("restore", BACKUP, "--data-dir", "again");
    expect([restored.exitCode, restored.stdout]).toEqual([0, expect.stringContaining("secrets.key")]);
    expect(readdirSync(at("again")).sort()).toEqual(["gateway.db", "journal", "responses.db"]);
    const again = { GATEWAY_DATA_DIR: at("again") };
    const balance = await workspace.run(["credits", "balance", "acct_default", "--json"], again);
    expect(JSON.parse(balance.stdout).data).toMatchObject({ balance_nanodollars: 5_000_000_000 });
    expect(await workspace.run(["backup", "verify", BACKUP], again)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("no master key is known"),
    });
  });

  test("a data directory with another version's tables is not backed up", async () => {
    const restored = await run("restore", BACKUP, "--data-dir", "older", "--json");
    expectPromisedOutput([{ command: "backup restore", json: JSON.parse(restored.stdout) }]);
    execute(`PRAGMA user_version = ${MIGRATIONS.length - 1}`)(at("older"));
    const rejected = await workspace.run(["backup", "create", "of-older"], { GATEWAY_DATA_DIR: at("older") });
    expect(rejected).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Make the backup with the version that serves from it"),
    });
  });
});
