import type { Database } from "bun:sqlite";
import { formatDollars } from "../../base/numbers/money.ts";
import { verifyAudit } from "../../core/audit/verify-audit.ts";
import { checkLedger } from "../../core/ledger/credits/check-ledger.ts";
import { findUnreadable } from "../../core/provider-keys/find-unreadable.ts";
import { createVault, type MasterKey, type MasterKeySource } from "../../core/provider-keys/vault.ts";
import { type DatabaseFile, GATEWAY_FILE, RESPONSES_FILE } from "../../storage/sqlite/connection/database.ts";
import { type Finding, failure, ok, reportSharedSchema, warning } from "../doctor/finding.ts";
import type { Stores } from "../stores/stores.ts";
import { countRows } from "./count-rows.ts";
import type { BackupManifest } from "./manifest.ts";

const NEW_BACKUP = "Do not rely on this backup. Make a new one, and check the disk of the data directory.";
const LEDGER_REMEDY = "Run `gateway ledger check` on the data directory that was backed up.";

/** A restored backup in a temporary data directory, which the checks examine. */
interface RestoredBackup {
  readonly manifest: BackupManifest;
  readonly database: Database;
  /** The database of response objects. */
  readonly responses: Database;
  readonly stores: Stores;
  readonly masterKeys: readonly MasterKey[];
}

/** One subject that is checked in a restored backup. */
interface BackupCheck {
  readonly name: string;
  readonly run: (restored: RestoredBackup) => Promise<readonly Finding[]> | readonly Finding[];
}

/** The checks of a restored backup, in the order of the report. */
export const BACKUP_CHECKS: readonly BackupCheck[] = [
  { name: "schema", run: checkSchema },
  { name: "database", run: checkPages },
  { name: "rows", run: checkRows },
  { name: "ledger", run: checkBalances },
  { name: "usage sums", run: checkSums },
  { name: "audit log", run: checkAudit },
  { name: "provider keys", run: checkProviderKeys },
  { name: "prompt log", run: checkPromptLog },
  { name: "response objects", run: checkResponseObjects },
];

function checkSchema({ manifest }: RestoredBackup): readonly Finding[] {
  const { schema_version: version, responses_schema_version: responses = 0 } = manifest;
  const finding = compareVersions(version, GATEWAY_FILE);
  const known = RESPONSES_FILE.steps.length;
  return responses === 0 || responses === known
    ? [finding]
    : [finding, compareVersions(responses, RESPONSES_FILE)];
}

function compareVersions(version: number, { name, steps: { length: known } }: DatabaseFile): Finding {
  const named = name === GATEWAY_FILE.name ? "" : `${name}: `;
  if (version === known) return ok(`${named}${version}, as this version needs`);
  if (version > known) return reportSharedSchema(version, known);
  return ok(`${named}${version}; this version has migrated a copy of it to ${known}`);
}

/** The maximum number of problems that are returned for one database. */
const NAMED_PROBLEMS = 10;

