import { asFields, type Fields } from "../json/fields.ts";

/** What a reference of the document points to: `#`, `#/$defs/Name` or another pointer into it; null for any other. */
export function resolveRef(document: Fields, ref: string): Fields | null {
  if (ref === "#") return document;
  if (!ref.startsWith("#/")) return null;
  let at: unknown = document;
  for (const step of ref.slice(2).split("/")) {
    const key = decodeStep(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return null;
    at = (at as Fields)[key];
  }
  return asFields(at);
}

function decodeStep(step: string): string {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** About how many characters of JSON a value is; stops counting above `limit`. No recursion: depth costs nothing. */
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
