import { type Command, InvalidArgumentError } from "commander";
import type { Stores } from "../../app/stores.ts";
import { formatDollars, parseDollars } from "../../base/money.ts";
import {
  addPurchase,
  type Credits,
  correctBalance,
  grantCredits,
  type Moved,
  refundGeneration,
} from "../../core/ledger/credits.ts";
import { presentEntry } from "../../core/ledger/present-entry.ts";
import { withStores } from "../callers/with-stores.ts";
import { NAMED_BY, resolveAccount } from "../endpoint/named-resources.ts";
import {
  addExamples,
  addJsonOption,
  auditedOptions,
  type JsonOption,
  readExpiry,
  readNote,
} from "../endpoint/read-options.ts";
import { labelOf } from "../endpoint/resolve-name.ts";
import { auditCommand } from "../operate/audit-command.ts";
import { addCreditViews } from "./credit-views.ts";

/** `gateway credits grant|purchase|correct|refund|balance|list`: the credits of an account. A gateway may be running on the same stores. */
export function declareCreditCommands(credits: Command): void {
  addGrant(credits);
  addPurchaseCommand(credits);
  addCorrect(credits);
  addRefundCommand(credits);
  addCreditViews(credits);
}

function addGrant(credits: Command): void {
  const command = credits
    .command("grant")
    .description("Grant credits to an account; a running gateway applies them within a second")
    .argument("<account>", NAMED_BY.account)
    .argument("<amount>", "Amount in US dollars, such as 12.50", readAmount)
    .option("--note <text>", "Note in the ledger", readNote)
    .option(
      "--expires <time>",
      "When the unused rest of the grant expires, such as 2027-01-31 (default: never)",
    )
    .option("--id <id>", "Idempotency ID: repeating the command with the same ID grants once");
  addExamples(command, [
    'gateway credits grant ada@example.com 12.50 --note "welcome"',
    "gateway credits grant Acme 100 --expires 2027-01-31",
  ]);
  addMove(command, "grant", grant);
}

function addPurchaseCommand(credits: Command): void {
  const command = credits
    .command("purchase")
    .description("Record a purchase that the payment webhook has not reported")
    .argument("<account>", NAMED_BY.account)
    .argument("<amount>", "Amount in US dollars, such as 12.50", readAmount)
    .requiredOption("--id <id>", "ID of the payment; each payment is recorded once")
    .option("--note <text>", "Note in the ledger", readNote);
  addMove(command, "purchase", purchase);
}

function addCorrect(credits: Command): void {
  const command = credits
    .command("correct")
    .description("Correct the balance of an account up or down")
    .argument("<account>", NAMED_BY.account)
    .argument("<amount>", "Amount in US dollars, such as 12.50 or -12.50", readCorrection)
    .requiredOption("--note <text>", "Reason, noted in the ledger", readNote)
    .option("--id <id>", "Idempotency ID: repeating the command with the same ID corrects once");
  addMove(command, "correct", correct);
}

/** Adds `--json` and the action of a command that changes a balance. */
function addMove(command: Command, word: Movement["word"], mover: Mover): void {
  addJsonOption(command).action((account: string, amount: number, options: MoveOptions) =>
    withStores((stores) => move(stores, { word, account, amount, options }, mover)),
  );
}

function addRefundCommand(credits: Command): void {
  const command = credits
    .command("refund")
    .description("Refund the cost of a generation, or part of it")
    .argument("<generation>", "ID of the generation, gen_…")
    .option("--amount <dollars>", "Amount in US dollars (default: all that is not refunded yet)", readAmount)
    .option("--note <text>", "Reason, noted in the ledger", readNote)
    .option("--id <id>", "Idempotency ID; needed for several refunds of one generation");
  addJsonOption(command).action((generation: string, options: RefundOptions) =>
    withStores((stores) => refund(stores, generation, options)),
  );
}

interface MoveOptions extends JsonOption {
  readonly note?: string;
  readonly expires?: string;
  readonly id?: string;
}

interface RefundOptions extends Omit<MoveOptions, "expires"> {
  readonly amount?: number;
}

/** A change of a balance, and the command that makes it. */
interface Movement {
  readonly word: "grant" | "purchase" | "correct";
  /** The account, as the argument of the command names it. */
  readonly account: string;
  /** Nanodollars. */
  readonly amount: number;
  readonly options: MoveOptions;
}

/** The same with the account that its text stands for. */
interface ResolvedMovement extends Movement {
  readonly accountId: string;
}

type Mover = (stores: Stores, movement: ResolvedMovement) => Promise<Moved>;

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

function transferOf({ accountId, amount, options }: ResolvedMovement) {
  return { accountId, amount, note: options.note ?? null, id: options.id ?? null };
}

async function move(stores: Stores, movement: Movement, mover: Mover): Promise<string> {
  const { word, account, amount, options } = movement;
  const { id: accountId } = await resolveAccount(stores, account);
  const moved = await mover(stores, { ...movement, accountId });
  await auditCommand(stores, {
    action: `gateway credits ${word}`,
    accountId,
    target: accountId,
    changes: { ...auditedOptions(options), amount: formatDollars(amount) },
  });
  return presentMovement(stores, { moved, accountId, json: options.json });
}

async function refund(stores: Stores, generationId: string, options: RefundOptions): Promise<string> {
  const { amount = null, note = null, id = null, json } = options;
  const moved = await refundGeneration(creditsOf(stores), { generationId, amount, note, id });
  const accountId = moved.transfer.to;
  await auditCommand(stores, {
    action: "gateway credits refund",
    accountId,
    target: generationId,
    changes: { ...auditedOptions(options), amount: formatDollars(moved.transfer.amount) },
  });
  return presentMovement(stores, { moved, accountId, json });
}

interface Outcome extends JsonOption {
  readonly moved: Moved;
  readonly accountId: string;
}

/** Returns what a command prints about a change of a balance. */
async function presentMovement(
  stores: Stores,
  { moved: { transfer, isNew }, accountId, json }: Outcome,
): Promise<string> {
  if (json) return JSON.stringify({ data: presentEntry(transfer, accountId) });
  const { balance } = await stores.ledger.findBalance(accountId);
  const account = await stores.accounts.findAccount(accountId);
  const label = account === null ? accountId : labelOf(account);
  const [verb, preposition] = transfer.from === accountId ? ["Deducted", "from"] : ["Added", "to"];
  const done = isNew ? verb : `Already ${verb.toLowerCase()} before:`;
  return `${done} ${formatDollars(transfer.amount)} US dollars ${preposition} ${label}: ${transfer.id}. Its balance is ${formatDollars(balance)}.`;
}

/** Credits without a running ledger: a running gateway reads the changes from the store. */
function creditsOf({ ledger: store, clock, ids }: Stores): Credits {
  const ledger = {
    transfer: (transfer: Parameters<typeof store.addTransfer>[0]) => store.addTransfer(transfer),
    refund: (refund: Parameters<typeof store.addRefund>[0]) => store.addRefund(refund),
  };
  return { store, ledger, clock, ids };
}
