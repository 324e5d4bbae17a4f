import type { VendorError } from "./vendor-error.ts";

/** What vendors with an endpoint say of a model that they do not have. */
const NAMES_MODEL = /\b(model|deployment)/i;

/** Whether an error says that a host has no such endpoint at all, so that another of its formats may be served. */
export function lacksEndpoint({ status, message }: VendorError): boolean {
  if (status === 405 || status === 501) return true;
  return status === 404 && !NAMES_MODEL.test(message);
}
