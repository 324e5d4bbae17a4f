import { TRANSPORT_HEADERS, TransportError, type UpstreamRequest } from "../../core/deployments/transport.ts";
import type { Target } from "./target.ts";

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Characters that would end the line or are not latin-1. */
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Returns the request line and headers in latin-1.
 * @throws TransportError `protocol` for an invalid header; the message does not contain its value.
 */
export function serializeRequestHead({ headers, method, body }: UpstreamRequest, target: Target): string {
  let head = `${method} ${target.path} HTTP/1.1\r\nhost: ${target.host}\r\n`;
  let encodingSet = false;
  for (const name in headers) {
    if (TRANSPORT_HEADERS.has(name)) continue;
    const value = headers[name]!;
    if (!NAME.test(name))
      throw new TransportError("protocol", `malformed header name ${JSON.stringify(name)}`);
    if (FORBIDDEN_IN_VALUE.test(value)) {
      throw new TransportError("protocol", `forbidden character in header ${name}`);
    }
    if (name === "accept-encoding") encodingSet = true;
    head += `${name}: ${value}\r\n`;
  }
  if (!encodingSet) head += "accept-encoding: identity\r\n";
  if (body !== null || method === "POST") head += `content-length: ${body?.length ?? 0}\r\n`;
  return `${head}\r\n`;
}
