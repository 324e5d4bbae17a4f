import type { VendorError } from "./vendor-error.ts";

/** Messages about an unknown model, from vendors that do have the endpoint. */
const NAMES_MODEL = /\b(model|deployment)/i;

/** Whether an error means that the host does not have the endpoint at all, so that another of its formats may work. */
export function lacksEndpoint({ status, message }: VendorError): boolean {
  if (status === 405 || status === 501) return true;
  return status === 404 && !NAMES_MODEL.test(message);
}
