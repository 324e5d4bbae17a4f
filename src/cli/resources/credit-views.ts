import { type Command, InvalidArgumentError } from "commander";
import type { Stores } from "../../app/stores.ts";
import { formatDollars, toDollars } from "../../base/money.ts";
import { dateOf } from "../../base/time.ts";
import type { StoredTransfer } from "../../core/ledger/ledger-store.ts";
import { presentEntry } from "../../core/ledger/present-entry.ts";
import { presentGrantLeft, presentSums } from "../../core/ledger/present-sums.ts";
import { generationOf, TRANSFER_KINDS, type TransferKind } from "../../core/ledger/records.ts";
import { withStores } from "../callers/with-stores.ts";
import { NAMED_BY, resolveAccount } from "../endpoint/named-resources.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "../endpoint/read-options.ts";
import { formatFields, formatTable } from "../render/format-table.ts";
import { printTime } from "../render/print-values.ts";

/** `gateway credits balance|list`: the balance of an account and its sources. */
export function addCreditViews(credits: Command): void {
  addJsonOption(
    credits
      .command("balance")
      .description("Show the balance of an account, its sources, and unused grants that expire")
      .argument("<account>", NAMED_BY.account),
  ).action((account: string, options: JsonOption) =>
    withStores((stores) => showBalance(stores, account, options)),
  );
  addJsonOption(
    credits
      .command("list")
      .description("List grants, purchases, corrections and refunds of an account, newest first")
      .argument("<account>", NAMED_BY.account)
      .option("--limit <number>", "Maximum number of rows", readLimit, DEFAULT_LIMIT),
  ).action((account: string, options: EntryOptions) =>
    withStores((stores) => listEntries(stores, { account, kinds: CREDIT_KINDS }, options)),
  );
}

/** The options of commands that list ledger entries. */
export interface EntryOptions extends JsonOption {
  readonly limit: number;
}

/** The ledger entries that a command lists. */
export interface EntrySelection {
  /** The account, as the argument of the command names it. */
  readonly account: string;
  /** `undefined` stands for all kinds. */
  readonly kinds: readonly (TransferKind | undefined)[];
}

const CREDIT_KINDS = TRANSFER_KINDS.filter((kind) => kind !== "usage");

/**
 * Reads a kind of transfer.
 * @throws InvalidArgumentError for an unknown kind; it lists the known ones.
 */
export function readKind(text: string): TransferKind {
  const kind = TRANSFER_KINDS.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new InvalidArgumentError(`It must be one of ${TRANSFER_KINDS.join(", ")}.`);
}

async function showBalance(stores: Stores, account: string, { json }: JsonOption): Promise<string> {
  const { id, overdraft } = await resolveAccount(stores, account);
  const { balance } = await stores.ledger.findBalance(id);
  const data = {
    account_id: id,
    balance: toDollars(balance),
    balance_nanodollars: balance,
    overdraft: overdraft === null ? null : toDollars(overdraft),
    ...presentSums(await stores.ledger.sumTransfers(id)),
    grants: (await stores.ledger.findGrantsLeft(id)).map(presentGrantLeft),
  };
  if (json) return JSON.stringify({ data });
  const grants = data.grants.map(({ left, expires_at }) => `${left} until ${expires_at}`);
  return formatFields({ ...data, grants: grants.length === 0 ? null : grants.join(", ") });
}

/** Prints ledger entries, newest first. */
export async function listEntries(
  stores: Stores,
  { account, kinds }: EntrySelection,
  { limit, json }: EntryOptions,
): Promise<string> {
  const { id: accountId } = await resolveAccount(stores, account);
  const found: StoredTransfer[] = [];
  for (const kind of kinds)
    found.push(...(await stores.ledger.listTransfers(accountId, Number.MAX_SAFE_INTEGER, limit, kind)));
  const newest = found.sort((a, b) => b.place - a.place).slice(0, limit);
  if (json) return JSON.stringify({ data: newest.map((transfer) => presentEntry(transfer, accountId)) });
  if (newest.length === 0) return "No entries. Grant credits: gateway credits grant <account> <amount>";
  const models = await findModels(stores, newest);
  // Only a list of all kinds has every transfer between its entries.
  const balances = kinds.includes(undefined) ? await balancesAfter(stores, accountId, newest) : null;
  const rows = newest.map((transfer, at) => [
    String(transfer.place),
    printTime(transfer.createdAt),
    transfer.kind,
    formatDollars(amountFor(accountId, transfer)),
    ...(balances === null ? [] : [formatDollars(balances[at] as number)]),
    transfer.expiresAt === null ? "" : dateOf(transfer.expiresAt),
    models.get(generationOf(transfer) ?? "") ?? "",
    generationOf(transfer) ?? transfer.note ?? "",
  ]);
  const balance = balances === null ? [] : ["balance"];
  return formatTable(["number", "time", "kind", "dollars", ...balance, "expires", "model", "about"], rows);
}

function amountFor(accountId: string, { to, amount }: StoredTransfer): number {
  return to === accountId ? amount : -amount;
}

/** Returns the balance after each of the newest transfers. Nanodollars. */
async function balancesAfter(
  { ledger }: Stores,
  accountId: string,
  newest: readonly StoredTransfer[],
): Promise<readonly number[]> {
  let { balance } = await ledger.findBalance(accountId);
  return newest.map((transfer) => {
    const after = balance;
    balance -= amountFor(accountId, transfer);
    return after;
  });
}

/** Generations that are looked up at a time. */
const AT_ONCE = 10;

/** Returns the models of the generations that transfers are about, by generation. */
async function findModels(
  { usage }: Stores,
  transfers: readonly StoredTransfer[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(transfers.flatMap((transfer) => generationOf(transfer) ?? []))];
  const models = new Map<string, string>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const records = await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => usage.findUsage(id)));
    for (const record of records)
      if (record !== null) models.set(record.id, record.model ?? record.requestedModel);
  }
  return models;
}
