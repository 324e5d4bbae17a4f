import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import type { Asked, Payer } from "./asked.ts";
import { type BillEntry, usageOf } from "./billing-vendor.ts";
import { priceOf } from "./prices.ts";

/** A transfer as the database contains it. Nanodollars. */
export interface TransferRow {
  readonly id: string;
  readonly kind: string;
  readonly from_account: string;
  readonly to_account: string;
  readonly amount: number;
}

/** The contents of a gateway's database, read without the gateway. */
export interface Books {
  /** What the database says about its own integrity: "ok", or what is wrong. */
  readonly integrity: string;
  readonly rows: number;
  readonly records: ReadonlyMap<string, UsageRecord>;
  /** By id. */
  readonly transfers: ReadonlyMap<string, TransferRow>;
  readonly transferRows: number;
  readonly balances: ReadonlyMap<string, number>;
}

/** Everything known about a run from outside the gateways, and what they have written. */
export interface Run {
  readonly asked: readonly Asked[];
  readonly bill: readonly BillEntry[];
  readonly payers: readonly Payer[];
  readonly books: Books;
}

/** The records of one outcome. */
export function recordsOf({ records }: Books, outcome: UsageRecord["outcome"]): UsageRecord[] {
  return [...records.values()].filter((record) => record.outcome === outcome);
}

/** The text of a usage, which identifies a bill entry. */
export function keyOfUsage({ promptTokens, completionTokens }: BillEntry["usage"]): string {
  return `${promptTokens}/${completionTokens}`;
}

/** Whether a record and its transfer match what the vendor billed. */
export function sameAsBilled(
  record: UsageRecord,
  { usage, provider }: BillEntry,
  { transfers }: Books,
): boolean {
  const cost = priceOf(provider, usage);
  return (
    record.outcome === "completed" &&
    !record.estimated &&
    record.provider === provider &&
    keyOfUsage(record) === keyOfUsage(usage) &&
    record.costNanodollars === cost &&
    transfers.get(record.id)?.amount === cost
  );
}

/** Formats a record as one line. */
export function describe(record: UsageRecord, entry?: BillEntry): string {
  const { id, outcome, provider, promptTokens, completionTokens, costNanodollars } = record;
  const said = `${id}: ${outcome} at ${provider}, ${promptTokens} + ${completionTokens} tokens, ${costNanodollars} nanodollars`;
  return entry === undefined ? said : `${said}; the vendor billed ${JSON.stringify(usageOf(entry.serial))}`;
}
