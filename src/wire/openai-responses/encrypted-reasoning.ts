import type { ModelTarget } from "../canonical/model/format.ts";

/** The value of `include` for encrypted reasoning, which a client that stores nothing sends back. */
export const ENCRYPTED_REASONING = "reasoning.encrypted_content";

/**
 * Returns whether to request encrypted reasoning. Responses are not stored, so the next turn gets the reasoning from the client
 * or not at all. Models that do not reason reject the request for it; of an unknown model it is requested only if the client's
 * request mentions reasoning.
 */
export function asksForEncrypted(
  { reasons, reasoning, noEncryptedReasoning }: ModelTarget,
  mentionsReasoning: boolean,
): boolean {
  if (noEncryptedReasoning === true || reasons === false) return false;
  return reasons === true || reasoning !== null || mentionsReasoning;
}

/**
 * Returns whether an upstream accepts reasoning that is not encrypted: vendors that never encrypt, unknown hosts, and the operator's own
 * host unless its model is said not to reason. A vendor that encrypts looks such an item up in its store and does not find it.
 */
export function takesPlainReasoning(model: ModelTarget): boolean {
  const { reasons, reasoning, noEncryptedReasoning, isOwnHost } = model;
  if (noEncryptedReasoning === true || (reasons === undefined && reasoning === null)) return true;
  return isOwnHost === true && reasons !== false;
}
