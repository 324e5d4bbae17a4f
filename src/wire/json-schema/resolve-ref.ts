import { asFields, type Fields } from "../../base/json/fields.ts";

/** Returns the target of a reference within the document: `#`, `#/$defs/Name` or another pointer; null for any other reference. */
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
