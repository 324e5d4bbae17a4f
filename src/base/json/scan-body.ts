import { isUtf8 } from "node:buffer";
import { fail } from "../failures/errors.ts";
import { BOUNDS } from "../numbers/bounds.ts";
import { findBrokenUtf8 } from "./find-broken-utf8.ts";
import { parseBodyText } from "./parse-json.ts";
import { rejectExcess } from "./reject-excess.ts";
import {
  type CountedScan,
  JsonBoundError,
  type JsonNode,
  JsonSyntaxError,
  type Shape,
  scanCounting,
} from "./scan.ts";

/**
 * Bodies up to this size are validated completely, because people may have written them by hand. In larger bodies, the upstream reports
 * errors in values that the scan skips.
 */
const VALIDATED_BYTES = 8_192;

/**
 * Scans a body, and calls `read` with the body as Latin-1, the result, and the body. All values are passed as arguments, so that `read`
 * need not be a closure for each body.
 * @throws GatewayError `invalid_request` if it is not JSON in UTF-8 within its bounds; and what `read` throws.
 */
export function scanBody<T, N extends JsonNode>(
  bytes: Buffer,
  shape: Shape<N>,
  read: (text: string, scan: CountedScan<N>, bytes: Buffer) => T,
): T {
  requireUtf8(bytes);
  const text = bytes.toString("latin1");
  try {
    if (bytes.length <= VALIDATED_BYTES) parseBodyText(text, text);
    return read(text, scanCounting(text, shape, BOUNDS.jsonValues), bytes);
  } catch (error) {
    return rejectUnreadable(error);
  }
}

/**
 * Requires a body in UTF-8.
 * @throws GatewayError `invalid_request` that names the byte.
 */
export function requireUtf8(bytes: Buffer): void {
  if (isUtf8(bytes)) return;
  const position = findBrokenUtf8(bytes);
  fail("invalid_request", `The body is not valid UTF-8 at byte ${position}. Send JSON encoded as UTF-8.`);
}

/**
 * Calls a function that reads a body's JSON, and converts its errors.
 * @throws GatewayError `invalid_request` in place of a `JsonSyntaxError` or `JsonBoundError`.
 */
export function rejectInvalidJson<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return rejectUnreadable(error);
  }
}

function rejectUnreadable(error: unknown): never {
  if (error instanceof JsonSyntaxError)
    return fail("invalid_request", `The body is not valid JSON: ${error.message}.`);
  if (error instanceof JsonBoundError) return rejectTooMuch(error);
  throw error;
}

function rejectTooMuch({ what, bound, position }: JsonBoundError): never {
  return rejectExcess({
    field: "body",
    found: `more than ${bound} ${what} (at byte ${position})`,
    bound,
    remedy: "Flatten or split it.",
  });
}
