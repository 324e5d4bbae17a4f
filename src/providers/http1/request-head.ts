import { TRANSPORT_HEADERS, TransportError, type UpstreamRequest } from "../../core/deployments/transport.ts";
import type { Target } from "./target.ts";

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** Characters that would end the line or are not latin-1. */
const FORBIDDEN_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** A head without the length of its body, and the target that it is for. */
interface KnownHead {
  readonly target: Target;
  readonly method: UpstreamRequest["method"];
  readonly start: string;
}

const known = new WeakMap<UpstreamRequest["headers"], KnownHead>();

/**
 * Returns the request line and headers in latin-1.
 * @throws TransportError `protocol` for an invalid header; the message does not contain its value.
 */
export function serializeRequestHead(request: UpstreamRequest, target: Target): string {
  const { body, method } = request;
  const start = request.areShared === true ? recallStart(request, target) : serializeStart(request, target);
  return body !== null || method === "POST"
    ? `${start}content-length: ${body?.length ?? 0}\r\n\r\n`
    : `${start}\r\n`;
}

function recallStart(request: UpstreamRequest, target: Target): string {
  const { headers, method } = request;
  const before = known.get(headers);
  if (before?.target === target && before.method === method) return before.start;
  const start = serializeStart(request, target);
  known.set(headers, { target, method, start });
  return start;
}

/** Returns the request line and all headers that do not depend on the body. */
function serializeStart({ headers, method }: UpstreamRequest, target: Target): string {
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
  return encodingSet ? head : `${head}accept-encoding: identity\r\n`;
}
