import type { TrustedProxies } from "../../core/limits/client-address.ts";

/** The dependencies of `GET /metrics`. */
export interface MetricsDeps {
  /** Returns the metrics of all processes of this gateway in Prometheus' text format, and their media type. */
  readonly print: () => Promise<{ readonly text: string; readonly mediaType: string }>;
  /** The hash of the token that may only read metrics; null if none is configured. */
  readonly tokenHash: string | null;
  /** Addresses that may read metrics without a token. */
  readonly allowed: Pick<TrustedProxies, "has">;
}
