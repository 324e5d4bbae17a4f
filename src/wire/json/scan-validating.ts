import { BOUNDS } from "../../base/numbers/bounds.ts";
import { parseBodyText } from "./parse-json.ts";
import { type CountedScan, type JsonNode, type Shape, scanCounting } from "./scan.ts";

/**
 * Scans as `scanCounting`, and validates the whole text. A scan checks all structure but that of values which it skips, so that the
 * text is parsed only if it skips some, if a string may be malformed, or to describe an error.
 * @throws as `parseBodyText`, then as `scanCounting`.
 */
export function scanValidating<N extends JsonNode>(text: string, shape: Shape<N>): CountedScan<N> {
  const scan = tryScan(text, shape);
  if (scan.skipsContainers || MAYBE_MALFORMED.test(text)) parseBodyText(text, text);
  return scan;
}

function tryScan<N extends JsonNode>(text: string, shape: Shape<N>): CountedScan<N> {
  try {
    return scanCounting(text, shape, BOUNDS.jsonValues);
  } catch (error) {
    parseBodyText(text, text);
    throw error;
  }
}

/** Matches control characters and unknown escapes. Also matches line breaks between values, and letters after an escaped backslash. */
const MAYBE_MALFORMED = /[\x00-\x1f]|\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})/;
