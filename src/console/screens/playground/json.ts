import { isObject } from "../../conversation/conversation.ts";

/** A JSON object of a provider or the gateway that was not validated. */
export type Json = Readonly<Record<string, unknown>>;

/** Returns a text; an empty one for other values. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
/** Returns a number; 0 for other values. */
export const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0);
/** Returns an object; an empty one for other values. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
/** Returns the objects of a list; none for other values. */
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
