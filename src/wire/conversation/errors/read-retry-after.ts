import { asFields, type Fields } from "../../../base/json/fields.ts";

/** `34.4s`, as Google writes a duration. */
const DURATION = /^(\d+(?:\.\d+)?)s$/;
/** "Please try again in 9m38.016s", "retry after 7 seconds", "in 114h18m0s", "in 350ms". */
const WAIT =
  /(?:retry|try again) (?:in|after) (?:(?<hours>\d+)h)?(?:(?<minutes>\d+)m(?!s))?(?:(?<amount>\d+(?:\.\d+)?) ?(?<unit>ms|s)\w*)?/i;

/** Returns the wait that an error names in a detail or its message, in seconds; null if it names none. */
export function readRetryAfter(error: Fields, message: string): number | null {
  return readRetryInfo(error["details"]) ?? readWait(message);
}

function readRetryInfo(details: unknown): number | null {
  if (!Array.isArray(details)) return null;
  for (const detail of details) {
    const [, seconds] = DURATION.exec(String(asFields(detail)?.["retryDelay"] ?? "")) ?? [];
    if (seconds !== undefined) return Number(seconds);
  }
  return null;
}

function readWait(message: string): number | null {
  const { hours, minutes, amount, unit } = WAIT.exec(message)?.groups ?? {};
  if (hours === undefined && minutes === undefined && amount === undefined) return null;
  const rest = Number(amount ?? 0) / (unit?.toLowerCase() === "ms" ? 1000 : 1);
  return Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + rest;
}
