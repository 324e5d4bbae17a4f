import type { VendorError } from "./vendor-error.ts";

/** Messages about an unknown model, from vendors that do have the endpoint. */
const NAMES_MODEL = /\b(model|deployment)/i;

/** OpenAI's message about a model that it serves at another endpoint. */
const NAMES_ENDPOINT = /not supported in the v1\/[\w/]+ endpoint/;

/** Whether an error means that the host does not have the endpoint, or not for this model, so that another of its formats may work. */
export function lacksEndpoint({ status, message }: VendorError): boolean {
  if (status === 405 || status === 501) return true;
  return status === 404 && (NAMES_ENDPOINT.test(message) || !NAMES_MODEL.test(message));
}
