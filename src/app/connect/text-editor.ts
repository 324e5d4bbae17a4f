import type { Fields } from "../../base/json/fields.ts";

/** A member of a configuration file, by the keys that lead to it. */
export type MemberPath = readonly string[];

/** Edits the text of a configuration file, and keeps everything else in it: other members, their order, comments and spaces. */
export interface TextEditor {
  /** @throws Error with what is wrong and where. */
  parse(text: string): Fields;
  set(text: string, path: MemberPath, value: unknown): string;
  /** Removes a member, if it is there. */
  remove(text: string, path: MemberPath): string;
}

/** Returns the member at a path; undefined if there is none. */
export function memberAt(fields: unknown, path: MemberPath): unknown {
  let value: unknown = fields;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Fields)[name];
  }
  return value;
}

/** Returns the fields with another member at a path. Undefined removes it, and the objects that are empty then. */
export function withMember(fields: Fields, [name = "", ...rest]: MemberPath, value: unknown): Fields {
  const { [name]: before, ...others } = fields;
  const isObject = typeof before === "object" && before !== null && !Array.isArray(before);
  const after = rest.length === 0 ? value : withMember(isObject ? (before as Fields) : {}, rest, value);
  const isGone = after === undefined || (value === undefined && isEmptyObject(after));
  return isGone ? others : { ...fields, [name]: after };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
