/** An integer of a row: PostgreSQL returns a `bigint` as text. */
export type Integer = number | string;

/**
 * Reads an integer of a row.
 * @throws RangeError if a number cannot hold it exactly.
 */
export function readInteger(integer: Integer): number {
  const value = Number(integer);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`${integer} is not an integer that is exact in a number`);
  return value;
}

/** Like `readInteger`, for a column that may be null. */
export function readNullableInteger(integer: Integer | null): number | null {
  return integer === null ? null : readInteger(integer);
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
