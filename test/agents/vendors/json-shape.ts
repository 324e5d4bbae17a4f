import { reject } from "./rejection.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the object at a position of a request. @throws Rejection if it is anything else. */
export function objectAt(value: unknown, place: string): JsonObject {
  return isObject(value) ? value : reject(`${place}: expected an object`, place);
}

/** Returns the list at a position of a request. @throws Rejection if it is anything else. */
export function listAt(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : reject(`${place}: expected an array`, place);
}

/** Returns the string at a position of a request. @throws Rejection if it is anything else. */
export function textAt(value: unknown, place: string): string {
  return typeof value === "string" ? value : reject(`${place}: expected a string`, place);
}

/** Returns the objects of a list, and none of anything else. For values that were checked or do not matter. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns the texts of a content: a string, or parts with a `text`. */
export function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("\n");
}
