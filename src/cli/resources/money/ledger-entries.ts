import type { z } from "zod";
import { formatDollars } from "../../../base/numbers/money.ts";
import type { LedgerEntryView } from "../../../http/api/ledger-entry-view.ts";
import { getGenerationDetails } from "../../../http/routes/traffic/admin-generation.ts";
import { type Caller, findOne } from "../../callers/caller.ts";
import { printDay, printText, tableOf } from "../../render/columns.ts";

/** An entry of the ledger, as endpoints answer it. */
export type LedgerEntry = z.infer<typeof LedgerEntryView>;

/** Formats entries, with the models of the generations that they are about. `balances` are those after each entry; null: not shown. */
export async function formatEntries(
  caller: Caller,
  entries: readonly LedgerEntry[],
  balances: readonly number[] | null,
): Promise<string> {
  const models = await findModels(caller, entries);
  const data = entries.map((entry, at) => ({
    ...entry,
    balance: balances?.[at],
    model: models.get(entry.generation_id ?? ""),
  }));
  return tableOf(
    [
      "number",
      ["time", "created_at"],
      "kind",
      ["dollars", "amount_nanodollars", (amount) => formatDollars(Number(amount))],
      ...(balances === null ? [] : [BALANCE]),
      ["expires", "expires_at", printDay],
      "model",
      ["about", "generation_id", (id, { note }) => printText(id ?? note)],
    ],
    "No entries. Grant credits: gateway credits grant <account> <amount>",
  )({ data });
}

const BALANCE = ["balance", "balance", (amount: unknown) => formatDollars(Number(amount))] as const;

/** Generations that are looked up at a time. */
const AT_ONCE = 10;

/** Returns the models of the generations that entries are about, by generation. */
async function findModels(
  caller: Caller,
  entries: readonly LedgerEntry[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.flatMap(({ generation_id }) => generation_id ?? []))];
  const models = new Map<string, string>();
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const chunk = ids.slice(at, at + AT_ONCE);
    const found = await Promise.all(chunk.map((id) => findOne(caller, getGenerationDetails, { id })));
    for (const one of found) {
      const record = one as {
        readonly id: string;
        readonly model: string | null;
        readonly requested_model: string;
      } | null;
      if (record !== null) models.set(record.id, record.model ?? record.requested_model);
    }
  }
  return models;
}
