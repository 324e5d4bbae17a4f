import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { SQL } from "bun";
import { IS_LONG_RUN } from "../long-run.ts";
import { readState } from "../process-family.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "./postgres.ts";

const ROUNDS = 40;
const CONNECTIONS = 30;
const TEST_MS = 60_000;
const PROC = "/proc";
const HAS_PROC = process.platform === "linux";

describe.skipIf(POSTGRES_BIN === null || !HAS_PROC || !IS_LONG_RUN)(
  "the PostgreSQL server of the tests",
  () => {
    let server: TestPostgres;

    beforeAll(async () => {
      server = await startTestPostgres();
    });
    afterAll(() => server.remove());

    test(
      "when it is paused while connections are being opened, none of its processes runs",
      async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const sockets = openConnections(server.port);
          // From the first connection to the last, one process after the other is started.
          for (let turn = 0; turn < round % 10; turn++) await Bun.sleep(1);
          await server.pause();
          const states = statesOf(server.pid);
          server.resume();
          for (const socket of sockets) socket.destroy();
          expect(states.filter((state) => state !== "T" && state !== "Z")).toEqual([]);
        }
      },
      TEST_MS,
    );

    test(
      "when it is killed while connections are being opened, none of its processes is left",
      async () => {
        for (let round = 0; round < 10; round++) {
          const folder = folderOf(server.pid);
          const sockets = openConnections(server.port);
          for (let turn = 0; turn < round; turn++) await Bun.sleep(1);
          await server.kill();
          const left = listProcesses().filter((pid) => folderOf(pid) === folder);
          for (const socket of sockets) socket.destroy();
          expect(left).toEqual([]);
          await server.start();
        }
      },
      TEST_MS,
    );

    test("the last time at which it rejected a connection is before the first time at which it accepted one", async () => {
      const url = await server.createDatabase();
      await server.kill();
      let isStarted = false;
      const accepted = untilAccepted(url, () => isStarted);
      await Bun.sleep(20);
      await server.start();
      isStarted = true;
      expect(server.lastRejectedAt).toBeGreaterThan(0);
      expect(server.lastRejectedAt).toBeLessThanOrEqual(await accepted);
    });
  },
);

/** Opens connections, each of which the server starts a process for. */
function openConnections(port: number): Socket[] {
  return Array.from({ length: CONNECTIONS }, () => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    return socket;
  });
}

function statesOf(leader: number): string[] {
  return [leader, ...childrenOf(leader)].map(readState);
}

/** Returns the children by the parents that all processes name, which is complete while nothing runs. */
function childrenOf(parent: number): number[] {
  return listProcesses().filter((pid) => parentOf(pid) === parent);
}

function listProcesses(): number[] {
  return readdirSync(PROC)
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Returns the folder that a process works in, which only the processes of one server share; null if it has ended. */
function folderOf(pid: number): string | null {
  try {
    return readlinkSync(`${PROC}/${pid}/cwd`);
  } catch {
    return null;
  }
}

function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`${PROC}/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return null;
  }
}

/** Returns when a connection was first accepted. */
async function untilAccepted(url: string, isLast: () => boolean): Promise<number> {
  for (;;) {
    const wasLast = isLast();
    const sql = new SQL({ url, max: 1 });
    try {
      await sql.unsafe("SELECT 1");
      return Date.now();
    } catch (error) {
      if (wasLast) throw error;
    } finally {
      await sql.close({ timeout: 0 });
    }
  }
}
