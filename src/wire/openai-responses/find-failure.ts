import type { Fields } from "../../base/json/fields.ts";
import { brokenAnswer, findVendorError, type VendorError } from "../conversation/errors/vendor-error.ts";

/**
 * Returns the error of a response that is not an answer: it reports an error, has no output, or has not ended. Returns null for a response
 * that has ended with an `output` list.
 */
export function findFailure(body: Fields): VendorError | null {
  const error = findVendorError(body);
  if (error !== null) return error;
  const { output, status } = body;
  if (!Array.isArray(output)) return brokenAnswer("the upstream's answer has no output");
  return isOver(status) ? null : brokenAnswer(`the upstream's response is ${String(status)}`);
}

function isOver(status: unknown): boolean {
  return status === undefined || status === null || status === "completed" || status === "incomplete";
}
