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

/** `gateway credits grant|purchase|correct|refund|balance|list`: an account's money, whether or not a gateway runs. */
export function addCreditCommands(program: Command): void {
  const credits = program
    .command("credits")
    .description("give, correct and refund credits, and look at them");
  credits
    .command("grant")
    .description("give an account credits; a running gateway takes them up within a second")
    .argument("<account>", "the account's id, user_… or org_…")
    .argument("<amount>", "US dollars, such as 12.50", readAmount)
    .option("--note <text>", "what for")
    .option("--expires <time>", "when what is left of them ends, such as 2027-01-31")
    .option("--id <id>", "your own name for it: the same one twice grants once")
    .option("--json", "print JSON")
    .action((account: string, amount: number, options: MoveOptions) =>
      withStores((stores) => move(stores, { word: "grant", account, amount, options }, grant)),
    );
  credits
    .command("purchase")
    .description("put in what an account has bought and the webhook has not told")
    .argument("<account>", "the account's id")
    .argument("<amount>", "US dollars, such as 12.50", readAmount)
    .requiredOption("--id <id>", "the payment's id: each counts once")
    .option("--note <text>", "what for")
    .option("--json", "print JSON")
    .action((account: string, amount: number, options: MoveOptions & { readonly id: string }) =>
      withStores((stores) => move(stores, { word: "purchase", account, amount, options }, purchase)),
    );
  credits
    .command("correct")
    .description("move an account's balance up or down")
    .argument("<account>", "the account's id")
    .argument("<amount>", "US dollars, such as 12.50 or -12.50", readCorrection)
    .requiredOption("--note <text>", "why")
    .option("--id <id>", "your own name for it: the same one twice corrects once")
    .option("--json", "print JSON")
    .action((account: string, amount: number, options: MoveOptions) =>
      withStores((stores) => move(stores, { word: "correct", account, amount, options }, correct)),
    );
  credits
    .command("refund")
    .description("give back what a generation cost, or a part of it")
    .argument("<generation>", "the generation's id, gen_…")
    .option("--amount <dollars>", "how much; all that was not given back yet when left out", readAmount)
    .option("--note <text>", "why")
    .option("--id <id>", "tells several refunds of one generation apart")
    .option("--json", "print JSON")
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

/** What is to be moved, and by which command. */
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
  throw new InvalidArgumentError("It must be more than 0, with at most 9 places, such as 12.50.");
}

function readCorrection(text: string): number {
  const amount = parseDollars(text);
  if (amount !== null && amount !== 0) return amount;
  throw new InvalidArgumentError("It must not be 0, with at most 9 places, such as -12.50.");
}

const grant: Mover = (stores, movement) => {
  const expiresAt = readExpiry(movement.options.expires, stores.clock.now()) ?? null;
  return grantCredits(creditsOf(stores), { ...wishOf(movement), expiresAt });
};
const purchase: Mover = (stores, movement) =>
  addPurchase(creditsOf(stores), { ...wishOf(movement), id: movement.options.id as string });
const correct: Mover = (stores, movement) => correctBalance(creditsOf(stores), wishOf(movement));

function wishOf({ account, amount, options }: Movement) {
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

/** Beside a gateway: it takes over what stands in the store. */
function creditsOf({ ledger: store, clock, ids }: Stores): Credits {
  const ledger = {
    transfer: (transfer: Parameters<typeof store.addTransfer>[0]) => store.addTransfer(transfer),
    refund: (refund: Parameters<typeof store.addRefund>[0]) => store.addRefund(refund),
  };
  return { store, ledger, clock, ids };
}
