import { isUtf8 } from "node:buffer";
import { BOUNDS } from "../../base/bounds.ts";
import { fail } from "../../base/errors.ts";
import { findBrokenUtf8 } from "./find-broken-utf8.ts";
import { parseBodyText } from "./parse-json.ts";
import { rejectExcess } from "./reject-excess.ts";
import { type CountedScan, JsonBoundError, JsonSyntaxError, type Shape, scanCounting } from "./scan.ts";

/** Larger bodies are made by programs; what is wrong in what a scan jumps over, the upstream refuses. */
const HAND_MADE_BYTES = 8_192;

/**
 * Scans a body, and hands it to a reader as text whose characters are its bytes.
 * @throws GatewayError `invalid_request` when it is not JSON in UTF-8 within its bounds; and what `read` throws.
 */
export function scanBody<T>(bytes: Buffer, shape: Shape, read: (text: string, scan: CountedScan) => T): T {
  requireUtf8(bytes);
  return rejectBroken(() => {
    const text = bytes.toString("latin1");
    if (bytes.length <= HAND_MADE_BYTES) parseBodyText(bytes.toString("utf8"), text);
    return read(text, scanCounting(text, shape, BOUNDS.jsonValues));
  });
}

/**
 * Ends a request whose body is not UTF-8.
 * @throws GatewayError `invalid_request` that names the byte.
 */
export function requireUtf8(bytes: Buffer): void {
  if (isUtf8(bytes)) return;
  const place = findBrokenUtf8(bytes);
  fail("invalid_request", `The body is not valid UTF-8 at byte ${place}. Send JSON encoded as UTF-8.`);
}

/**
 * Runs what reads a body's JSON.
 * @throws GatewayError `invalid_request` in place of a `JsonSyntaxError` or `JsonBoundError`.
 */
export function rejectBroken<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      return fail("invalid_request", `The body is not valid JSON: ${error.message}.`);
    if (error instanceof JsonBoundError) return refuseTooMuch(error);
    throw error;
  }
}

function refuseTooMuch({ what, bound, position }: JsonBoundError): never {
  return rejectExcess({
    field: "body",
    found: `more than ${bound} ${what} (at byte ${position})`,
    bound,
    remedy: "Flatten or split what stands there.",
  });
}
