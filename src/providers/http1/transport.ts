import { rootCertificates } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import { DEFAULT_BOUNDS, type Http1Bounds } from "./bounds.ts";
import { startExchange } from "./exchange.ts";
import { createPool } from "./pool.ts";
import { createTargetReader } from "./target.ts";

export interface Http1TransportOptions {
  readonly clock: Clock;
  /** Replaces single bounds of `DEFAULT_BOUNDS`. */
  readonly bounds?: Partial<Http1Bounds>;
  /** Called when an origin has sent bytes that belong to no answer; not again while it is distrusted. */
  readonly onStrayBytes?: (origin: string) => void;
  readonly tls?: {
    /** A root to trust beside the machine's own, PEM. For private hosts; it makes handshakes dearer. */
    readonly ca?: string;
  };
}

/**
 * HTTP/1.1 over sockets of our own, with keep-alive. Certificates are always verified, chain and host name.
 * An exchange on a connection that waited, and that turns out closed before any byte of the answer, is begun
 * once more on a fresh one.
 */
export function createHttp1Transport({
  clock,
  bounds,
  onStrayBytes = () => {},
  tls,
}: Http1TransportOptions): Transport {
  const allBounds = { ...DEFAULT_BOUNDS, ...bounds };
  const pool = createPool(clock, allBounds, onStrayBytes);
  // Naming a root replaces the built-in ones, so that they are named too.
  const ca = tls?.ca === undefined ? undefined : [...rootCertificates, tls.ca];
  const context = { clock, pool, ca, bounds: allBounds, readTarget: createTargetReader() };
  return {
    open: (request) => startExchange(context, request),
    close: () => pool.close(),
  };
}
