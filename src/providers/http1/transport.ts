import { rootCertificates } from "node:tls";
import type { Clock } from "../../base/time/clock.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import { DEFAULT_BOUNDS, type Http1Bounds } from "./bounds.ts";
import { startExchange } from "./exchange.ts";
import { createPool } from "./pool.ts";
import { createTargetReader } from "./target.ts";

interface Http1TransportOptions {
  readonly clock: Clock;
  /** Replaces single bounds of `DEFAULT_BOUNDS`. */
  readonly bounds?: Partial<Http1Bounds>;
  /** Called when an origin has sent bytes that belong to no answer, once until it is trusted again. */
  readonly onStrayBytes?: (origin: string) => void;
  readonly tls?: {
    /** A root certificate (PEM) to trust in addition to those of the system, for private hosts. It makes handshakes slower. */
    readonly ca?: string;
  };
}

/**
 * Creates an HTTP/1.1 transport over sockets, with keep-alive. Certificate chain and host name are always verified. If an idle
 * connection turns out to be closed before the first byte of an answer, the exchange is repeated on a new one.
 */
export function createHttp1Transport({
  clock,
  bounds,
  onStrayBytes = () => {},
  tls,
}: Http1TransportOptions): Transport {
  const allBounds = { ...DEFAULT_BOUNDS, ...bounds };
  const pool = createPool(clock, allBounds, onStrayBytes);
  // A list of roots replaces the built-in ones, so it must contain them as well.
  const ca = tls?.ca === undefined ? undefined : [...rootCertificates, tls.ca];
  const context = { clock, pool, ca, bounds: allBounds, readTarget: createTargetReader() };
  return {
    open: (request) => startExchange(context, request),
    close: () => pool.close(),
  };
}
