import { parseJson } from "./parse-json.ts";

/** Fields of a JSON object whose names are not all known. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object and not an array, or null. */
export function asFields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** Returns the value if it is a string, or null. */
export function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Returns the value if it is an array; an empty list for anything else. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ENTRIES;
}

const NO_ENTRIES: readonly unknown[] = [];

/** Returns the objects of an array, which is the array itself if it has nothing else; an empty list for anything that is no array. */
export function asObjects(value: unknown): readonly Fields[] {
  const entries = asList(value);
  for (const entry of entries)
    if (asFields(entry) === null) return entries.map(asFields).filter((fields) => fields !== null);
  return entries as readonly Fields[];
}

/** Whether an object has no fields. */
export function isEmpty(fields: Fields): boolean {
  for (const _ in fields) return false;
  return true;
}

/** Parses a JSON object; null if the text is not one or is nested too deep. */
export function tryParseFields(json: string): Fields | null {
  try {
    return asFields(parseJson(json));
  } catch {
    return null;
  }
}

/** Fields of an object that nothing else refers to, such as one that was just parsed. */
export type MutableFields = Record<string, unknown>;

/** Parses a JSON object that the caller may change; null as `tryParseFields`. */
export function parseOwnFields(json: string): MutableFields | null {
  return tryParseFields(json) as MutableFields | null;
}

/** Makes a field absent in what is printed of an object. Not deleted, because that makes the object slow. */
export function dropField(fields: MutableFields, name: string): void {
  if (fields[name] !== undefined) fields[name] = undefined;
}

/** Returns the fields that are not known: `NO_FIELDS` itself where there are none, which is usual. */
export function unknownFields(fields: Fields, known: ReadonlySet<string>): Fields {
  for (const key in fields) if (!known.has(key)) return omit(fields, known);
  return NO_FIELDS;
}

/** No fields. */
export const NO_FIELDS: Fields = Object.freeze({});

/** Returns a copy without the named fields. */
export function omit(fields: Fields, names: ReadonlySet<string>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key in fields) if (!names.has(key)) rest[key] = fields[key];
  return rest;
}
