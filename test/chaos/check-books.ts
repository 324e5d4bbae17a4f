import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records.ts";
import type { UsageRecord } from "../../src/core/usage/records.ts";
import { estimateTokens } from "../../src/wire/conversation/usage.ts";
import { type BillEntry, isHostile, usageOf, writePrompt } from "./billing-vendor.ts";
import type { Asked } from "./clients.ts";
import type { Payer } from "./payers.ts";
import { HOSTILE, type ProviderSlug, priceOf } from "./prices.ts";
import type { Books } from "./read-books.ts";

/** Everything known about a run from outside the gateway, and what the gateway has written. */
export interface Run {
  readonly asked: readonly Asked[];
  readonly bill: readonly BillEntry[];
  readonly payers: readonly Payer[];
  readonly books: Books;
  /** When each start of the gateway began, milliseconds since the epoch. */
  readonly roundStarts: readonly number[];
}

/** A property that must hold, and where it does not. */
export interface Check {
  readonly property: string;
  /** The number of cases checked; 0 means that nothing was tested. */
  readonly cases: number;
  readonly broken: readonly string[];
}

/** Compares the database with the vendor's bill and with what clients saw. */
export function checkBooks(run: Run): Check[] {
  return [...checkAnswers(run), ...checkBill(run), ...checkCharges(run), ...checkSums(run)];
}

export function check<T>(property: string, cases: Iterable<T>, find: (one: T) => string | null): Check {
  const all = [...cases];
  return { property, cases: all.length, broken: all.flatMap((one) => find(one) ?? []) };
}

function checkAnswers({ asked, bill, books }: Run): Check[] {
  const answered = asked.filter(({ generationId }) => generationId !== null);
  const whole = answered.filter(({ isWhole, plan }) => isWhole && !isHostile(plan));
  const refused = asked.filter(({ status }) => status === 402);
  const reached = new Set(bill.map(({ serial }) => serial));
  const recordOf = (one: Asked) => books.records.get(one.generationId as string);
  return [
    check("a request whose client saw a first byte has a record with one outcome", answered, (one) => {
      const record = recordOf(one);
      if (record === undefined) return `${one.generationId}: no record`;
      return record.outcome === "open" ? `${record.id}: open` : null;
    }),
    check(
      "no two answers have the same generation",
      [new Set(answered.map((one) => one.generationId)).size],
      (size) => (size === answered.length ? null : `${answered.length} answers, ${size} generations`),
    ),
    check(
      "an honest answer that its client received completely is charged exactly what the vendor billed",
      whole,
      (one) => {
        const record = recordOf(one);
        const entry = bill.find(({ serial, isBilled }) => serial === one.serial && isBilled);
        if (record === undefined || entry === undefined)
          return `${one.generationId}: not billed or not recorded`;
        return sameAsBilled(record, entry, books) ? null : describe(record, entry);
      },
    ),
    check("a request rejected for lack of credit reaches no vendor and leaves no charge", refused, (one) =>
      reached.has(one.serial) ? `request ${one.serial} was refused, and reached the vendor` : null,
    ),
    check("a failure before the first token costs nothing", records(books, "failed"), (record) =>
      record.firstTokenAt === null && (record.costNanodollars !== 0 || books.transfers.has(record.id))
        ? describe(record)
        : null,
    ),
  ];
}

function checkBill(run: Run): Check[] {
  const { bill, books, asked } = run;
  const byUsage = new Map(
    bill
      .filter(({ isBilled, provider }) => isBilled && provider !== HOSTILE)
      .map((entry) => [keyOfUsage(entry.usage), entry]),
  );
  const found = new Map<number, number>();
  const honest = records(books, "completed").filter(({ provider }) => provider !== HOSTILE);
  const counted = honest.map((record) => {
    const entry = byUsage.get(keyOfUsage(record));
    if (entry !== undefined) found.set(entry.serial, (found.get(entry.serial) ?? 0) + 1);
    return { record, entry };
  });
  const rest = countUnexplained(
    run,
    new Set(counted.flatMap(({ record, entry }) => (entry ? record.id : []))),
  );
  return [
    check(
      "a completed record of an honest vendor matches one that it billed",
      counted,
      ({ record, entry }) =>
        entry !== undefined && sameAsBilled(record, entry, books) ? null : describe(record, entry),
    ),
    check("what the vendor billed is in no two records", found, ([serial, times]) =>
      times > 1 ? `request ${serial}: ${times} records` : null,
    ),
    check(
      "a request that reached the vendor has a record",
      new Set(bill.map(({ serial }) => serial)),
      (serial) => {
        const one = asked[serial] as Asked;
        if (one.generationId !== null || found.has(serial)) return null;
        const failure = keyOfFailure(one.payer.keyId, one.round);
        const hostile = keyOfHostile(one.payer.keyId, one.round);
        const own = isHostile(one.plan) ? [hostile, keyOfEstimate(one)] : [keyOfEstimate(one)];
        const explanation = [...own, failure].find((key) => rest.has(key));
        if (explanation === undefined) return `request ${serial} of round ${one.round} (${one.payer.name})`;
        takeOne(rest, explanation);
        return null;
      },
    ),
  ];
}

