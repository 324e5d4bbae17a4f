import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { describe, type Run, recordsOf } from "./books.ts";
import { type Check, check } from "./check.ts";
import { HOSTILE, type ProviderSlug, priceOf } from "./prices.ts";

/** Compares costs with token usage, and records with transfers. */
export function checkCharges({ books }: Run): Check[] {
  const all = [...books.records.values()];
  return [
    check("every cost equals its record's tokens at its provider's prices", all, (record) => {
      // A client that leaves an answer which has begun to arrive pays for what was used, and otherwise nothing.
      const isLeft = record.outcome === "cancelled" && record.costNanodollars > 0;
      const isFree =
        record.provider === null ||
        (record.firstTokenAt === null && record.outcome !== "completed" && !isLeft) ||
        (record.outcome === "failed" && record.completionTokens === 0);
      const cost = isFree ? 0 : priceOf(record.provider as ProviderSlug, record);
      return record.costNanodollars === cost || isCapped(record, cost)
        ? null
        : `${describe(record)}, not ${cost}`;
    }),
    check(
      "a generation that a crash interrupted before its first token costs nothing",
      recordsOf(books, "interrupted"),
      (record) => (record.firstTokenAt === null && record.costNanodollars !== 0 ? describe(record) : null),
    ),
    check(
      "a generation that a crash interrupted in the middle of a stream is charged for its recorded progress",
      recordsOf(books, "interrupted").filter(({ firstTokenAt }) => firstTokenAt !== null),
      (record) =>
        record.streamed && record.estimated && record.costNanodollars > 0 ? null : describe(record),
    ),
    check(
      "a record with a cost has one transfer of that amount, from its account to the platform",
      all,
      (record) => {
        const transfer = books.transfers.get(record.id);
        if (record.costNanodollars === 0)
          return transfer === undefined ? null : `${describe(record)}, transfer of ${transfer.amount}`;
        const isRight =
          transfer?.kind === "usage" &&
          transfer.amount === record.costNanodollars &&
          transfer.from_account === record.accountId &&
          transfer.to_account === PLATFORM_ACCOUNT;
        return isRight ? null : `${describe(record)}, transfer ${JSON.stringify(transfer)}`;
      },
    ),
    check(
      "a transfer for usage has its record",
      [...books.transfers.values()].filter(({ kind }) => kind === "usage"),
      ({ id }) => (books.records.has(id) ? null : id),
    ),
  ];
}

/**
 * What a vendor used beyond all that the account had left, or beyond the hold when the gateway died, is not
 * charged; the record shows it next to the charge.
 */
function isCapped(
  { provider, outcome, costNanodollars, upstreamCostNanodollars }: UsageRecord,
  cost: number,
): boolean {
  const mayBe = provider === HOSTILE || outcome === "interrupted";
  return mayBe && upstreamCostNanodollars === cost && costNanodollars < cost;
}
