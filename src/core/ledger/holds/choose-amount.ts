import type { HoldRequest } from "./hold-book.ts";

/** The maximum share of the rest that a hold takes beyond the expected cost of its generation: one eighth. */
const SHARE = 8;

/**
 * Chooses how much of the rest to hold; the rest is at least the minimum. If the rest covers the expected amount, that is held. If the
 * rest is ample, more is held, up to the most, but not so much that a few requests block others for answers that they may never give. If
 * the rest does not cover the expected amount, half of it is held.
 */
export function chooseAmount(
  { amount, least = amount, most = amount }: Pick<HoldRequest, "amount" | "least" | "most">,
  available: number,
): number {
  const wanted = Math.min(most, Math.max(amount, Math.floor(available / SHARE)));
  return wanted <= available ? wanted : Math.max(least, Math.floor(available / 2));
}
