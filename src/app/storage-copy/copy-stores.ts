import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/time/clock.ts";
import { verifyAudit } from "../../core/audit/verify-audit.ts";
import { formatImportedCatalog } from "../../core/catalog/records/format-catalog.ts";
import { NO_REFRESH } from "../../core/catalog/refresh/catalog-store.ts";
import { checkLedger } from "../../core/ledger/credits/check-ledger.ts";
import { type Comparison, compareStorage } from "../../core/storage-copy/compare-storage.ts";
import { copyStorage, isNewStorage, type StorageCopy } from "../../core/storage-copy/copy-storage.ts";
import { isPostgresUrl, type OpenStorage, openStorage } from "./open-storage.ts";

/** The source and the target of a copy. */
interface CopyRequest extends Pick<StorageCopy, "onPage"> {
  /** A data directory, or the URL of a PostgreSQL database. `to` is of the other kind. */
  readonly from: string;
  readonly to: string;
  /** Whether connections to PostgreSQL go through PgBouncer in transaction mode. */
  readonly isPooled: boolean;
}

/** The result of a copy. */
export interface CopyResult {
  /** The stores without credentials. */
  readonly from: string;
  readonly to: string;
  /** Everything that was compared. */
  readonly comparisons: readonly Comparison[];
  /** Whether all comparisons are equal. If not, the target is marked as incomplete, and no gateway starts on it. */
  readonly isEqual: boolean;
  /** Further steps that the operator must take. */
  readonly notes: readonly string[];
}

/**
 * Copies a store into an empty one of the other kind, or continues such a copy, and compares both.
 * @throws Error if a gateway runs on one of them, or the target has other data.
 */
export async function copyStores(request: CopyRequest, clock: Clock): Promise<CopyResult> {
  const { from: source, to: target, isPooled, onPage } = request;
  if (isPostgresUrl(source) === isPostgresUrl(target))
    throw new Error(
      "one store must be a data directory and the other one PostgreSQL. Copy a data directory with cp -a, and a PostgreSQL database with pg_dump.",
    );
  const from = await openStorage({ place: source, isPooled, mustExist: true }, clock);
  try {
    const to = await openStorage({ place: target, isPooled, mustExist: false }, clock);
    return await copyInto(from, to, onPage).finally(() => to.close());
  } finally {
    await from.close();
  }
}

async function copyInto(
  from: OpenStorage,
  to: OpenStorage,
  onPage: CopyRequest["onPage"],
): Promise<CopyResult> {
  for (const { dump } of [from, to]) {
    const obstacle = await dump.findObstacle();
    if (obstacle !== null) throw new Error(`${dump.location} cannot be copied: ${obstacle}.`);
  }
  if ((await from.dump.readProgress()) !== null)
    throw new Error(`${from.dump.location} is an incomplete copy itself.`);
  const isIncomplete = (await to.dump.readProgress()) !== null;
  const isNew = !isIncomplete && (await isNewStorage(to.dump));
  if (isIncomplete || isNew) {
    await copyStorage({ from: from.dump, to: to.dump, onPage });
    await copyCatalog(from, to);
  }
  const comparisons = await compareAll(from, to);
  const isEqual = comparisons.every((one) => one.from === one.to);
  if (!isEqual && !isIncomplete && !isNew)
    throw new Error(`${to.dump.location} has other data. Choose an empty target.`);
  if (isEqual) await to.dump.finish();
  const notes = await listNotes(from);
  return { from: from.dump.location, to: to.dump.location, comparisons, isEqual, notes };
}

async function copyCatalog(from: OpenStorage, to: OpenStorage): Promise<void> {
  const imported = await from.catalog.readCatalog();
  if (imported !== null) {
    if (imported.value === null) throw new Error(imported.problems.join("\n"));
    await to.catalog.writeCatalog(imported.value);
  }
  const state = await from.catalog.readRefreshState();
  if (JSON.stringify(state) !== JSON.stringify(NO_REFRESH)) await to.catalog.writeRefreshState(state);
}

async function compareAll(from: OpenStorage, to: OpenStorage): Promise<readonly Comparison[]> {
  const checks: readonly [string, (storage: OpenStorage) => Promise<string>][] = [
    ["audit chain", describeAudit],
    ["ledger check", describeLedger],
    ["imported catalog", describeCatalog],
  ];
  const comparisons = [...(await compareStorage(from.dump, to.dump))];
  for (const [of, describe] of checks)
    comparisons.push({ of, from: await describe(from), to: await describe(to) });
  return comparisons;
}

/** The hexadecimal digits of a hash that are shown. */
const SHOWN_CHARS = 12;

async function describeAudit({ audit }: OpenStorage): Promise<string> {
  const { entries, lastHash, flaw } = await verifyAudit(audit);
  return `${flaw === null ? "holds" : `broken at ${flaw.place}`}: ${entries} #${lastHash.slice(0, SHOWN_CHARS)}`;
}

async function describeLedger({ ledger, usage }: OpenStorage): Promise<string> {
  const differences = await checkLedger(ledger, usage, []);
  if (differences.length === 0) return "no differences";
  return differences
    .map(({ of, id, difference }) => `${of} ${id} ${difference}`)
    .sort()
    .join(", ");
}

async function describeCatalog({ catalog }: OpenStorage): Promise<string> {
  const imported = await catalog.readCatalog();
  if (imported === null) return "none";
  if (imported.value === null) return imported.problems.join(", ");
  const { source, models } = imported.value;
  return `${models.length} models #${Bun.hash(formatImportedCatalog(source, models)).toString(16)}`;
}

async function listNotes({ kind, dump }: OpenStorage): Promise<readonly string[]> {
  const file = join(dump.location, "secrets.key");
  if (kind !== "sqlite" || !existsSync(file)) return [];
  return [
    `Master keys are not copied. Set those in ${file} as secrets.keys (GATEWAY_SECRETS_KEY), or BYOK keys and the prompt log cannot be decrypted.`,
  ];
}
