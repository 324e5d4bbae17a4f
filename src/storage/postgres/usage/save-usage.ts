import type { GatewayIdentity } from "../../../core/gateways/gateway-identity.ts";
import { transferOfUsage } from "../../../core/ledger/records/records.ts";
import type { RecordEntry } from "../../../core/usage/records/records.ts";
import type { TagNames } from "../../../core/usage/reports/tag-names.ts";
import { sumByHour } from "../../../core/usage/reports/usage-sums.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { cleanText } from "../../sql/statements/values.ts";
import { encodeList, type SqlRunner } from "../connection/client.ts";
import { lowerLeases } from "../gateways/lower-leases.ts";
import { requireEpoch } from "../gateways/require-epoch.ts";
import { writeCharges } from "../ledger/charges.ts";
import { raiseBudgets } from "../ledger/raise-budgets.ts";
import { raiseSpending } from "../ledger/raise-spending.ts";
import { addGenerationTags } from "./generation-tags.ts";
import { raiseClients, raiseSums, raiseTags } from "./usage-sums.ts";

/** A record and the day of its partition. */
export interface DatedEntry extends RecordEntry {
  readonly day: number;
}

/**
 * Returns the results of entries, in the order in which their rows are locked. Among several versions of a record, the first ended one
 * counts, otherwise the last.
 */
export function foldVersions(entries: readonly RecordEntry[]): DatedEntry[] {
  const folded = new Map<string, DatedEntry>();
  for (const { record, json } of entries) {
    const earlier = folded.get(record.id)?.record.outcome ?? "open";
    if (earlier === "open") folded.set(record.id, { record, json, day: dayOfId(record.id) });
  }
  return [...folded.values()].sort((a, b) => a.day - b.day || (a.record.id < b.record.id ? -1 : 1));
}

/**
 * Saves records, with the same number of statements for any number of them. Everything that belongs to a record that ends now is written by
 * its statement. A record that had ended before is not replaced, because it was counted then. `identity` is the gateway whose records they
 * are; null writes without a check and lowers no leases. `tagNames`: the tags that are counted individually.
 */
export async function writeUsage(
  sql: SqlRunner,
  entries: readonly DatedEntry[],
  { identity, tagNames }: { readonly identity: GatewayIdentity | null; readonly tagNames: TagNames },
): Promise<void> {
  if (identity !== null) await requireEpoch(sql, identity);
  const saved = await writeRecords(sql, entries);
  const ended = entries
    .map(({ record }) => record)
    .filter(({ id, outcome }) => outcome !== "open" && saved.has(id));
  if (ended.length === 0) return;
  const transfers = ended.map(transferOfUsage).filter((transfer) => transfer !== null);
  if (transfers.length > 0) await writeCharges(sql, transfers);
  if (await raiseSpending(sql, ended)) await raiseBudgets(sql, ended);
  if (identity !== null) await lowerLeases(sql, identity.id, ended);
  await raiseSums(sql, sumByHour(ended));
  const tagged = ended.filter(({ tags }) => tags !== undefined);
  if (tagged.length > 0) await raiseTags(sql, tagged, tagNames);
  await raiseClients(sql, ended);
}

/**
 * Saves records of another store, without their charges and without the sums of their days, which are copied as rows. The entries are
 * in the order of their days and ids.
 */
export async function copyRecords(sql: SqlRunner, entries: readonly DatedEntry[]): Promise<void> {
  const saved = await writeRecords(sql, entries);
  const ended = entries
    .map(({ record }) => record)
    .filter(({ id, outcome }) => outcome !== "open" && saved.has(id));
  await raiseSpending(sql, ended);
}

/** Returns the ids of the records that were new or open before. */
async function writeRecords(sql: SqlRunner, entries: readonly DatedEntry[]): Promise<ReadonlySet<string>> {
  const lists = COLUMNS.map(({ read }) => encodeList(entries.map(read)));
  // JSON has no line break outside of strings, and none in them.
  const records = entries.map(({ json }) => json).join("\n");
  const rows = await sql.run<{ id: string }>(SAVE, [...lists, records]);
  const saved = new Set(rows.map(({ id }) => id));
  await addGenerationTags(
    sql,
    entries.filter(({ record }) => saved.has(record.id)),
  );
  return saved;
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly read: (entry: DatedEntry) => string | number | boolean | null;
}

const COLUMNS: readonly Column[] = [
  { name: "day", type: "integer", read: ({ day }) => day },
  { name: "id", type: "text", read: ({ record }) => record.id },
  { name: "created_at", type: "bigint", read: ({ record }) => record.createdAt },
  { name: "account_id", type: "text", read: ({ record }) => cleanNullable(record.accountId) },
  { name: "key_id", type: "text", read: ({ record }) => cleanNullable(record.keyId) },
  {
    name: "model",
    type: "text",
    read: ({ record }) => cleanText(record.model ?? record.requestedModel ?? ""),
  },
  { name: "outcome", type: "text", read: ({ record }) => record.outcome },
  {
    name: "cost",
    type: "bigint",
    read: ({ record }) => (record.outcome === "open" ? null : (record.costNanodollars ?? null)),
  },
  { name: "address_hash", type: "text", read: ({ record }) => cleanNullable(record.addressHash) },
  { name: "session_id", type: "text", read: ({ record }) => cleanNullable(record.sessionId) },
  { name: "is_free", type: "boolean", read: ({ record }) => record.usesFreeModel === true },
  { name: "gateway_id", type: "text", read: ({ record }) => cleanNullable(record.lease?.gatewayId) },
  { name: "lease_ends_at", type: "bigint", read: ({ record }) => record.lease?.endsAt ?? null },
];

/** The columns that a later version changes. */
const CHANGING = ["model", "outcome", "cost", "is_free", "gateway_id", "lease_ends_at", "record"];

const SAVE = `INSERT INTO generations AS saved (${COLUMNS.map(({ name }) => name).join(", ")}, record)
  SELECT * FROM unnest(${COLUMNS.map(({ type }, at) => `$${at + 1}::text::${type}[]`).join(", ")},
    string_to_array($${COLUMNS.length + 1}, E'\\n'))
  ON CONFLICT (day, id) DO UPDATE SET ${CHANGING.map((name) => `${name} = excluded.${name}`).join(", ")}
  WHERE saved.outcome = 'open'
  RETURNING id`;

function cleanNullable(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : cleanText(text);
}
