/**
 * Reads a `bigint`, which arrives as text.
 * @throws RangeError if a number cannot hold it exactly.
 */
export function readInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${text} is not an integer that is exact in a number`);
  return value;
}

/** Like `readInteger`, for a column that may be null. */
export function readNullableInteger(text: string | null): number | null {
  return text === null ? null : readInteger(text);
}

/** Reads JSON of a column that may be null. */
export function readNullableJson<Value>(text: string | null): Value | null {
  return text === null ? null : (JSON.parse(text) as Value);
}

/** Encodes JSON for a column that may be null. */
export function encodeNullableJson(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

/** Returns a text as PostgreSQL can store it: without the character with code 0. */
export function cleanText(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}
