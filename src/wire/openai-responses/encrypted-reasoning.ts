import type { ModelTarget } from "../canonical/format.ts";

/** What `include` calls the encrypted reasoning of an answer, which a client that stores nothing sends back. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/**
 * Whether an upstream is asked for encrypted reasoning: responses are stored nowhere, so that the next turn has it from the
 * client or not at all. Models that do not reason refuse the question; of a model that nobody knows only requests that
 * mention reasoning ask.
 */
export function asksForEncrypted(
  { reasons, reasoning, noEncryptedReasoning }: ModelTarget,
  mentionsReasoning: boolean,
): boolean {
  if (noEncryptedReasoning === true || reasons === false) return false;
  return reasons === true || reasoning !== null || mentionsReasoning;
}

/**
 * Whether reasoning that is not encrypted goes back to an upstream: to vendors that never encrypt, and to hosts of which
 * nothing is known. A vendor that encrypts looks for such an item in its store, and does not find it.
 */
export function takesPlainReasoning({ reasons, reasoning, noEncryptedReasoning }: ModelTarget): boolean {
  return noEncryptedReasoning === true || (reasons === undefined && reasoning === null);
}
