import type { Command } from "commander";
import type { Stores } from "../../app/stores.ts";
import { formatDollars } from "../../base/money.ts";
import { formatTime } from "../../base/time.ts";
import { checkLedger, presentDifference } from "../../core/ledger/check-ledger.ts";
import { TRANSFER_KINDS, type TransferKind } from "../../core/ledger/records.ts";
import { tellDatabase } from "../callers/command-stores.ts";
import { withStores } from "../callers/with-stores.ts";
import { NAMED_BY } from "../endpoint/named-resources.ts";
import { addJsonOption, DEFAULT_LIMIT, type JsonOption, readLimit } from "../endpoint/read-options.ts";
import { EXIT_CODES } from "../exit-codes.ts";
import { formatTable } from "../render/format-table.ts";
import { type EntryOptions, listEntries, readKind } from "./credit-views.ts";

interface LedgerOptions extends EntryOptions {
  readonly kind?: TransferKind;
}

/** `gateway ledger` and `ledger check`: ledger entries, and their verification. */
export function declareLedgerCommands(ledger: Command): void {
  addJsonOption(
    ledger
      .argument("<account>", NAMED_BY.account)
      .option("--kind <kind>", `Only entries of this kind: ${TRANSFER_KINDS.join(", ")}`, readKind)
      .option("--limit <number>", "Maximum number of rows", readLimit, DEFAULT_LIMIT),
  ).action((account: string, { kind, ...options }: LedgerOptions) =>
    withStores((stores) => listEntries(stores, { account, kinds: [kind] }, options)),
  );
  addJsonOption(
    ledger.command("check").description("Verify all balances and charges; exits with 1 if anything differs"),
    // The parent command has the option too and parses it first.
  ).action((_, command: Command) =>
    withStores((stores) => check(stores, command.optsWithGlobals<JsonOption>())),
  );
}

/** `gateway holds`: the generations in progress. */
export function declareHoldsCommand(command: Command): void {
  addJsonOption(command).action((options: JsonOption) => withStores((stores) => listHolds(stores, options)));
}

async function check(stores: Stores, { json }: JsonOption): Promise<string> {
  const { ledger, usage, listDamagedLines } = stores;
  if (!json) tellDatabase(stores);
  const differences = await checkLedger(ledger, usage, listDamagedLines());
  if (differences.length > 0) process.exitCode = EXIT_CODES.failed;
  if (json) return JSON.stringify({ data: differences.map(presentDifference) });
  if (differences.length === 0)
    return "All balances match their transfers, and all generation records have their charges.";
  const rows = differences.map(({ of, id, difference, reason }) => [
    of,
    id,
    formatDollars(difference),
    reason ?? "",
  ]);
  return formatTable(["of", "id", "dollars", "reason"], rows);
}

/** Lists what credits are held for. The held amounts exist only in the memory of the running gateway. */
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
  if (data.length === 0) return "No generations are in progress.";
  const rows = data.map((one) => [
    one.id,
    one.account_id ?? "",
    one.key_id ?? "",
    one.requested_model,
    one.created_at.slice(0, 19),
  ]);
  return formatTable(["generation", "account", "key", "model", "since"], rows);
}
