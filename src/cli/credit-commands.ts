import { type Command, InvalidArgumentError } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { formatDollars, parseDollars } from "../base/money.ts";
import {
  addPurchase,
  type Credits,
  correctBalance,
  grantCredits,
  type Moved,
  refundGeneration,
} from "../core/ledger/credits.ts";
import { presentEntry } from "../core/ledger/present-entry.ts";
import { auditCommand } from "./audit-command.ts";
import { addCreditViews } from "./credit-views.ts";
import { describeOptions, readExpiry } from "./read-options.ts";
import { requireAccount } from "./require-account.ts";
import { withStores } from "./with-stores.ts";

/** `gateway credits grant|purchase|correct|refund|balance|list`: the credits of an account. A gateway may be running on the same stores. */
export function addCreditCommands(program: Command): void {
  const credits = program
    .command("credits")
    .description("Manage credits: grants, purchases, corrections and refunds");
  credits
    .command("grant")
    .description("Grant credits to an account; a running gateway applies them within a second")
    .argument("<account>", "ID of the account, user_… or org_…")
    .argument("<amount>", "Amount in US dollars, such as 12.50", readAmount)
    .option("--note <text>", "Note in the ledger")
    .option(
      "--expires <time>",
      "When the unused rest of the grant expires, such as 2027-01-31 (default: never)",
    )
    .option("--id <id>", "Idempotency ID: repeating the command with the same ID grants once")
    .option("--json", "Print JSON")
    .action((account: string, amount: number, options: MoveOptions) =>
      withStores((stores) => move(stores, { word: "grant", account, amount, options }, grant)),
    );
  credits
    .command("purchase")
    .description("Record a purchase that the payment webhook has not reported")
    .argument("<account>", "ID of the account")
    .argument("<amount>", "Amount in US dollars, such as 12.50", readAmount)
    .requiredOption("--id <id>", "ID of the payment; each payment is recorded once")
    .option("--note <text>", "Note in the ledger")
    .option("--json", "Print JSON")
    .action((account: string, amount: number, options: MoveOptions & { readonly id: string }) =>
      withStores((stores) => move(stores, { word: "purchase", account, amount, options }, purchase)),
    );
  credits
    .command("correct")
    .description("Correct the balance of an account up or down")
    .argument("<account>", "ID of the account")
    .argument("<amount>", "Amount in US dollars, such as 12.50 or -12.50", readCorrection)
    .requiredOption("--note <text>", "Reason, noted in the ledger")
    .option("--id <id>", "Idempotency ID: repeating the command with the same ID corrects once")
    .option("--json", "Print JSON")
    .action((account: string, amount: number, options: MoveOptions) =>
      withStores((stores) => move(stores, { word: "correct", account, amount, options }, correct)),
    );
  credits
    .command("refund")
    .description("Refund the cost of a generation, or part of it")
    .argument("<generation>", "ID of the generation, gen_…")
    .option("--amount <dollars>", "Amount in US dollars (default: all that is not refunded yet)", readAmount)
    .option("--note <text>", "Reason, noted in the ledger")
    .option("--id <id>", "Idempotency ID; needed for several refunds of one generation")
    .option("--json", "Print JSON")
    .action((generation: string, options: RefundOptions) =>
      withStores((stores) => refund(stores, generation, options)),
    );
  addCreditViews(credits);
}

interface MoveOptions {
  readonly note?: string;
  readonly expires?: string;
  readonly id?: string;
  readonly json?: boolean;
}

interface RefundOptions extends Omit<MoveOptions, "expires"> {
  readonly amount?: number;
}

/** A change of a balance, and the command that makes it. */
interface Movement {
  readonly word: "grant" | "purchase" | "correct";
  readonly account: string;
  /** Nanodollars. */
  readonly amount: number;
  readonly options: MoveOptions;
}

type Mover = (stores: Stores, movement: Movement) => Promise<Moved>;

function readAmount(text: string): number {
  const amount = parseDollars(text);
  if (amount !== null && amount > 0) return amount;
  throw new InvalidArgumentError(
    "It must be greater than 0 and have at most 9 decimal places, such as 12.50.",
  );
}

function readCorrection(text: string): number {
  const amount = parseDollars(text);
  if (amount !== null && amount !== 0) return amount;
  throw new InvalidArgumentError("It must not be 0 and have at most 9 decimal places, such as -12.50.");
}

const grant: Mover = (stores, movement) => {
  const expiresAt = readExpiry(movement.options.expires, stores.clock.now());
  return grantCredits(creditsOf(stores), { ...transferOf(movement), expiresAt });
};
const purchase: Mover = (stores, movement) =>
  addPurchase(creditsOf(stores), { ...transferOf(movement), id: movement.options.id as string });
const correct: Mover = (stores, movement) => correctBalance(creditsOf(stores), transferOf(movement));

function transferOf({ account, amount, options }: Movement) {
  return { accountId: account, amount, note: options.note ?? null, id: options.id ?? null };
}

async function move(stores: Stores, movement: Movement, mover: Mover): Promise<string> {
  const { word, account, amount, options } = movement;
  await requireAccount(stores, account);
  const moved = await mover(stores, movement);
  await auditMove(stores, word, account, { ...describeOptions(options), amount: formatDollars(amount) });
  return tell(stores, moved, account, options);
}

async function refund(stores: Stores, generationId: string, options: RefundOptions): Promise<string> {
  const { amount = null, note = null, id = null } = options;
  const moved = await refundGeneration(creditsOf(stores), { generationId, amount, note, id });
  const accountId = moved.transfer.to;
  await auditMove(
    stores,
    "refund",
    generationId,
    {
      ...describeOptions(options),
      amount: formatDollars(moved.transfer.amount),
    },
    accountId,
  );
  return tell(stores, moved, accountId, options);
}

function auditMove(
  stores: Stores,
  word: string,
  target: string,
  changes: Record<string, unknown>,
  accountId = target,
): Promise<void> {
  return auditCommand(stores, { action: `gateway credits ${word}`, accountId, target, changes });
}

async function tell(
  stores: Stores,
  { transfer, isNew }: Moved,
  accountId: string,
  { json }: { readonly json?: boolean },
): Promise<string> {
  if (json) return JSON.stringify({ data: presentEntry(transfer, accountId) });
  const { balance } = await stores.ledger.findBalance(accountId);
  const [now, before] = transfer.from === accountId ? ["lost", "had lost"] : ["was given", "had been given"];
  const what = isNew ? now : `${before} before:`;
  return `${accountId} ${what} ${formatDollars(transfer.amount)} US dollars (${transfer.id}). Its balance is ${formatDollars(balance)}.`;
}

/** Credits without a running ledger: a running gateway reads the changes from the store. */
function creditsOf({ ledger: store, clock, ids }: Stores): Credits {
  const ledger = {
    transfer: (transfer: Parameters<typeof store.addTransfer>[0]) => store.addTransfer(transfer),
    refund: (refund: Parameters<typeof store.addRefund>[0]) => store.addRefund(refund),
  };
  return { store, ledger, clock, ids };
}
