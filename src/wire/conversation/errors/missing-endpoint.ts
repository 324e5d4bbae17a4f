import type { VendorError } from "./vendor-error.ts";

/** Messages about an unknown model, from vendors that do have the endpoint. */
const NAMES_MODEL = /\b(model|deployment)/i;

/** OpenAI's message about a model that it serves at another endpoint. */
const NAMES_ENDPOINT = /not supported in the v1\/[\w/]+ endpoint/;

/** Returns whether an error means that the host lacks the endpoint, at all or for this model. Another of its formats may then work. */
export function lacksEndpoint({ status, message }: VendorError): boolean {
  if (status === 405 || status === 501) return true;
  return status === 404 && (NAMES_ENDPOINT.test(message) || !NAMES_MODEL.test(message));
}
