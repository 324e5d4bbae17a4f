import type { z } from "zod";

/** Issues with the content of values whose form is right. */
const RULES: ReadonlySet<string> = new Set(["custom", "invalid_format", "too_big", "too_small"]);

/**
 * Parses a stored value. The version that stored it checked the input, so only members and types are checked here. Rules for texts and
 * sizes are not applied again, because earlier versions had others. Returns null for a value of another form, such as one of a later
 * version.
 */
export function parseStored<Value>(schema: z.ZodType<Value>, stored: unknown): Value | null {
  const { success, data, error } = schema.safeParse(stored);
  if (success) return data;
  return error.issues.every(({ code }) => RULES.has(code)) ? (stored as Value) : null;
}
