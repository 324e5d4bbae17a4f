import { refuse } from "./refusal.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether it is an object and not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at that position of a request. @throws Refusal for anything else. */
export function objectAt(value: unknown, place: string): JsonObject {
  return isObject(value) ? value : refuse(`${place}: expected an object`, place);
}

/** The list at that position of a request. @throws Refusal for anything else. */
export function listAt(value: unknown, place: string): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(`${place}: expected an array`, place);
}

/** The text at that position of a request. @throws Refusal for anything else. */
export function textAt(value: unknown, place: string): string {
  return typeof value === "string" ? value : refuse(`${place}: expected a string`, place);
}

/** The objects of a list; empty for anything else. For values that were checked, or do not matter. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** The texts of a content: a string, or parts that have a `text`. */
export function joinTexts(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("\n");
}
