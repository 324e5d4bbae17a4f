import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { prepareDataDir } from "../../src/app/stores/data-dir.ts";
import { writeFileAtomically } from "../../src/storage/files/write-file-atomically.ts";
import { lockDataDir, lockFile } from "../../src/storage/sqlite/connection/data-lock.ts";
import { listOpenEntries } from "../support/databases/list-open-entries.ts";
import { ADMIN_KEY, createMemoryLog } from "../support/gateway/gateway.ts";
import { AS_SHIPPED, makeSite, type Site } from "../support/gateway/gateway-process.ts";
import { RUNS_SLOW_TESTS } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

let site: Site | null = null;
let dir: string | null = null;

afterEach(() => {
  site?.remove();
  if (dir !== null) rmSync(dir, { recursive: true, force: true });
  site = dir = null;
});

function makeDir(): string {
  dir = makeTempFolder("gateway-data-");
  return dir;
}

/** Returns a command that runs a script before the gateway in the same shell. */
const after = (script: string): readonly string[] => [
  "sh",
  "-c",
  `${script}; exec "$@"`,
  "sh",
  ...AS_SHIPPED,
];

describe("the data directory", () => {
  test("the directory and all files in it are private with any umask", async () => {
    site = makeSite(`admin_key: ${ADMIN_KEY}`, after("umask 000"));
    const gateway = await site.start();
    // The first BYOK key makes the gateway create a master key.
    const added = await fetch(`${gateway.url}/api/admin/accounts/acct_default/provider-keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ provider: "openai", key: "sk-0123456789abcdef" }),
    });
    expect(added.status).toBe(201);
    expect(readdirSync(site.dataDir).sort()).toEqual([
      "gateway.db",
      "gateway.db-shm",
      "gateway.db-wal",
      "journal",
      "lock.db",
      "lock.db-journal",
      "responses.db",
      "responses.db-shm",
      "responses.db-wal",
      "secrets.key",
    ]);
    expect(listOpenEntries(site.dataDir)).toEqual([]);
    await gateway.kill();
  });

  test("locks and catalog are private with any umask", () => {
    const folder = makeDir();
    const umask = process.umask(0);
    try {
      lockDataDir(folder).release();
      for (const name of ["rotation", "refresh"]) lockFile(join(folder, `${name}-lock.db`))?.release();
      writeFileAtomically(join(folder, "catalog.json"), "{}");
    } finally {
      process.umask(umask);
    }
    expect(readdirSync(folder)).toHaveLength(4);
    expect(listOpenEntries(folder)).toEqual([]);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "a directory that other users could read is made private at the next start, with a warning in the log",
    async () => {
      site = makeSite("");
      const first = await site.start();
      await first.kill();
      for (const path of [site.dataDir, join(site.dataDir, "journal")]) chmodSync(path, 0o755);
      for (const name of readdirSync(site.dataDir))
        if (name !== "journal") chmodSync(join(site.dataDir, name), 0o644);
      const second = await site.start(first.key);
      expect(listOpenEntries(site.dataDir)).toEqual([]);
      expect(second.printed()).toContain("other users could read the data directory");
      await second.kill();
    },
  );

  test("files of other programs keep their mode, and so does a directory that programs share", () => {
    const folder = makeDir();
    writeFileAtomically(join(folder, "notes.txt"), "");
    chmodSync(join(folder, "notes.txt"), 0o644);
    chmodSync(folder, 0o1777);
    const { log, lines } = createMemoryLog();
    prepareDataDir(folder, log);
    expect(statSync(folder).mode & 0o7777).toBe(0o1777);
    expect(statSync(join(folder, "notes.txt")).mode & 0o777).toBe(0o644);
    expect(lines.map(({ fields }) => fields["path"])).toEqual([folder]);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "the error for a directory that another gateway uses differs from that for an unusable one",
    async () => {
      site = makeSite("");
      const first = await site.start();
      const second = await site.startExpectingFailure();
      expect(second.exitCode).toBe(1);
      expect(second.printed).toContain("another gateway is running");
      await first.kill();
    },
  );
});

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).success;

describe.skipIf(!canMount)("a disk that is full at the start (needs unshare and tmpfs)", () => {
  test.each(["4k", "400k"])("the error names the data directory, with a disk of %s", async (size) => {
    const mount = `mkdir -p "$GATEWAY_DATA_DIR" && mount -t tmpfs -o size=${size} tmpfs "$GATEWAY_DATA_DIR"`;
    site = makeSite("", ["unshare", "-rm", ...after(mount)]);
    const { exitCode, printed } = await site.startExpectingFailure();
    expect(exitCode).toBe(1);
    expect(printed).toContain(`the data directory ${site.dataDir} cannot be used: database or disk is full`);
    expect(printed).not.toContain("another gateway");
  });
});
