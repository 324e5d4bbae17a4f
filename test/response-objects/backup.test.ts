import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashFile } from "../../src/app/backup/hash-files.ts";
import { readManifest } from "../../src/app/backup/manifest.ts";
import { openDatabase, RESPONSES_FILE } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteResponseStore } from "../../src/storage/sqlite/response-store.ts";
import { AT, conversationOf, idAt, objectAt, runningAt } from "../storage/contracts/response-store.ts";
import { createWorkspace, type Workspace } from "../support/gateway/run-gateway.ts";

const MUCH = 1_000_000_000;
const OBJECTS = 40;
const BYTES = 20_000;
const FILE = RESPONSES_FILE.name;

let workspace: Workspace;
let at: (name: string) => string;

/** Calls `use` with the database of response objects of a data directory, and with a store over it. */
async function withResponses<Result>(
  dataDir: string,
  use: (store: SqliteResponseStore, database: Database) => Result,
): Promise<Awaited<Result>> {
  const database = openDatabase(dataDir, RESPONSES_FILE);
  try {
    return await use(new SqliteResponseStore(database), database);
  } finally {
    database.close();
  }
}

const run = (args: readonly string[], dataDir = "data") =>
  workspace.run(args, { GATEWAY_DATA_DIR: at(dataDir) });

/** Copies the backup, changes its response objects, and makes its manifest fit. */
async function change(name: string, use: (database: Database) => void): Promise<void> {
  cpSync(at("backup"), at(name), { recursive: true });
  await withResponses(at(name), (_, database) => {
    use(database);
    database.exec("PRAGMA journal_mode = DELETE");
  });
  const manifest = readManifest(at(name));
  const files = await Promise.all(
    manifest.files.map(async (file) => {
      const path = join(at(name), file.name);
      return { ...file, bytes: statSync(path).size, sha256: await hashFile(path) };
    }),
  );
  writeFileSync(join(at(name), "manifest.json"), JSON.stringify({ ...manifest, files }));
}

beforeAll(async () => {
  workspace = createWorkspace();
  at = (name) => join(workspace.folder, name);
  expect(await run(["migrate"])).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("  responses.db: step 1\n"),
  });
  await withResponses(at("data"), async (store) => {
    for (let n = 0; n < OBJECTS; n++)
      await store.addObject(objectAt(n, { ciphertext: new Uint8Array(BYTES) }), [`item_${n}`], MUCH);
    await store.addObject(runningAt(100), [], MUCH);
    await store.addConversation(conversationOf("conv_1"), 1e9);
  });
});
afterAll(() => workspace.clear());

describe("the file of response objects", () => {
  test("is private, has a write-ahead log, and is created by a command if it is missing", async () => {
    expect(statSync(join(at("data"), FILE)).mode & 0o777).toBe(0o600);
    const mode = await withResponses(at("data"), (_, database) =>
      database.query("PRAGMA journal_mode").get(),
    );
    expect(mode).toEqual({ journal_mode: "wal" });
    await run(["migrate"], "without");
    rmSync(join(at("without"), FILE));
    expect(await run(["keys", "list"], "without")).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(at("without"), FILE))).toBe(true);
  });

  test("of a newer version is not opened, and doctor says what to do", async () => {
    await run(["migrate"], "newer");
    await withResponses(at("newer"), (_, database) => database.exec("PRAGMA user_version = 99"));
    expect(await run(["keys", "list"], "newer")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("written by a newer version"),
    });
    expect((await run(["doctor"], "newer")).stdout).toMatch(
      /FAILURE +database file: responses.db: a newer version of the gateway has written it \(schema 99\)/,
    );
    expect(await run(["backup", "create", "of-newer"], "newer")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("responses.db in"),
    });
  });

  test("becomes shorter with `gateway storage compact`", async () => {
    cpSync(at("data"), at("compacted"), { recursive: true });
    await withResponses(at("compacted"), (store) => store.deleteOfAccount("org_a", OBJECTS));
    const before = statSync(join(at("compacted"), FILE)).size;
    expect(await run(["storage", "compact"], "compacted")).toMatchObject({ exitCode: 0 });
    expect(statSync(join(at("compacted"), FILE)).size).toBeLessThan(before / 3);
  });
});

