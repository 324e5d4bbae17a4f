import { isIP } from "node:net";
import { TransportError } from "../../core/ports/transport.ts";

/** Where a URL points. What it says of user and password is ignored: credentials travel in headers. */
export interface Target {
  /** Connections are shared by what has the same origin. */
  readonly origin: string;
  readonly isTls: boolean;
  /** To connect to: a name, or an address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The name to ask the server's certificate by (SNI); empty for an address, which must not be sent. */
  readonly serverName: string;
  /** The `host` header. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/** Reads a URL; throws a `connect_failed` error for what is neither `http:` nor `https:`. */
export function readTarget(url: URL): Target {
  const isTls = url.protocol === "https:";
  if (!isTls && url.protocol !== "http:") {
    throw new TransportError("connect_failed", `can not speak ${url.protocol}`);
  }
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  return {
    origin: url.origin,
    isTls,
    hostname,
    port: url.port === "" ? (isTls ? 443 : 80) : Number(url.port),
    serverName: isIP(hostname) === 0 ? hostname : "",
    host: url.host,
    path: url.pathname + url.search,
  };
}
