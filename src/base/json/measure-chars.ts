import type { Fields } from "./fields.ts";

/** Returns the approximate size of a value in characters of JSON; stops counting above `limit`. Does not recurse. */
export function measureChars(value: unknown, limit: number): number {
  const left: unknown[] = [value];
  let chars = 0;
  while (left.length > 0 && chars <= limit) {
    const next = left.pop();
    chars += 2;
    if (typeof next === "string") chars += next.length;
    else if (Array.isArray(next)) for (const item of next) left.push(item);
    else if (typeof next === "object" && next !== null) {
      for (const key in next) {
        chars += key.length + 4;
        left.push((next as Fields)[key]);
      }
    } else chars += 4;
  }
  return chars;
}
