import { rejectField } from "../failures/errors.ts";
import { BOUNDS } from "../numbers/bounds.ts";
import { asFields, type Fields } from "./fields.ts";
import { parseBodyText } from "./parse-json.ts";
import { LEAF, scanCounting } from "./scan.ts";
import { rejectInvalidJson, requireUtf8 } from "./scan-body.ts";

/**
 * Parses a small body as a whole.
 * @throws GatewayError `invalid_request` if it is not a JSON object in UTF-8 within the bounds.
 */
export function parseBody(bytes: Buffer): Fields {
  requireUtf8(bytes);
  const latin1 = bytes.toString("latin1");
  rejectInvalidJson(() => scanCounting(latin1, LEAF, BOUNDS.jsonValues));
  return parseFields(bytes.toString("utf8"), latin1);
}

/**
 * Parses the text of a body that was scanned before, or a text derived from it. `latin1` is the body, bytes as Latin-1.
 * @throws GatewayError `invalid_request` if it is not a JSON object.
 */
export function parseFields(text: string, latin1: string): Fields {
  const value = rejectInvalidJson(() => parseBodyText(text, latin1));
  return asFields(value) ?? rejectField("body", "must be a JSON object");
}

/**
 * Returns a required string. `description` completes the error message.
 * @throws GatewayError `invalid_request`, as do the functions below.
 */
export function requireText(fields: Fields, field: string, description: string): string {
  const value = fields[field];
  return typeof value === "string" ? value : rejectField(field, `is required: ${description}`);
}

/** Returns an optional string; null counts as absent. */
export function readText(fields: Fields, field: string): string | null {
  const value = fields[field] ?? null;
  return value === null || typeof value === "string" ? value : rejectField(field, "must be a string");
}

/** Returns an optional boolean; null and absent count as false. */
export function readFlag(fields: Fields, field: string): boolean {
  const value = fields[field] ?? false;
  return typeof value === "boolean" ? value : rejectField(field, "must be true or false");
}

/** Returns an optional number within a range that includes both ends; null if absent. */
export function readNumber(
  fields: Fields,
  field: string,
  [low, high]: readonly [low: number, high: number],
): number | null {
  const value = fields[field] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && value >= low && value <= high) return value;
  return rejectField(field, `must be a number from ${low} to ${high}`);
}

/** Returns an optional whole number of at least `least`; null if absent. */
export function readWholeNumber(fields: Fields, field: string, least: number): number | null {
  const value = fields[field] ?? null;
  if (value === null) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= least) return value;
  return rejectField(field, `must be a whole number of at least ${least}`);
}
