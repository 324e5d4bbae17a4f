import { asFields, type Fields, omit } from "../../json/fields.ts";

/**
 * The fields of an object while it is decoded. A field is taken only if it has the requested type, so that all others can be kept
 * and encoded again.
 */
export interface FieldTaker {
  text(name: string): string | null;
  number(name: string): number | null;
  flag(name: string): boolean | null;
  fields(name: string): Fields | null;
  /** A list that is not empty. */
  list(name: string): readonly unknown[] | null;
  /** Returns the value without taking it. */
  peek(name: string): unknown;
  /** Takes the value, whatever its type. */
  drop(name: string): unknown;
  /** The fields that were not taken. */
  rest(): Fields;
}

/** Returns a taker of an object's fields. */
export function takeFields(source: Fields): FieldTaker {
  const taken = new Set<string>();
  const take = <T>(name: string, fits: (value: unknown) => T | null): T | null => {
    const value = fits(source[name]);
    if (value !== null) taken.add(name);
    return value;
  };
  return {
    text: (name) => take(name, (value) => (typeof value === "string" ? value : null)),
    number: (name) => take(name, (value) => (typeof value === "number" ? value : null)),
    flag: (name) => take(name, (value) => (typeof value === "boolean" ? value : null)),
    fields: (name) => take(name, asFields),
    list: (name) => take(name, (value) => (Array.isArray(value) && value.length > 0 ? value : null)),
    peek: (name) => source[name],
    drop(name) {
      taken.add(name);
      return source[name];
    },
    rest: () => omit(source, taken),
  };
}
