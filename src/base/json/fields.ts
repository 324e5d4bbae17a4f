import { parseJson } from "./parse-json.ts";
import { decodeUtf8 } from "./scan.ts";

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

/** Returns the objects of an array: the array itself if it contains only objects. Returns an empty list if the value is not an array. */
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

/** Parses a JSON object, bytes as Latin-1; null as `tryParseFields`. */
export function tryParseLatin1(json: string): Fields | null {
  try {
    return asFields(parseJson(decodeUtf8(json)));
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

/** Sets a field to undefined, so that it is not printed. Deleting it would make the object slow. */
export function dropField(fields: MutableFields, name: string): void {
  if (fields[name] !== undefined) fields[name] = undefined;
}

/** Returns the fields that are not in `known`; usually there are none, and `NO_FIELDS` itself is returned. */
export function unknownFields(fields: Fields, known: ReadonlySet<string>): Fields {
  for (const key in fields) if (!known.has(key)) return omit(fields, known);
  return NO_FIELDS;
}

/** No fields. */
export const NO_FIELDS: Fields = Object.freeze({});

/**
 * Sets a field whose name a client or vendor chose. Ignores `__proto__`: the assignment would set the prototype of `fields`, whose members
 * would then be read as fields.
 */
export function setField(fields: MutableFields, name: string, value: unknown): void {
  if (name !== PROTOTYPE) fields[name] = value;
}

/** Sets all fields of the objects as `setField` does, and returns `fields`. */
export function assignFields<T extends object, M extends object>(
  fields: T,
  ...others: readonly (M | null | undefined)[]
): T & M {
  for (const other of others) {
    const from = other as Fields | null | undefined;
    for (const name in from) setField(fields as MutableFields, name, from[name]);
  }
  return fields as T & M;
}

const PROTOTYPE = "__proto__";

/** Returns a copy without the named fields and without `__proto__` (see `setField`). */
export function omit(fields: Fields, names: ReadonlySet<string>): Record<string, unknown> {
  const rest: Record<string, unknown> = {};
  for (const key in fields) if (key !== PROTOTYPE && !names.has(key)) rest[key] = fields[key];
  return rest;
}

/**
 * Returns a table without a prototype, so that a name chosen by a client or vendor, such as `constructor`, finds only the table's entries.
 */
export function createTable<T extends object>(entries: T): T {
  return assignFields(Object.create(null) as T, entries);
}
