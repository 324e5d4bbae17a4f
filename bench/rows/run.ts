/**
 * `npm run bench -- rows`: fills a PostgreSQL server of its own with generations, measures lists of them, and what it costs to save
 * more. See README.md.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/time/clock.ts";
import { dayOf } from "../../src/base/time/time.ts";
import { connectPostgres } from "../../src/storage/postgres/connection/client.ts";
import { PostgresUsageStore } from "../../src/storage/postgres/usage/usage-store.ts";
import { startTestPostgres } from "../../test/support/databases/postgres.ts";
import { type Filling, fill } from "./fill.ts";
import { printFigures } from "./measure-calls.ts";
import { explainList, measureList } from "./measure-list.ts";
import { measureSave } from "./measure-save.ts";
import { readServerUs } from "./server-time.ts";

const HOUR_MS = 3_600_000;

const { values: options } = parseArgs({
  options: {
    rows: { type: "string", default: "1000000" },
    days: { type: "string", default: "100" },
    "record-bytes": { type: "string", default: "200" },
    charges: { type: "boolean", default: false },
    tags: { type: "string", default: "0" },
  },
});

const days = Number(options.days);
const filling: Filling = {
  firstDay: dayOf(systemClock.now()) - days,
  days,
  rowsPerDay: Math.ceil(Number(options.rows) / days),
  accounts: 10_000,
  recordBytes: Number(options["record-bytes"]),
  hasCharges: options.charges,
};

// Filling writes no log: the server is removed at the end.
const server = await startTestPostgres({
  wal_level: "minimal",
  max_wal_senders: 0,
  shared_buffers: "1GB",
  max_wal_size: "4GB",
  checkpoint_timeout: "30min",
});
try {
  const url = await server.createMigratedDatabase();
  const connection = { url, maxConnections: 4, isPooled: false, clock: systemClock };
  const database = connectPostgres(connection);
  const maintenance = connectPostgres({ ...connection, maxConnections: 1, statementMs: HOUR_MS });
  console.log("save (µs of processor time a record)");
  printFigures(
    await measureSave(new PostgresUsageStore({ database }), {
      readServerUs: () => readServerUs(database),
      tags: Number(options.tags),
    }),
  );
  const begun = performance.now();
  await fill(maintenance, filling);
  await maintenance.run("ANALYZE generations");
  const [size] = await maintenance.run<{ size: string }>(
    "SELECT pg_size_pretty(pg_database_size(current_database())) AS size",
  );
  console.log(
    `${days} × ${filling.rowsPerDay} rows in ${Math.round((performance.now() - begun) / 1_000)} s: ${size?.size}`,
  );
  console.log(`lists (ms), load average ${loadavg()[0]?.toFixed(1)}`);
  printFigures(await measureList(database, filling));
  console.log(await explainList(database, filling));
  await maintenance.close();
  await database.close();
} finally {
  await server.remove();
}
