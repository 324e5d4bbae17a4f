import { isIP } from "node:net";
import { TransportError } from "../../core/deployments/transport.ts";

/** The connection and the request target of a URL. User and password are ignored. */
export interface Target {
  /** URLs of the same origin share connections. */
  readonly origin: string;
  readonly isTls: boolean;
  /** The host name, or an IP address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The server name (SNI); empty for an IP address, which must not be sent. */
  readonly serverName: string;
  /** The `host` header. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
}

/**
 * Creates a parser of URLs, which parses each `URL` once: a gateway has one per API endpoint of a provider, or one per model if the path
 * contains it. The parser throws a TransportError `connect_failed` for a URL that is neither `http:` nor
 * `https:`.
 */
export function createTargetReader(): (url: URL) => Target {
  const targets = new WeakMap<URL, Target>();
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = readTarget(url);
    targets.set(url, target);
    return target;
  };
}

function readTarget(url: URL): Target {
  const isTls = url.protocol === "https:";
  if (!isTls && url.protocol !== "http:") {
    throw new TransportError("connect_failed", `unsupported protocol ${url.protocol}`);
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
