import type { Command } from "commander";
import type { Stores } from "../app/wire-up.ts";
import { formatDollars } from "../base/money.ts";
import { formatTime } from "../base/time.ts";
import { checkLedger, presentDifference } from "../core/ledger/check-ledger.ts";
import { TRANSFER_KINDS } from "../core/ledger/records.ts";
import { presentGeneration } from "../core/usage/present-generation.ts";
import { type EntryOptions, listEntries, readKind } from "./credit-views.ts";
import { formatFields, formatTable } from "./format-table.ts";
import { readLimit, USUAL_LIMIT } from "./read-options.ts";
import { withStores } from "./with-stores.ts";

interface JsonOption {
  readonly json?: boolean;
}

/** `gateway ledger`, `ledger check`, `holds` and `generation`: where money went, and whether it adds up. */
export function addLedgerCommands(program: Command): void {
  const ledger = program
    .command("ledger")
    .description("list all that moved an account's money, newest first")
    .argument("<account>", "the account's id")
    .option("--kind <kind>", `only ${TRANSFER_KINDS.join(", ")}`, readKind)
    .option("--limit <number>", "how many at most", readLimit, USUAL_LIMIT)
    .option("--json", "print JSON")
    .action((account: string, options: EntryOptions) =>
      withStores((stores) =>
        listEntries(stores, account, options.kind ? [options.kind] : [undefined], options),
      ),
    );
  ledger
    .command("check")
    .description("add everything up; fails where something differs")
    .option("--json", "print JSON")
    // The option is also the group's, which takes it first.
    .action((_, command: Command) =>
      withStores((stores) => check(stores, command.optsWithGlobals<JsonOption>())),
    );
  program
    .command("holds")
    .description("generations under way, for which a running gateway holds credits")
    .option("--json", "print JSON")
    .action((options: JsonOption) => withStores((stores) => listHolds(stores, options)));
  program
    .command("generation")
    .description("what a generation was and cost")
    .argument("<id>", "the generation's id, gen_…")
    .option("--json", "print JSON")
    .action((id: string, options: JsonOption) => withStores((stores) => showGeneration(stores, id, options)));
}

async function check({ ledger, usage, listDamagedLines }: Stores, { json }: JsonOption): Promise<string> {
  const differences = await checkLedger(ledger, usage, listDamagedLines());
  if (differences.length > 0) process.exitCode = 1;
  if (json) return JSON.stringify({ data: differences.map(presentDifference) });
  if (differences.length === 0)
    return "All balances are the sum of their transfers, and all records have theirs.";
  const rows = differences.map(({ of, id, difference, reason }) => [
    of,
    id,
    formatDollars(difference),
    reason ?? "",
  ]);
  return formatTable(["of", "id", "dollars", "reason"], rows);
}

/** The amounts are in the gateway's memory alone; what they are held for is in its store. */
async function listHolds({ usage }: Stores, { json }: JsonOption): Promise<string> {
  const open = (await usage.findOpenUsage()).filter(({ accountId }) => accountId !== null);
  const data = open.map(({ id, accountId, keyId, requestedModel, createdAt }) => ({
    id,
    account_id: accountId,
    key_id: keyId,
    requested_model: requestedModel,
    created_at: formatTime(createdAt),
  }));
  if (json) return JSON.stringify({ data });
  if (data.length === 0) return "No generation is under way: nothing is held.";
  const rows = data.map((one) => [
    one.id,
    one.account_id ?? "",
    one.key_id ?? "",
    one.requested_model,
    one.created_at.slice(0, 19),
  ]);
  return formatTable(["generation", "account", "key", "model", "since"], rows);
}

async function showGeneration({ usage }: Stores, id: string, { json }: JsonOption): Promise<string> {
  const record = await usage.findUsage(id);
  if (record === null) throw new Error(`There is no generation ${id}.`);
  const data = presentGeneration(record);
  return json ? JSON.stringify({ data }) : formatFields(data);
}
