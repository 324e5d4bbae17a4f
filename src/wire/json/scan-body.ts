import { isUtf8 } from "node:buffer";
import { fail } from "../../base/errors.ts";
import { JsonSyntaxError } from "./scan.ts";

/** Larger bodies are made by programs; what is wrong in what a scan jumps over, the upstream refuses. */
const HAND_MADE_BYTES = 8_192;

/**
 * Hands a body to a reader that scans it, as text whose characters are its bytes.
 * @throws GatewayError `invalid_request` when it is not JSON in UTF-8; and what `read` throws.
 */
export function scanBody<T>(bytes: Buffer, read: (text: string) => T): T {
  if (!isUtf8(bytes)) fail("invalid_request", "The body is not valid UTF-8. Send JSON encoded as UTF-8.");
  try {
    refuseWhatPeopleGetWrong(bytes);
    return read(bytes.toString("latin1"));
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return fail("invalid_request", `The body is not valid JSON: ${error.message}.`);
  }
}

/** Bodies that people make are parsed as well, so that a raw line break or a lost comma is named anywhere in them. */
function refuseWhatPeopleGetWrong(bytes: Buffer): void {
  if (bytes.length > HAND_MADE_BYTES) return;
  try {
    JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new JsonSyntaxError(error instanceof SyntaxError ? error.message : "nested too deeply", 0);
  }
}
