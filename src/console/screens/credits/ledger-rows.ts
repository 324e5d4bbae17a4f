/** Ledger entries with the balance after each. Pure functions. */
import type { LedgerEntry } from "../../api/schema.ts";

/** An entry of the ledger, and the account's balance after it in nanodollars; null if it is not known. */
export type LedgerRow = LedgerEntry & { readonly balance: number | null };

/**
 * Adds the balance after each entry. `entries` are the newest ones without a gap, newest first; `balance` is the present balance in
 * nanodollars, which already contains all of them. With null no row has a balance.
 */
export function addBalances(entries: readonly LedgerEntry[], balance: number | null): readonly LedgerRow[] {
  let after = balance;
  return entries.map((entry) => {
    const row = { ...entry, balance: after };
    if (after !== null) after -= entry.amount_nanodollars;
    return row;
  });
}

/** Returns the sum of entries in nanodollars. */
export function sumEntries(entries: readonly LedgerEntry[]): number {
  return entries.reduce((sum, { amount_nanodollars }) => sum + amount_nanodollars, 0);
}

/** Returns an amount of US dollars in the API's form: digits with an optional minus and decimals; null if the text is not an amount. */
export function parseAmount(text: string): string | null {
  const amount = text
    .trim()
    .replace(/^([+-]?)\$/, "$1")
    .replace(/^\+/, "");
  return /^-?\d{1,7}(\.\d{1,9})?$/.test(amount) ? amount : null;
}

/** Returns an amount that was typed in nanodollars; 0 if it is not an amount. */
export function readNanodollars(text: string): number {
  return Math.round(Number(parseAmount(text) ?? 0) * 1e9);
}