function checkPages({ database, responses }: RestoredBackup): readonly Finding[] {
  const problems = [database, responses].flatMap((one) =>
    one
      .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${NAMED_PROBLEMS})`)
      .all()
      .map((row) => row.integrity_check)
      .filter((problem) => problem !== "ok"),
  );
  if (problems.length === 0) return [ok("all pages and indexes are sound")];
  return problems.map((problem) => failure(problem, NEW_BACKUP));
}

function checkRows({ database, responses, manifest: { rows } }: RestoredBackup): readonly Finding[] {
  const counted = { ...countRows(database, GATEWAY_FILE), ...countRows(responses, RESPONSES_FILE) };
  // A newer version may count more tables.
  const differing = Object.entries(rows).filter(
    ([table, count]) => table in counted && counted[table] !== count,
  );
  if (differing.length === 0) {
    const names = Object.entries(counted).map(([table, count]) => `${count} ${table.replaceAll("_", " ")}`);
    return [ok(names.join(", "))];
  }
  return differing.map(([table, count]) =>
    failure(`${table} has ${counted[table]} rows, and had ${count} when the backup was made`, NEW_BACKUP),
  );
}

async function checkBalances({ stores }: RestoredBackup): Promise<readonly Finding[]> {
  const differences = await checkLedger(stores.ledger, stores.usage, stores.listDamagedLines());
  if (differences.length === 0)
    return [ok("all balances match their transfers, and all generation records have their charges")];
  return differences.map(({ of, id, difference, reason }) => {
    const text = `${of} ${id}: ${reason ?? `differs by ${formatDollars(difference)} dollars`}`;
    // Records that the gateway itself could not save are as missing there as here.
    return of === "quarantined" || of === "damaged"
      ? warning(text, LEDGER_REMEDY)
      : failure(text, LEDGER_REMEDY);
  });
}

interface Total {
  readonly requests: number;
  readonly cost: number;
}

const OF_RECORDS =
  "SELECT count(*) AS requests, total(cost) AS cost FROM generations WHERE outcome <> 'open'";
const OF_SUMS = `SELECT total(requests) AS requests, total(cost) AS cost FROM
  (SELECT requests, cost FROM usage_sums UNION ALL SELECT requests, cost FROM usage_days)`;

function checkSums({ database }: RestoredBackup): readonly Finding[] {
  const read = (text: string) => database.query<Total, []>(text).get() ?? { requests: 0, cost: 0 };
  const records = read(OF_RECORDS);
  const sums = read(OF_SUMS);
  const texts = [records, sums].map((one) => `${one.requests} requests, ${formatDollars(one.cost)} dollars`);
  if (hasDeletedRecords(database))
    return sums.requests >= records.requests
      ? [ok(`${texts[1]}, with those of deleted records`)]
      : [failure(`they have ${texts[1]}, and records ${texts[0]}`, LEDGER_REMEDY)];
  if (texts[0] === texts[1]) return [ok(`those of all records: ${texts[0]}`)];
  return [failure(`they have ${texts[1]}, and records ${texts[0]}`, LEDGER_REMEDY)];
}

function hasDeletedRecords(database: Database): boolean {
  return database.query("SELECT 1 FROM retention LIMIT 1").get() !== null;
}

async function checkAudit({ stores }: RestoredBackup): Promise<readonly Finding[]> {
  const { entries, lastHash, flaw } = await verifyAudit(stores.audit);
  if (flaw === null) return [ok(`the chain of ${entries} entries holds; its last hash is ${lastHash}`)];
  const remedy = "Run `gateway audit verify` on the data directory that was backed up.";
  return [failure(`the chain is broken at entry ${flaw.place}: ${flaw.problem}`, remedy)];
}

const KEYS_REMEDY =
  "Run this with the GATEWAY_SECRETS_KEY or secrets.keys of the gateway, or with its secrets.key in the data directory.";

async function checkProviderKeys({
  stores,
  masterKeys,
  manifest,
}: RestoredBackup): Promise<readonly Finding[]> {
  const count = (manifest.rows["provider_keys"] ?? 0) + (await stores.config.listConfigSecrets()).length;
  if (count === 0) return [ok("there are none")];
  if (masterKeys.length === 0) return [warning("not decrypted, because no master key is known", KEYS_REMEDY)];
  const source: MasterKeySource = { list: () => masterKeys, reload() {}, newest: rejectSealing };
  const vault = createVault(source, { bytes: rejectSealing });
  const unreadable = [
    ...(await findUnreadable(stores.config, vault)),
    ...(await findUnreadable(stores.providerKeys, vault)),
  ];
  if (unreadable.length === 0) return [ok(`${count} of ${count} can be decrypted`)];
  const missing = [...new Set(unreadable.map(({ sealed }) => sealed.masterKeyId))].join(", ");
  return [
    failure(
      `${unreadable.length} of ${count} cannot be decrypted with the known master keys; they need ${missing}`,
      KEYS_REMEDY,
    ),
  ];
}

function rejectSealing(): never {
  throw new Error("a check encrypts nothing");
}

async function checkPromptLog({ stores, masterKeys }: RestoredBackup): Promise<readonly Finding[]> {
  const used = await stores.promptLog.listMasterKeysInUse();
  return [used.length === 0 ? ok("it is empty") : compareMasterKeys("entries", used, masterKeys)];
}

function compareMasterKeys(of: string, used: readonly string[], known: readonly MasterKey[]): Finding {
  if (known.length === 0) return warning("not decrypted, because no master key is known", KEYS_REMEDY);
  const missing = used.filter((id) => !known.some((one) => one.id === id));
  if (missing.length === 0) return ok(`the master keys of all ${of} are known`);
  return failure(`${of} need the master keys ${missing.join(", ")}`, KEYS_REMEDY);
}

const WRONG_SUMS = `SELECT account_id, coalesce(stored.bytes, 0) - coalesce(objects.bytes, 0) AS difference
  FROM (SELECT account_id, sum(bytes) AS bytes FROM response_objects GROUP BY account_id) AS objects
    FULL JOIN response_accounts AS stored USING (account_id)
  WHERE difference <> 0 LIMIT ${NAMED_PROBLEMS}`;

async function checkResponseObjects({
  responses,
  stores,
  masterKeys,
}: RestoredBackup): Promise<readonly Finding[]> {
  const wrong = responses.query<{ account_id: string; difference: number }, []>(WRONG_SUMS).all();
  const sums = wrong.map(({ account_id, difference }) =>
    failure(`the sum of ${account_id} differs by ${difference} bytes`, NEW_BACKUP),
  );
  const used = await stores.responses.listMasterKeysInUse();
  if (used.length === 0) return [...sums, ok("there are none")];
  return [...sums, compareMasterKeys("objects and conversations", used, masterKeys)];
}