describe("a backup", () => {
  test("has the response objects of the data directory, and is proved with them", async () => {
    const created = await run(["backup", "create", "backup"]);
    expect([created.exitCode, created.stdout]).toEqual([
      0,
      expect.stringContaining(`, ${OBJECTS + 1} response objects, 1 response conversations`),
    ]);
    expect(readManifest(at("backup"))).toMatchObject({ responses_schema_version: 1 });
    const verified = await run(["backup", "verify", "backup"]);
    expect(verified).toMatchObject({ exitCode: 0, stderr: "" });
    expect(verified.stdout).toContain("WARNING  response objects: not decrypted");
    await withResponses(at("data"), async (store) =>
      expect((await store.findObject(idAt(AT + 100), AT))?.gatewayId).toBe("gateway_a"),
    );
  });

  test("is restored with its response objects, and releases running ones from their gateway", async () => {
    expect(await run(["backup", "restore", "backup"], "restored")).toMatchObject({ exitCode: 0 });
    expect(statSync(join(at("restored"), FILE)).mode & 0o777).toBe(0o600);
    await withResponses(at("restored"), async (store) => {
      expect((await store.findObject(idAt(AT), AT))?.ciphertext).toHaveLength(BYTES);
      expect(await store.sumBytes("org_a")).toBe((OBJECTS + 1) * 10);
      expect((await store.listReleased(null, 9)).map(({ id }) => id)).toEqual([idAt(AT + 100)]);
      expect(await store.findConversation("conv_1", AT)).not.toBeNull();
    });
  });

  test("of a data directory without the file has none, and is restored", async () => {
    await run(["migrate"], "earlier");
    rmSync(join(at("earlier"), FILE));
    expect(await run(["backup", "create", "of-earlier"], "earlier")).toMatchObject({ exitCode: 0 });
    expect(readManifest(at("of-earlier")).files.map(({ name }) => name)).toEqual(["gateway.db"]);
    expect(await run(["backup", "verify", "of-earlier"], "earlier")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("ok       response objects: there are none"),
    });
    expect(await run(["backup", "restore", "of-earlier"], "again")).toMatchObject({ exitCode: 0 });
  });

  test.each([
    ["a wrong sum", "UPDATE response_accounts SET bytes = bytes + 7", "the sum of org_a differs by 7 bytes"],
    [
      "a sum that is missing",
      "DELETE FROM response_accounts",
      `the sum of org_a differs by ${-(OBJECTS + 1) * 10} bytes`,
    ],
    [
      "a missing object",
      `DELETE FROM response_objects WHERE id = '${idAt(AT)}'`,
      "response_objects has 40 rows",
    ],
  ])("with %s is rejected by its check", async (name, statement, problem) => {
    await change(name, (database) => database.exec(statement));
    const { exitCode, stdout } = await run(["backup", "verify", name]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(problem)]);
  });

  test("with a damaged page of response objects is rejected", async () => {
    await change("damaged", (database) => database.exec("PRAGMA user_version = 1"));
    const file = join(at("damaged"), FILE);
    const bytes = readFileSync(file);
    bytes.fill(0x7f, 4_096 * 6, 4_096 * 8);
    writeFileSync(file, bytes);
    const manifest = readManifest(at("damaged"));
    const files = await Promise.all(
      manifest.files.map(async (one) => ({ ...one, sha256: await hashFile(join(at("damaged"), one.name)) })),
    );
    writeFileSync(join(at("damaged"), "manifest.json"), JSON.stringify({ ...manifest, files }));
    const { exitCode, stdout } = await run(["backup", "verify", "damaged"]);
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("FAILURE  database: ")]);
  });

  test("whose response objects are of a newer version is not restored", async () => {
    cpSync(at("backup"), at("newer-backup"), { recursive: true });
    const manifest = readManifest(at("backup"));
    writeFileSync(
      join(at("newer-backup"), "manifest.json"),
      JSON.stringify({ ...manifest, gateway_version: "9.0.0", responses_schema_version: 7 }),
    );
    expect(await run(["backup", "restore", "newer-backup"], "from-newer")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("its responses.db has schema 7, and this version knows 1"),
    });
  });
});
