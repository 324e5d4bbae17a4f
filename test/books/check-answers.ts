import type { Asked } from "./asked.ts";
import { isHostile } from "./billing-vendor.ts";
import { describe, type Run, recordsOf, sameAsBilled } from "./books.ts";
import { type Check, check } from "./check.ts";

/** Compares the records with what clients saw. */
export function checkAnswers({ asked, bill, books }: Run): Check[] {
  const answered = asked.filter(({ generationId }) => generationId !== null);
  const whole = answered.filter(({ isWhole, plan }) => isWhole && !isHostile(plan));
  const refused = asked.filter(({ status }) => status === 402);
  const reached = new Set(bill.map(({ serial }) => serial));
  const billed = new Map(bill.filter(({ isBilled }) => isBilled).map((entry) => [entry.serial, entry]));
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
        const entry = billed.get(one.serial);
        if (record === undefined || entry === undefined)
          return `${one.generationId}: not billed or not recorded`;
        return sameAsBilled(record, entry, books) ? null : describe(record, entry);
      },
    ),
    check("a request rejected for lack of credit reaches no vendor and leaves no charge", refused, (one) =>
      reached.has(one.serial) ? `request ${one.serial} was refused, and reached the vendor` : null,
    ),
    check("a failure before the first token costs nothing", recordsOf(books, "failed"), (record) =>
      record.firstTokenAt === null && (record.costNanodollars !== 0 || books.transfers.has(record.id))
        ? describe(record)
        : null,
    ),
  ];
}
