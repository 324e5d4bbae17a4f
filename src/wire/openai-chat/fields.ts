/** Fields of a JSON object whose names are not all known. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with named fields, or null. */
export function asFields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** A copy without the named fields. */
export function omit(fields: Fields, names: ReadonlySet<string>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key in fields) if (!names.has(key)) rest[key] = fields[key];
  return rest;
}

/** Fields of a chunk or answer that the gateway writes itself. */
export const OWN_ANSWER_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "error",
]);

/** Fields of a choice that the gateway writes itself, streamed or not. */
export const OWN_CHOICE_FIELDS: ReadonlySet<string> = new Set([
  "index",
  "delta",
  "message",
  "finish_reason",
  "usage",
]);

/** Fields of a message that the gateway writes itself. */
export const OWN_MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "tool_calls",
]);
