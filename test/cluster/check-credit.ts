import type { Books } from "../books/books.ts";
import { type Check, check } from "../books/check.ts";
import type { Answer } from "./clients.ts";
import type { Done } from "./faults.ts";

/** When requests were rejected for lack of credit, what had been spent until then, and what was done to the cluster. */
export interface Rejected {
  readonly answers: readonly Answer[];
  readonly faults: readonly Done[];
  readonly books: Pick<Books, "records">;
}

/**
 * The share of a limit that may be left when a request is rejected: what is held for others, and what gateways that are away have
 * borrowed. Limits of the run are small multiples of a hold.
 */
const MAX_LEFT = 0.5;
/** How long an answer of PostgreSQL may be on its way to a client after PostgreSQL is gone. Milliseconds. */
const ON_ITS_WAY_MS = 100;

/** Checks that 402 is sent only where credit is known to be used up. */
export function checkCredit({ answers, faults, books }: Rejected): Check[] {
  const rejected = answers.filter(({ error }) => error?.type === "insufficient_credits");
  const gone = faults.flatMap(({ databaseGone }) => databaseGone ?? []);
  const byKey = Map.groupBy(books.records.values(), ({ keyId }) => keyId);
  const spentBefore = (keyId: string, time: number): number =>
    (byKey.get(keyId) ?? []).reduce(
      (sum, record) => (record.createdAt <= time ? sum + record.costNanodollars : sum),
      0,
    );
  return [
    check(
      "a request is rejected for a spending limit only when at least half of it is used up",
      rejected.filter(({ payer }) => payer.limit !== null),
      ({ payer, endedAt }) => {
        const spent = spentBefore(payer.keyId, endedAt);
        const limit = payer.limit as number;
        return limit - spent <= limit * MAX_LEFT ? null : `${payer.name}: ${spent} of ${limit}`;
      },
    ),
    check(
      "while PostgreSQL is gone no request is rejected for lack of credit",
      answers.filter(({ one, endedAt }) =>
        gone.some(({ from, until }) => from + ON_ITS_WAY_MS <= one.askedAt && endedAt <= until),
      ),
      ({ one, error }) =>
        error?.type === "insufficient_credits"
          ? `request ${one.serial} of ${one.payer.name}: ${error.message}`
          : null,
    ),
  ];
}
