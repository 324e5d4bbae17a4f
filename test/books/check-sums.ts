import type { Run } from "./books.ts";
import { type Check, check } from "./check.ts";

/** Compares balances with transfers, and spending with limits. */
export function checkSums({ books, payers }: Run): Check[] {
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
