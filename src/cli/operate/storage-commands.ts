import type { Command } from "commander";
import { loadConfig } from "../../app/config/load-config.ts";
import { type CopyResult, copyStores } from "../../app/storage-copy/copy-stores.ts";
import { compactDataDir } from "../../app/stores/compact-database.ts";
import { systemClock } from "../../base/time/clock.ts";
import { addJsonOption, type JsonOption } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../render/exit-codes.ts";
import { formatTable } from "../render/format-table.ts";
import { print, tell } from "../render/print.ts";

interface CopyOptions extends JsonOption {
  readonly from?: string;
  readonly to?: string;
}

/** `gateway storage copy`: moves a data directory to PostgreSQL, and back. */
export function declareStorageCommands(storage: Command): void {
  addJsonOption(
    storage
      .command("copy")
      .description(
        "Copy a data directory to an empty PostgreSQL database, or back, and compare both. Stop all gateways that use them first. An interrupted copy can be run again",
      )
      .option(
        "--from <store>",
        "Data directory, or postgres://user:password@host:port/database. Defaults to data_dir",
      )
      .option("--to <store>", "Destination: of the other kind, and empty. Defaults to database.url"),
  ).action(copy);
  addJsonOption(
    storage
      .command("compact")
      .description(
        "Return unused space of the SQLite database to the disk. Stop its gateway first. Needs free disk space for a copy of the records",
      ),
  ).action(compact);
}

async function compact({ json }: JsonOption): Promise<void> {
  const { data_dir, database } = loadConfig(process.env);
  if (database.url !== undefined)
    throw new Error("The stores are in PostgreSQL (database.url), which reuses free space by itself.");
  const { before, after } = compactDataDir(data_dir);
  const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  print(
    json
      ? JSON.stringify({ before_bytes: before, after_bytes: after })
      : `The database has ${megabytes(after)}; it had ${megabytes(before)}.`,
  );
}

async function copy({ json, ...options }: CopyOptions): Promise<void> {
  const { data_dir, database } = loadConfig(process.env);
  const { from = data_dir, to = database.url } = options;
  if (to === undefined) throw new Error("--to is required, because database.url (DATABASE_URL) is not set.");
  const result = await copyStores(
    { from, to, isPooled: database.pooled, onPage: createProgress() },
    systemClock,
  );
  if (!result.isEqual) process.exitCode = EXIT_CODES.failed;
  print(json ? JSON.stringify({ data: presentResult(result) }) : formatResult(result));
}

/** How often the progress is printed. Milliseconds. */
const PROGRESS_MS = 1_000;

/** Prints the progress of a long copy to standard error. */
function createProgress(): (table: { readonly name: string }, rows: number) => void {
  let printedAt = systemClock.now();
  return ({ name }, rows) => {
    if (systemClock.now() - printedAt < PROGRESS_MS) return;
    printedAt = systemClock.now();
    tell(`${name}: ${rows} rows`);
  };
}

function presentResult({ from, to, isEqual, comparisons, notes }: CopyResult) {
  return { from, to, is_equal: isEqual, comparisons, notes };
}

function formatResult({ from, to, isEqual, comparisons, notes }: CopyResult): string {
  const rows = comparisons.map((one) => [
    one.of,
    one.from,
    one.to,
    one.from === one.to ? "equal" : "DIFFERENT",
  ]);
  const verdict = isEqual
    ? `${to} has everything that ${from} has.`
    : `${to} differs from ${from}, which may have changed during the copy. No gateway starts on it. Empty it and copy again.`;
  return [formatTable(["compared", from, to, ""], rows), "", verdict, ...notes].join("\n");
}
