import { readdirSync, readFileSync } from "node:fs";
import type { Postgres } from "../../src/storage/postgres/connection/client.ts";

/** A clock tick of `/proc/<pid>/stat`. Microseconds. */
const TICK_US = 10_000;

/** Returns the processor time that all processes of the server have used, in microseconds. */
export async function readServerUs(database: Postgres): Promise<number> {
  const [row] = await database.run<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE pid = pg_backend_pid()",
  );
  const postmaster = readStat(row?.pid ?? 0)?.parent;
  let us = 0;
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat !== null && stat.parent === postmaster) us += stat.us;
  }
  return us;
}

function readStat(pid: number): { readonly parent: number; readonly us: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return { parent: Number(fields[1]), us: (Number(fields[11]) + Number(fields[12])) * TICK_US };
  } catch {
    // It has ended in the meantime.
    return null;
  }
}
