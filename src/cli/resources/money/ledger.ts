import { type Command, InvalidArgumentError } from "commander";
import { formatDollars } from "../../../base/numbers/money.ts";
import { TRANSFER_KINDS } from "../../../core/ledger/records/records.ts";
import {
  getBalance,
  getLedgerCheck,
  listHolds,
  listLedger,
} from "../../../http/routes/money/admin-ledger.ts";
import { listGenerations } from "../../../http/routes/traffic/admin-generations.ts";
import { type Caller, findOne, listRows } from "../../callers/caller.ts";
import { defineCommand } from "../../endpoint/command-spec.ts";
import { declareCommand, declareCommands } from "../../endpoint/declare-command.ts";
import { ARGUMENTS } from "../../endpoint/known-fields.ts";
import { DEFAULT_LIMIT } from "../../endpoint/read-options.ts";
import { tableOf } from "../../render/columns.ts";
import { formatEntries, type LedgerEntry } from "./ledger-entries.ts";

const printNanodollars = (amount: unknown) => formatDollars(Number(amount));

/** `gateway ledger`, `ledger check` and `ledger holds`: ledger entries, their verification, and what is held. */
export function declareLedgerCommands(ledger: Command): void {
  declareCommand(
    ledger,
    defineCommand({
      name: "ledger",
      description: "List all ledger entries of an account, newest first",
      endpoint: listLedger,
      args: [ARGUMENTS.account],
      options: [
        {
          flags: "--kind <kind>",
          help: `Only entries of this kind: ${TRANSFER_KINDS.join(", ")}`,
          field: "kind",
          read: readKind,
        },
      ],
      rows: DEFAULT_LIMIT,
      // Only a list of all kinds, up to now, has every transfer between its entries.
      show: async ({ data }, { caller, options }) =>
        formatEntries(
          caller,
          data,
          options["kind"] === undefined && options["to"] === undefined
            ? await listBalances(caller, data)
            : null,
        ),
    }),
  );
  declareCommands(ledger, [
    defineCommand({
      name: "check",
      description: "Verify all balances and charges. Exits with 1 if anything differs",
      endpoint: getLedgerCheck,
      namesDatabase: true,
      hasFailed: ({ data }) => data.length > 0,
      show: tableOf(
        [...["of", "id"], ["dollars", "difference_nanodollars", printNanodollars], "reason"],
        "All balances match their transfers, and all generation records have their charges.",
      ),
    }),
    defineCommand({
      name: "holds",
      endpoint: listHolds,
      show: tableOf(
        [["generation", "id"], "account_id", ["dollars", "amount_nanodollars", printNanodollars]],
        "Nothing is held.",
      ),
    }),
  ]);
}

/** @throws InvalidArgumentError for an unknown kind; it lists the known ones. */
function readKind(text: string): string {
  if (TRANSFER_KINDS.some((known) => known === text)) return text;
  throw new InvalidArgumentError(`It must be one of ${TRANSFER_KINDS.join(", ")}.`);
}

/** Returns the balance after each of the newest entries of an account. Nanodollars. */
async function listBalances(caller: Caller, newest: readonly LedgerEntry[]): Promise<readonly number[]> {
  const [first] = newest;
  if (first === undefined) return [];
  const found = await findOne(caller, getBalance, { id: first.account_id });
  let { balance_nanodollars: balance } = found as { readonly balance_nanodollars: number };
  return newest.map(({ amount_nanodollars }) => {
    const after = balance;
    balance -= amount_nanodollars;
    return after;
  });
}

/** `gateway holds`: the generations in progress. */
export function declareHoldsCommand(holds: Command): void {
  declareCommand(
    holds,
    defineCommand({
      name: "holds",
      description: "List generations in progress, for which a running gateway holds credits",
      endpoint: listGenerations,
      derives: false,
      async call(_, { caller }) {
        const open = await listRows(caller, listGenerations, { query: { outcome: "open" } });
        const data = (open as { readonly account_id: string | null }[]).filter(
          ({ account_id }) => account_id !== null,
        );
        return { data: data as never[], next: null };
      },
      show: tableOf(
        [
          ["generation", "id"],
          ...["account_id", "key_id"],
          ["model", "requested_model"],
          ["since", "created_at"],
        ],
        "No generations are in progress.",
      ),
      json: ({ data }) => ({
        data: data.map(({ id, account_id, key_id, requested_model, created_at }) => ({
          ...{ id, account_id, key_id, requested_model, created_at },
        })),
      }),
    }),
  );
}
