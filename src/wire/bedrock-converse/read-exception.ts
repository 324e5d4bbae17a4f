import { asFields, createTable } from "../../base/json/fields.ts";
import { readVendorError, type VendorError } from "../conversation/errors/vendor-error.ts";

/** The HTTP status of each exception (Bedrock API reference, ConverseStream and its errors). */
const STATUS: Readonly<Record<string, number>> = createTable({
  validationException: 400,
  accessDeniedException: 403,
  resourceNotFoundException: 404,
  modelTimeoutException: 408,
  modelErrorException: 424,
  modelStreamErrorException: 424,
  modelNotReadyException: 429,
  // Says status 400, but means that the account's quota is used up; the request is not at fault.
  serviceQuotaExceededException: 429,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
});

/** Statuses of a model behind Bedrock that is overloaded. */
const BUSY = new Set([429, 503, 529]);

/** Reads an exception of a stream. `type` is its name, with an upper-case or lower-case first letter; `body` is its payload. */
export function readException(type: string, body: unknown): VendorError {
  const fields = asFields(body) ?? {};
  const status = STATUS[type.charAt(0).toLowerCase() + type.slice(1)] ?? 500;
  const original = fields["originalStatusCode"];
  const message = fields["originalMessage"] || fields["message"] || fields["Message"] || type;
  return readVendorError(typeof original === "number" && BUSY.has(original) ? original : status, { message });
}
