import { type Command, InvalidArgumentError } from "commander";
import { formatDollars, parseDollars } from "../../../base/numbers/money.ts";
import { TRANSFER_KINDS } from "../../../core/ledger/records/records.ts";
import { listBalances } from "../../../http/routes/money/admin-balances.ts";
import {
  postCorrection,
  postCredits,
  postPurchase,
  postRefund,
} from "../../../http/routes/money/admin-credits.ts";
import { getBalance, listLedger } from "../../../http/routes/money/admin-ledger.ts";
import { listRows } from "../../callers/caller.ts";
import { type CommandRun, defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { accountsOf } from "../../endpoint/named-resources.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { labelOf } from "../../endpoint/resolve-name.ts";
import { printDay, printLimit, type Row, tableOf } from "../../render/columns.ts";
import { formatFields } from "../../render/format-table.ts";
import { formatEntries, type LedgerEntry } from "./ledger-entries.ts";

const { account, amount } = ARGUMENTS;
const CORRECTION = { ...amount, help: `${amount.help} or -12.50`, read: readCorrection };
const GENERATION = { ...ARGUMENTS.generation, name: "<generation>", field: "params.id" };

/** `gateway credits …`: the credits of an account. */
export function declareCreditCommands(credits: Command): void {
  declareCommands(credits, [
    defineCommand({
      name: "grant",
      description: "Grant credits to an account. A running gateway applies them within a second",
      endpoint: postCredits,
      args: [account, amount],
      examples: [
        'gateway credits grant ada@example.com 12.50 --note "welcome"',
        "gateway credits grant Acme 100 --expires 2027-01-31",
      ],
      show: describeMove,
    }),
    defineCommand({ name: "purchase", endpoint: postPurchase, args: [account, amount], show: describeMove }),
    defineCommand({
      name: "correct",
      endpoint: postCorrection,
      args: [account, CORRECTION],
      show: describeMove,
    }),
    defineCommand({ name: "refund", endpoint: postRefund, args: [GENERATION], show: describeMove }),
    defineCommand({
      name: "balance",
      description: "Show the balance of an account, its sources, and unused grants that expire",
      endpoint: getBalance,
      args: [account],
      show({ data }) {
        const grants = data.grants.map(({ left, expires_at }) => `${left} until ${expires_at}`);
        return formatFields({ ...takeStored(data), grants: grants.length === 0 ? null : grants.join(", ") });
      },
      json: ({ data }) => ({ data: takeStored(data) }),
    }),
    defineCommand({
      name: "balances",
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
      json: ({ data }) => ({ data: data.map(takeStored) }),
    }),
    defineCommand({
      name: "list",
      description: "List grants, purchases, corrections and refunds of an account, newest first",
      endpoint: listLedger,
      args: [account],
      derives: false,
      rows: DEFAULT_LIMIT,
      async call({ params }, { caller, options }) {
        const limit = options["limit"] as number;
        const lists = CREDIT_KINDS.map((kind) =>
          listRows(caller, listLedger, { params, query: { kind }, limit }),
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

/** Leaves out values that only the memory of a running gateway has, so that the command prints the same on the stores and with `--url`. */
function takeStored(balance: Row): Row {
  return Object.fromEntries(Object.entries(balance).filter(([name]) => !/^(held|available)/.test(name)));
}

/** @throws InvalidArgumentError */
function readCorrection(text: string): string {
  if ((parseDollars(text) ?? 0) !== 0) return text;
  throw new InvalidArgumentError("It must not be 0 and have at most 9 decimal places, such as -12.50.");
}

/** Describes a change of a balance, with the balance that it has led to. */
async function describeMove(
  { data: entry }: { readonly data: LedgerEntry },
  { caller, named, status }: CommandRun,
): Promise<string> {
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
