import { formatShortCount } from "../values/format.ts";

const NANODOLLARS = 1_000_000_000;

/** Returns an amount of money for an axis: cents, or as many decimals as small amounts need. */
export function formatAxisMoney(nanodollars: number): string {
  const dollars = nanodollars / NANODOLLARS;
  if (dollars >= 10_000) return `$${formatShortCount(Math.round(dollars))}`;
  if (dollars >= 0.01 || dollars === 0) return `$${dollars.toFixed(dollars >= 100 ? 0 : 2)}`;
  return `$${dollars.toFixed(9).replace(/0+$/, "")}`;
}
