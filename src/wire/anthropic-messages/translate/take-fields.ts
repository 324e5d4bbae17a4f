import { asFields, type Fields, omit } from "../../json/fields.ts";

/**
 * An object's fields while they are read. A field is taken only where it has the type asked for, so that what nobody
 * took, whatever it is, can be kept and written again.
 */
export interface FieldTaker {
  text(name: string): string | null;
  number(name: string): number | null;
  flag(name: string): boolean | null;
  fields(name: string): Fields | null;
  /** A list with something in it. */
  list(name: string): readonly unknown[] | null;
  /** The value, which stays. */
  peek(name: string): unknown;
  /** Takes the value, whatever it is. */
  drop(name: string): unknown;
  /** What nobody took. */
  rest(): Fields;
}

/** Begins to read an object. */
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
