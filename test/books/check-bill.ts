import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { estimateTokens } from "../../src/wire/conversation/usage.ts";
import type { Asked } from "./asked.ts";
import { type BillEntry, isHostile, writePrompt } from "./billing-vendor.ts";
import { describe, keyOfUsage, type Run, recordsOf, sameAsBilled } from "./books.ts";
import { type Check, check } from "./check.ts";
import { HOSTILE } from "./prices.ts";

/** Compares the records with the vendor's bill, in both directions. */
export function checkBill(run: Run): Check[] {
  const { books, asked } = run;
  const entryOf = findEntries(run);
  const compare = (outcome: "completed" | "cancelled") =>
    recordsOf(books, outcome)
      .filter(({ provider }) => provider !== HOSTILE)
      .map((record) => ({ record, entry: entryOf(record) }));
  const counted = compare("completed");
  // A client may leave when its whole answer has arrived from the vendor, whose counts are charged then. An estimate may equal any counts.
  const left = compare("cancelled").filter(({ record }) => !record.estimated);
  const identified = [...counted, ...left];
  const found = new Map<number, number>();
  for (const { entry } of identified)
    if (entry !== undefined) found.set(entry.serial, (found.get(entry.serial) ?? 0) + 1);
  const explain = explainRest(
    run,
    new Set(identified.flatMap(({ record, entry }) => (entry ? record.id : []))),
  );
  const arrived = firstArrivals(run.bill);
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
    check("a request that reached the vendor has a record", arrived, ([serial, arrivedAt]) => {
      const one = asked[serial] as Asked;
      if (one.generationId !== null || found.has(serial) || explain(one, arrivedAt)) return null;
      const time = new Date(arrivedAt).toISOString();
      return `request ${serial} (${one.plan}, ${one.payer.name}), which arrived at ${time}`;
    }),
  ];
}

/** Returns a function that finds what the vendor billed for a record: by its usage, and by time where usages repeat. */
function findEntries({ bill }: Run): (record: UsageRecord) => BillEntry | undefined {
  const byUsage = Map.groupBy(
    bill.filter(({ isBilled, provider }) => isBilled && provider !== HOSTILE),
    ({ usage }) => keyOfUsage(usage),
  );
  return (record) =>
    byUsage
      .get(keyOfUsage(record))
      ?.find(
        ({ arrivedAt }) =>
          record.createdAt <= arrivedAt && arrivedAt <= (record.finishedAt ?? Number.POSITIVE_INFINITY),
      );
}

/** The time at which each request first reached the vendor, in order. */
function firstArrivals(bill: readonly BillEntry[]): Map<number, number> {
  const arrived = new Map<number, number>();
  for (const { serial, arrivedAt } of bill) if (!arrived.has(serial)) arrived.set(serial, arrivedAt);
  return arrived;
}

/**
 * Explains requests whose client saw nothing by the records that no client can name and no usage identifies: one of the same key,
 * created after the request was sent and before it arrived, with the estimate of its prompt. A failure before the first token
 * has no estimate, and a hostile vendor may have replaced it. Each record explains one request; taking requests in the order
 * in which they arrived, and the oldest record of each, leaves none unexplained that could be.
 */
function explainRest(
  { asked, books }: Run,
  explained: ReadonlySet<string>,
): (one: Asked, arrivedAt: number) => boolean {
  const named = new Set(asked.map(({ generationId }) => generationId));
  const rest = [...books.records.values()]
    .filter(({ id }) => !named.has(id) && !explained.has(id))
    .sort((a, b) => a.createdAt - b.createdAt);
  const byKey = Map.groupBy(rest, ({ keyId }) => keyId);
  return (one, arrivedAt) => {
    const candidates = byKey.get(one.payer.keyId) ?? [];
    const estimate = estimateTokens(writePrompt(0, "quick", one.size).length);
    const take = (fits: (record: UsageRecord) => boolean): boolean => {
      const index = candidates.findIndex(
        (record) => one.askedAt <= record.createdAt && record.createdAt <= arrivedAt && fits(record),
      );
      if (index !== -1) candidates.splice(index, 1);
      return index !== -1;
    };
    return (
      take(({ promptTokens }) => promptTokens === estimate) ||
      (isHostile(one.plan) && take(({ provider }) => provider === HOSTILE)) ||
      take(({ promptTokens }) => promptTokens === 0)
    );
  };
}
