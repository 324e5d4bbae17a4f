import { type Command, InvalidArgumentError } from "commander";
import { formatDollars, parseDollars } from "../../base/money.ts";
import { TRANSFER_KINDS } from "../../core/ledger/records.ts";
import { listBalances } from "../../http/routes/admin-balances.ts";
import { postCorrection, postCredits, postPurchase, postRefund } from "../../http/routes/admin-credits.ts";
import { getBalance, listLedger } from "../../http/routes/admin-ledger.ts";
import { listRows } from "../callers/caller.ts";
import { type CommandRun, defineCommand, type OptionSpec } from "../endpoint/command-spec.ts";
import { declareCommands } from "../endpoint/declare-command.ts";
import { accountsOf, NAMED_BY } from "../endpoint/named-resources.ts";
import { DEFAULT_LIMIT, readExpiryTime, readNote } from "../endpoint/read-options.ts";
import { labelOf } from "../endpoint/resolve-name.ts";
import { printDay, printLimit, type Row, tableOf } from "../render/columns.ts";
import { formatFields } from "../render/format-table.ts";
import { formatEntries, type LedgerEntry } from "./ledger-entries.ts";

const ACCOUNT = {
  name: "<account>",
  help: NAMED_BY.account,
  field: "params.id",
  named: accountsOf(),
} as const;
const AMOUNT = {
  name: "<amount>",
  help: "Amount in US dollars, such as 12.50",
  field: "amount",
  read: readAmount,
} as const;
const NOTE: OptionSpec = {
  flags: "--note <text>",
  help: "Note in the ledger",
  field: "note",
  read: readNote,
};
const REASON: OptionSpec = { ...NOTE, help: "Reason, noted in the ledger" };

/** Returns the option of the id by which a change of a balance is made once. */
function idOption(help: string): OptionSpec {
  return { flags: "--id <id>", help, field: "body.id" };
}

/** `gateway credits …`: the credits of an account. */
export function declareCreditCommands(credits: Command): void {
  declareCommands(credits, [
    defineCommand({
      name: "grant",
      description: "Grant credits to an account; a running gateway applies them within a second",
      endpoint: postCredits,
      args: [ACCOUNT, AMOUNT],
      options: [
        NOTE,
        {
          flags: "--expires <time>",
          help: "When the unused rest of the grant expires, such as 2027-01-31 (default: never)",
          field: "expires_at",
        },
        idOption("Idempotency ID: repeating the command with the same ID grants once"),
      ],
      examples: [
        'gateway credits grant ada@example.com 12.50 --note "welcome"',
        "gateway credits grant Acme 100 --expires 2027-01-31",
      ],
      complete: async ({ body }) => ({ body: { ...body, expires_at: readExpiryTime(body["expires_at"]) } }),
      show: ({ data }, run) => describeMove(data, run),
    }),
    defineCommand({
      name: "purchase",
      description: "Record a purchase that the payment webhook has not reported",
      endpoint: postPurchase,
      args: [ACCOUNT, AMOUNT],
      options: [{ ...idOption("ID of the payment; each payment is recorded once"), isRequired: true }, NOTE],
      show: ({ data }, run) => describeMove(data, run),
    }),
    defineCommand({
      name: "correct",
      description: "Correct the balance of an account up or down",
      endpoint: postCorrection,
      args: [
        ACCOUNT,
        { ...AMOUNT, help: "Amount in US dollars, such as 12.50 or -12.50", read: readCorrection },
      ],
      options: [
        { ...REASON, isRequired: true },
        idOption("Idempotency ID: repeating the command with the same ID corrects once"),
      ],
      show: ({ data }, run) => describeMove(data, run),
    }),
    defineCommand({
      name: "refund",
      description: "Refund the cost of a generation, or part of it",
      endpoint: postRefund,
      args: [{ name: "<generation>", help: "ID of the generation, gen_…", field: "params.id" }],
      options: [
        {
          flags: "--amount <dollars>",
          help: "Amount in US dollars (default: all that is not refunded yet)",
          field: "amount",
          read: readAmount,
        },
        REASON,
        idOption("Idempotency ID; needed for several refunds of one generation"),
      ],
      show: ({ data }, run) => describeMove(data, run),
    }),
    defineCommand({
      name: "balance",
      description: "Show the balance of an account, its sources, and unused grants that expire",
      endpoint: getBalance,
      args: [ACCOUNT],
      show({ data }) {
        const grants = data.grants.map(({ left, expires_at }) => `${left} until ${expires_at}`);
        return formatFields({ ...takeStored(data), grants: grants.length === 0 ? null : grants.join(", ") });
      },
      json: ({ data }) => ({ data: takeStored(data) }),
    }),
    defineCommand({
      name: "balances",
      description: "List the balances of all organizations, or of all users, the newest account first",
      endpoint: listBalances,
      show: tableOf(
        [
          ["id", "account", (account) => String((account as Row)["id"])],
          ["name", "account", (account) => String((account as Row)["name"])],
          ["balance", "balance_nanodollars", (amount) => formatDollars(Number(amount))],
          ["overdraft", "overdraft", printLimit],
          ["state", "closed_at", (at) => (at === null ? "open" : `closed ${printDay(at)}`)],
        ],
        "No accounts.",
      ),
      json: ({ data }) => ({ data: data.map(({ held: _, held_nanodollars: __, ...balance }) => balance) }),
    }),
    defineCommand({
      name: "list",
      description: "List grants, purchases, corrections and refunds of an account, newest first",
      endpoint: listLedger,
      args: [ACCOUNT],
      fixed: { kind: undefined, from: undefined, to: undefined },
      rows: DEFAULT_LIMIT,
      async call(input, { caller, options }) {
        const limit = options["limit"] as number;
        const lists = CREDIT_KINDS.map((kind) =>
          listRows(caller, listLedger, { params: input.params, query: { kind }, limit }),
        );
        const entries = (await Promise.all(lists)).flat() as LedgerEntry[];
        return { data: entries.sort((a, b) => b.number - a.number).slice(0, limit), next: null };
      },
      show: ({ data }, { caller }) => formatEntries(caller, data, null),
      json: ({ data }) => ({ data }),
    }),
  ]);
}

