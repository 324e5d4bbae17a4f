import { parseJson } from "./parse-json.ts";

/** Fields of a JSON object whose names are not all known. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object with named fields, or null. */
export function asFields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** The value as a string, or null. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The value as a list; empty for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; empty for anything else. Entries that are not objects are left out. */
export function asObjects(value: unknown): Fields[] {
  return asList(value)
    .map(asFields)
    .filter((entry) => entry !== null);
}

/** Whether an object has no fields. */
export function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false;
  return true;
}

/** A JSON text as an object with named fields; null where it is none, or nested too deep. */
export function tryParseFields(json: string): Fields | null {
  try {
    return asFields(parseJson(json));
  } catch {
    return null;
  }
}

/** A copy without the named fields. */
export function omit(fields: Fields, names: ReadonlySet<string>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key in fields) if (!names.has(key)) rest[key] = fields[key];
  return rest;
}
