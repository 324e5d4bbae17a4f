import { BOUNDS } from "../../base/bounds.ts";
import { rejectField } from "../../base/errors.ts";
import { asFields, type Fields } from "./fields.ts";
import { parseBodyText } from "./parse-json.ts";
import { LEAF, scanCounting } from "./scan.ts";
import { rejectBroken, requireUtf8 } from "./scan-body.ts";

/**
 * Parses a body that is small enough to be parsed whole.
 * @throws GatewayError `invalid_request` when it is not a JSON object in UTF-8 within its bounds.
 */
export function parseBody(bytes: Buffer): Fields {
  requireUtf8(bytes);
  const latin1 = bytes.toString("latin1");
  rejectBroken(() => scanCounting(latin1, LEAF, BOUNDS.jsonValues));
  return parseFields(bytes.toString("utf8"), latin1);
}

/**
 * Parses a body's text, or one made of it, which was scanned within its bounds before. `latin1` is the body, its bytes
 * read as Latin-1.
 * @throws GatewayError `invalid_request` when it is not a JSON object.
 */
export function parseFields(text: string, latin1: string): Fields {
  const value = rejectBroken(() => parseBodyText(text, latin1));
  return asFields(value) ?? rejectField("body", "must be a JSON object");
}

/** A string that must be there. `such` says what it holds. */
export function requireText(fields: Fields, field: string, such: string): string {
  const value = fields[field];
  return typeof value === "string" ? value : rejectField(field, `is required: ${such}`);
}

/** A string or null; null stands for absent. */
export function readText(fields: Fields, field: string): string | null {
  const value = fields[field] ?? null;
  return value === null || typeof value === "string" ? value : rejectField(field, "must be a string");
}

/** A boolean; null stands for absent, and absent for false. */
export function readFlag(fields: Fields, field: string): boolean {
  const value = fields[field] ?? false;
  return typeof value === "boolean" ? value : rejectField(field, "must be true or false");
}

/** A number from `low` to `high`, or null. */
export function readNumber(fields: Fields, field: string, low: number, high: number): number | null {
  const value = fields[field] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && value >= low && value <= high) return value;
  return rejectField(field, `must be a number from ${low} to ${high}`);
}

/** A whole number of at least `least`, or null. */
export function readWholeNumber(fields: Fields, field: string, least: number): number | null {
  const value = fields[field] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  return rejectField(field, `must be a whole number of at least ${least}`);
}
