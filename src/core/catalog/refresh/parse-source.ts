import type { z } from "zod";
import { mayBeDeep } from "../../../base/json/parse-json.ts";
import { JsonBoundError, LEAF, scanJson } from "../../../base/json/scan.ts";

/** The JSON of a source with every number as its text, or why it cannot be read. */
type ParsedSource = { readonly json: unknown } | { readonly rejected: string };

/** Parses the text of a source within bounds. Prices stay text, so that none passes through a float. */
export function parseSource(text: string): ParsedSource {
  const excess = findExcess(text);
  if (excess !== null) return { rejected: excess };
  const json = parseKeepingDigits(text);
  return json === undefined ? { rejected: describeInvalidJson(text) } : { json };
}

/** Describes the first problem that a schema found. */
export function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  return issue === undefined ? "unknown" : `${issue.path.join(".") || "the file"}: ${issue.message}`;
}

/** The maximum number of JSON objects in a source. Each model has several; the public lists have about 40,000. */
const MAX_OBJECTS = 200_000;

/** Returns why a source is too large or nested too deep to be parsed; null if it is not. */
function findExcess(text: string): string | null {
  let objects = 0;
  for (let at = text.indexOf("{"); at >= 0; at = text.indexOf("{", at + 1))
    if (++objects > MAX_OBJECTS)
      return `has more than ${MAX_OBJECTS} objects, which are more than any list of models has`;
  try {
    if (mayBeDeep(text)) scanJson(text, LEAF);
  } catch (error) {
    if (error instanceof JsonBoundError) return `has ${error.message}`;
  }
  return null;
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Parses JSON with every number as its source text. Returns undefined if it is not JSON. */
function parseKeepingDigits(text: string): unknown {
  const keepDigits: Reviver = (_key, value, context) =>
    typeof value === "number" ? (context?.source ?? String(value)) : value;
  try {
    return JSON.parse(text, keepDigits);
  } catch {
    return undefined;
  }
}

function describeInvalidJson(text: string): string {
  const start = text.trimStart();
  if (start === "") return "is empty";
  if (start.startsWith("<")) return "is a web page, not JSON";
  if (start.startsWith("{")) return "is not JSON; it seems cut off or damaged";
  return "is not JSON";
}
