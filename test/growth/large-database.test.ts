import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { copyMigratedDatabase } from "../support/databases/sqlite-template.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { fillDatabase } from "./fill-database.ts";
import { listManagementCalls } from "./management-calls.ts";

/** Large enough that the tables do not fit into the 2 MB of pages that a connection keeps. */
const SIZE = { generations: 12_000, keys: 24_000, users: 24_000, days: 30 };
/** What the thread of the event loop may read during a call: no page of the database. Bytes. */
const MAX_OWN_BYTES = 8_192;
/** What all threads may read for one page of a list: each table has more. Bytes. */
const MAX_PAGE_BYTES = 2_000_000;

const NOW = Date.now();

/** Returns the bytes that the current thread, or the process, has read from files. */
function bytesRead(of: "thread-self" | "self"): number {
  return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${of}/io`, "utf8"))?.[1]);
}

describe.skipIf(!existsSync("/proc/thread-self/io"))("a large SQLite database", () => {
  let gateway: TestGateway;
  const call = async (path: string): Promise<number> => {
    const response = await fetch(`${gateway.url}/api/admin${path}`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    await response.arrayBuffer();
    return response.status;
  };

  beforeAll(async () => {
    const dataDir = makeTempFolder("gateway-growth-");
    copyMigratedDatabase(dataDir);
    fillDatabase(dataDir, SIZE, NOW);
    gateway = await startTestGateway({ dataDir, hasStoreThreads: true });
    // Starts the threads, which read their programs.
    for (const { path } of listManagementCalls(NOW)) await call(path);
  }, 120_000);
  afterAll(() => gateway.stop());

  test.each(listManagementCalls(NOW).map(({ name, path }) => [name, path] as const))(
    "the event loop reads nothing of it for the management call: %s",
    async (_name, path) => {
      const before = bytesRead("thread-self");
      expect(await call(path)).toBe(200);
      expect(bytesRead("thread-self") - before).toBeLessThan(MAX_OWN_BYTES);
    },
  );

  test.each(
    listManagementCalls(NOW)
      .filter(({ isPage }) => isPage)
      .map(({ name, path }) => [name, path] as const),
  )("is read by an index for the management call: %s", async (_name, path) => {
    const before = bytesRead("self");
    expect(await call(path)).toBe(200);
    expect(bytesRead("self") - before).toBeLessThan(MAX_PAGE_BYTES);
  });
});
