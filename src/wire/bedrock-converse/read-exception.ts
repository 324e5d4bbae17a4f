import { readVendorError, type VendorError } from "../conversation/vendor-error.ts";
import { asFields } from "../json/fields.ts";

/** The HTTP status of each exception (Bedrock API reference, ConverseStream and its errors). */
const STATUS: Readonly<Record<string, number>> = {
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelTimeoutException: 408,
  modelErrorException: 424,
  modelStreamErrorException: 424,
  modelNotReadyException: 429,
  // The account's quota, whatever its status of 400 says: the request is not at fault.
  serviceQuotaExceededException: 429,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/** Statuses by which a model behind Bedrock says that it has too much to do. */
const BUSY = new Set([429, 503, 529]);

/** Reads an exception of a stream. `type` is its name, in either case of its first letter; `body` its payload. */
export function readException(type: string, body: unknown): VendorError {
  const fields = asFields(body) ?? {};
  const status = STATUS[type.charAt(0).toLowerCase() + type.slice(1)] ?? 500;
  const original = fields["originalStatusCode"];
  const message = fields["originalMessage"] || fields["message"] || fields["Message"] || type;
  return readVendorError(typeof original === "number" && BUSY.has(original) ? original : status, { message });
}
