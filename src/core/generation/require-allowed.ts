import { fail } from "../../base/errors.ts";
import { matchAnyPattern } from "../accounts/match-pattern.ts";
import type { Caller } from "../accounts/records.ts";

/** Patterns that a refusal names. */
const NAMED = 10;

/**
 * Refuses a model that the caller's key may not call. `modelId` is the catalog's: other spellings of it lead nowhere else.
 * @throws GatewayError `model_not_allowed`.
 */
export function requireAllowed(caller: Caller, modelId: string): void {
  if (caller.kind === "anonymous" || caller.key.models === null) return;
  const { models } = caller.key;
  if (matchAnyPattern(models, modelId)) return;
  const named = models.slice(0, NAMED).join(", ") || "none";
  fail(
    "model_not_allowed",
    `This key may not call ${JSON.stringify(modelId)}. Its models: ${named}${models.length > NAMED ? ", …" : ""}. Name one of them, or use another key.`,
    { metadata: { model: modelId } },
  );
}