const CREDIT_KINDS = TRANSFER_KINDS.filter((kind) => kind !== "usage");

/** Leaves out what only the memory of a running gateway knows, so that the command prints the same on the stores and with `--url`. */
function takeStored<Balance extends Readonly<Record<string, unknown>>>(balance: Balance): Row {
  const known = Object.entries(balance).filter(([name]) => !/^(held|available)/.test(name));
  return Object.fromEntries(known);
}

/** Returns the amount as it was written: the endpoint parses it to nanodollars. @throws InvalidArgumentError */
function readAmount(text: string): string {
  if ((parseDollars(text) ?? 0) > 0) return text;
  throw new InvalidArgumentError(
    "It must be greater than 0 and have at most 9 decimal places, such as 12.50.",
  );
}

/** @throws InvalidArgumentError */
function readCorrection(text: string): string {
  if ((parseDollars(text) ?? 0) !== 0) return text;
  throw new InvalidArgumentError("It must not be 0 and have at most 9 decimal places, such as -12.50.");
}

/** Describes a change of a balance, with the balance that it has led to. */
async function describeMove(entry: LedgerEntry, { caller, named, status }: CommandRun): Promise<string> {
  const { account_id: id, amount_nanodollars: amount } = entry;
  const { body } = await caller.call(getBalance, { params: { id } });
  const { balance_nanodollars: balance } = (body as { readonly data: { balance_nanodollars: number } }).data;
  const account = named["account"] ?? (await accountsOf()(caller).find(id));
  const label = account === null ? id : labelOf(account);
  const [verb, preposition] = amount < 0 ? ["Deducted", "from"] : ["Added", "to"];
  const done = status === CREATED ? verb : `Already ${verb.toLowerCase()} before:`;
  return `${done} ${formatDollars(Math.abs(amount))} US dollars ${preposition} ${label}: ${entry.id}. Its balance is ${formatDollars(balance)}.`;
}

const CREATED = 201;
