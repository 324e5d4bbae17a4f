import { isIP } from "node:net";
import { BoundedMap } from "../../base/bounded-map.ts";
import { TransportError } from "../../core/deployments/transport.ts";

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

/** URLs of a gateway are few: one a provider's endpoint, and one a model where the path names it. */
const MAX_TARGETS = 1024;

/**
 * Makes a reader of URLs that remembers what it read: taking a URL apart costs more than looking it up. The reader
 * throws a `connect_failed` error for what is neither `http:` nor `https:`.
 */
export function createTargetReader(): (url: URL) => Target {
  const targets = new BoundedMap<string, Target>({ max: MAX_TARGETS });
  return (url) => {
    const known = targets.get(url.href);
    if (known !== undefined) return known;
    const target = readTarget(url);
    targets.set(url.href, target);
    return target;
  };
}

function readTarget(url: URL): Target {
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
