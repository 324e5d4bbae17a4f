import {
  asFields,
  asText,
  type Fields,
  type MutableFields,
  NO_FIELDS,
  setField,
} from "../../../../base/json/fields.ts";

/** Returns a taker of an object's fields. */
export function takeFields(source: Fields): FieldTaker {
  return new FieldTaker(source);
}

/**
 * The fields of an object while it is decoded. A field is taken only if it has the requested type, so that all others can be kept
 * and encoded again.
 */
export class FieldTaker {
  /** A list, because a block has few fields and a set takes more memory than all of them. */
  private readonly taken: string[] = [];

  constructor(private readonly source: Fields) {}

  text(name: string): string | null {
    return this.take(name, asText(this.source[name]));
  }

  number(name: string): number | null {
    const value = this.source[name];
    return this.take(name, typeof value === "number" ? value : null);
  }

  flag(name: string): boolean | null {
    const value = this.source[name];
    return this.take(name, typeof value === "boolean" ? value : null);
  }

  fields(name: string): Fields | null {
    return this.take(name, asFields(this.source[name]));
  }

  /** A list that is not empty. */
  list(name: string): readonly unknown[] | null {
    const value = this.source[name];
    return this.take(name, Array.isArray(value) && value.length > 0 ? value : null);
  }

  /** Returns the value without taking it. */
  peek(name: string): unknown {
    return this.source[name];
  }

  /** Takes the value, whatever its type. */
  drop(name: string): unknown {
    this.taken.push(name);
    return this.source[name];
  }

  /** Returns the fields that were not taken. */
  rest(): Fields {
    let rest: MutableFields | null = null;
    for (const name in this.source) {
      if (this.taken.includes(name)) continue;
      rest ??= {};
      setField(rest, name, this.source[name]);
    }
    return rest ?? NO_FIELDS;
  }

  private take<T>(name: string, value: T | null): T | null {
    if (value !== null) this.taken.push(name);
    return value;
  }
}
