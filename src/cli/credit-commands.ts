import { type Command, InvalidArgumentError } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { formatDollars, parseDollars } from "../base/money.ts";
import { type Credits, grantCredits } from "../core/ledger/credits.ts";
import { describeEntry } from "../core/ledger/describe-entry.ts";
import { generationOf, TRANSFER_KINDS, type TransferKind } from "../core/ledger/records.ts";
import type { StoredTransfer } from "../core/ports/ledger-store.ts";
import { formatTable } from "./format-table.ts";
import { withStores } from "./with-stores.ts";

/** Entries that are shown unless more are asked for. */
const USUAL_LIMIT = 50;

/** `gateway credits grant|list` and `gateway ledger`: an account's money, whether or not a gateway runs. */
export function addCreditCommands(program: Command): void {
  const credits = program.command("credits").description("give credits and list them");
  credits
    .command("grant")
    .description("give an account credits; a running gateway takes them up within a second")
    .argument("<account>", "the account's id, user_… or org_…")
    .argument("<amount>", "US dollars, such as 12.50", readAmount)
    .option("--note <text>", "what for")
    .option("--expires <time>", "when what is left of them ends, such as 2027-01-31")
    .option("--id <id>", "your own name for it: the same one twice grants once")
    .option("--json", "print JSON")
    .action((account: string, amount: number, options: GrantOptions) =>
      withStores((stores) => grant(stores, account, amount, options)),
    );
  credits
    .command("list")
    .description("list what an account was given, has bought and got back, newest first")
    .argument("<account>", "the account's id")
    .option("--limit <number>", "how many at most", readLimit, USUAL_LIMIT)
    .option("--json", "print JSON")
    .action((account: string, options: ListOptions) =>
      withStores((stores) => list(stores, account, CREDIT_KINDS, options)),
    );
  program
    .command("ledger")
    .description("list all that moved an account's money, newest first")
    .argument("<account>", "the account's id")
    .option("--kind <kind>", `only ${TRANSFER_KINDS.join(", ")}`, readKind)
    .option("--limit <number>", "how many at most", readLimit, USUAL_LIMIT)
    .option("--json", "print JSON")
    .action((account: string, options: ListOptions) =>
      withStores((stores) => list(stores, account, options.kind ? [options.kind] : [undefined], options)),
    );
}

interface GrantOptions {
  readonly note?: string;
  readonly expires?: string;
  readonly id?: string;
  readonly json?: boolean;
}

interface ListOptions {
  readonly limit: number;
  readonly kind?: TransferKind;
  readonly json?: boolean;
}

const CREDIT_KINDS = TRANSFER_KINDS.filter((kind) => kind !== "usage");
const MOST_ENTRIES = 10_000;

function readAmount(text: string): number {
  const amount = parseDollars(text);
  if (amount !== null && amount > 0) return amount;
  throw new InvalidArgumentError("It must be more than 0, with at most 9 places, such as 12.50.");
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_ENTRIES) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_ENTRIES}.`);
}

function readKind(text: string): TransferKind {
  const kind = TRANSFER_KINDS.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new InvalidArgumentError(`It must be one of ${TRANSFER_KINDS.join(", ")}.`);
}

async function requireAccount(stores: Stores, id: string): Promise<void> {
  if ((await stores.accounts.findAccount(id)) === null) throw new Error(`There is no account ${id}.`);
}

async function grant(
  stores: Stores,
  accountId: string,
  amount: number,
  { note, expires, id, json }: GrantOptions,
): Promise<string> {
  await requireAccount(stores, accountId);
  const expiresAt = expires === undefined ? null : Date.parse(expires);
  if (expiresAt !== null && !(expiresAt > stores.clock.now()))
    throw new Error("--expires must be a time in the future, such as 2027-01-31");
  const wish = { accountId, amount, note: note ?? null, id: id ?? null, expiresAt };
  const { transfer, isNew } = await grantCredits(creditsOf(stores), wish);
  if (json) return JSON.stringify({ data: describeEntry(transfer, accountId) });
  const { balance } = await stores.ledger.findBalance(accountId);
  const what = isNew ? "was given" : "had been given before:";
  return `${accountId} ${what} ${formatDollars(transfer.amount)} US dollars (${transfer.id}). Its balance is ${formatDollars(balance)}.`;
}

/** Beside a gateway: it takes over what stands in the store. */
function creditsOf({ ledger: store, clock, ids }: Stores): Credits {
  const ledger = {
    transfer: (transfer: Parameters<typeof store.addTransfer>[0]) => store.addTransfer(transfer),
    refund: (refund: Parameters<typeof store.addRefund>[0]) => store.addRefund(refund),
  };
  return { store, ledger, clock, ids };
}

async function list(
  stores: Stores,
  accountId: string,
  kinds: readonly (TransferKind | undefined)[],
  { limit, json }: ListOptions,
): Promise<string> {
  await requireAccount(stores, accountId);
  const found: StoredTransfer[] = [];
  for (const kind of kinds)
    found.push(...(await stores.ledger.listTransfers(accountId, Number.MAX_SAFE_INTEGER, limit, kind)));
  const newest = found.sort((a, b) => b.place - a.place).slice(0, limit);
  if (json) return JSON.stringify({ data: newest.map((transfer) => describeEntry(transfer, accountId)) });
  if (newest.length === 0)
    return "There is nothing yet. Give credits: gateway credits grant <account> <amount>";
  const rows = newest.map((transfer) => [
    String(transfer.place),
    new Date(transfer.createdAt).toISOString().slice(0, 19),
    transfer.kind,
    formatDollars(transfer.to === accountId ? transfer.amount : -transfer.amount),
    transfer.expiresAt === null ? "" : new Date(transfer.expiresAt).toISOString().slice(0, 10),
    generationOf(transfer) ?? transfer.note ?? "",
  ]);
  return formatTable(["number", "time", "kind", "dollars", "until", "about"], rows);
}
