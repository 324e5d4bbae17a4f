import type { HoldRequest } from "./hold-book.ts";

/** A hold takes at most an eighth of what is left beyond what the generation is expected to cost. */
const SHARE = 8;

/**
 * Chooses how much to hold of what is left, which is at least the least. The expected amount is held if it is there. More, up to
 * the most, is held only of an ample balance, so that a few requests do not block others for answers that they may never give.
 * Of a balance that does not cover the expected amount, half is held.
 */
export function chooseAmount(
  { amount, least = amount, most = amount }: Pick<HoldRequest, "amount" | "least" | "most">,
  available: number,
): number {
  const wanted = Math.min(most, Math.max(amount, Math.floor(available / SHARE)));
  return wanted <= available ? wanted : Math.max(least, Math.floor(available / 2));
}
