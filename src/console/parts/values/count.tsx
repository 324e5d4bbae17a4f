import { formatCount, formatShortCount } from "./format.ts";

/** A count in few characters, with the exact one on hover. */
export function Count({ count }: { count: number }) {
  return <span title={formatCount(count)}>{formatShortCount(count)}</span>;
}