/**
 * Counts records that no client can name and no usage distinguishes, by what is known: key, round, and the estimate of the
 * prompt when they were opened. The estimate is not kept for a failure before the first token.
 */
function countUnexplained(
  { asked, books, roundStarts }: Run,
  explained: ReadonlySet<string>,
): Map<string, number> {
  const named = new Set(asked.map(({ generationId }) => generationId));
  const counts = new Map<string, number>();
  for (const { id, keyId, createdAt, promptTokens, provider } of books.records.values()) {
    if (named.has(id) || explained.has(id)) continue;
    const round = roundStarts.findLastIndex((startedAt) => startedAt <= createdAt);
    const key =
      promptTokens === 0
        ? keyOfFailure(keyId as string, round)
        : provider === HOSTILE
          ? keyOfHostile(keyId as string, round)
          : `${keyId}/${round}/${promptTokens}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function takeOne(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 0) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

function keyOfEstimate({ payer, round, place }: Asked): string {
  return `${payer.keyId}/${round}/${estimateTokens(writePrompt(0, "quick", place).length)}`;
}

/** The record may contain what a hostile vendor said about the prompt, so that only the vendor's name identifies it. */
function keyOfHostile(keyId: string, round: number): string {
  return `${keyId}/${round}/${HOSTILE}`;
}

function keyOfFailure(keyId: string, round: number): string {
  return `${keyId}/${round}/failed`;
}

function checkCharges({ books }: Run): Check[] {
  const all = [...books.records.values()];
  return [
    check("every cost equals its record's tokens at its provider's prices", all, (record) => {
      const isFree =
        record.provider === null ||
        (record.firstTokenAt === null && record.outcome !== "completed") ||
        (record.outcome === "failed" && record.completionTokens === 0);
      const cost = isFree ? 0 : priceOf(record.provider as ProviderSlug, record);
      return record.costNanodollars === cost || isCapped(record, cost)
        ? null
        : `${describe(record)}, not ${cost}`;
    }),
    check(
      "a generation that a crash interrupted before its first token costs nothing",
      records(books, "interrupted"),
      (record) => (record.firstTokenAt === null && record.costNanodollars !== 0 ? describe(record) : null),
    ),
    check(
      "a generation that a crash interrupted in the middle of a stream is charged for its recorded progress",
      records(books, "interrupted").filter(({ firstTokenAt }) => firstTokenAt !== null),
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

function checkSums({ books, payers }: Run): Check[] {
  const sums = new Map<string, number>();
  const add = (account: string, amount: number): void => {
    sums.set(account, (sums.get(account) ?? 0) + amount);
  };
  for (const { from_account, to_account, amount } of books.transfers.values()) {
    add(from_account, -amount);
    add(to_account, amount);
  }
  const spentBy = (keyId: string): number =>
    [...books.records.values()].reduce(
      (sum, one) => sum + (one.keyId === keyId ? one.costNanodollars : 0),
      0,
    );
  return [
    check("the database passes its integrity check", [books.integrity], (said) =>
      said === "ok" ? null : said,
    ),
    check("no record and no transfer occurs twice", [books], ({ rows, records, transferRows, transfers }) =>
      rows === records.size && transferRows === transfers.size ? null : "an id stands twice",
    ),
    check(
      "a balance is the sum of its transfers",
      new Set([...sums.keys(), ...books.balances.keys()]),
      (account) =>
        sums.get(account) === books.balances.get(account)
          ? null
          : `${account}: ${books.balances.get(account)}, transfers ${sums.get(account)}`,
    ),
    check(
      "all balances together are zero",
      [[...books.balances.values()].reduce((a, b) => a + b, 0)],
      (sum) => (sum === 0 ? null : String(sum)),
    ),
    check(
      "no prepaid account is below zero",
      [...books.balances].filter(([account]) => account.startsWith("user_") || account.startsWith("org_")),
      ([account, balance]) => (balance >= 0 ? null : `${account}: ${balance}`),
    ),
    check(
      "no key has spent more than its limit",
      payers.filter(({ limit }) => limit !== null),
      ({ name, keyId, limit }) =>
        spentBy(keyId) <= (limit as number) ? null : `${name}: ${spentBy(keyId)} of ${limit}`,
    ),
  ];
}

function records({ records }: Books, outcome: UsageRecord["outcome"]): UsageRecord[] {
  return [...records.values()].filter((record) => record.outcome === outcome);
}

function keyOfUsage({ promptTokens, completionTokens }: BillEntry["usage"]): string {
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
