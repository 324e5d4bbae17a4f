/** Headers that a transport says itself, or never: a caller's would contradict how the message is framed. */
export const TRANSPORT_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

/** A request to an upstream. The gateway chooses the address; nothing in a client's request can. */
export interface UpstreamRequest {
  /** `http:` or `https:`. */
  readonly url: URL;
  readonly method: "POST" | "GET";
  /** Lower-case names. `TRANSPORT_HEADERS` among them are left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Longest wait for a connection, TLS included. Milliseconds. */
  readonly connectTimeoutMs: number;
}

/** The head of an upstream's answer; the body is pulled. */
export interface UpstreamResponse {
  readonly status: number;
  /** The header's value as it was sent, or null. `name` is lower-case. */
  header(name: string): string | null;
  /**
   * The next piece of the body, decompressed, at least one byte; null at a clean end. One read at a time. Not reading
   * holds the upstream back. Rejects with a `TransportError` when the body breaks off before its end.
   */
  read(): Promise<Uint8Array | null>;
  /** Bytes of the body that have come and were not read yet; absent where that is not known. */
  bufferedBytes?(): number;
}

/** One exchange with an upstream. */
export interface Exchange {
  /** Rejects with a `TransportError`. */
  readonly response: Promise<UpstreamResponse>;
  /** Gives the exchange up and closes its connection; pending and later waits reject as `cancelled`. Idempotent. */
  cancel(): void;
}

/** Speaks HTTP to upstreams. It neither retries, nor follows redirects, nor knows providers. */
export interface Transport {
  open(request: UpstreamRequest): Exchange;
  /** Closes idle connections; open exchanges go on. */
  close(): void;
}

export type TransportErrorKind =
  /** No address, connection refused, unreachable. Nothing was sent. */
  | "connect_failed"
  | "connect_timeout"
  /** Certificate or handshake. Nothing was sent. */
  | "tls_failed"
  /** The connection closed or was reset before the answer's head was complete. */
  | "reset"
  /** The body broke off before its declared end. */
  | "truncated"
  /** What came is not HTTP/1.1 that we accept, or is over a bound. */
  | "protocol"
  /** The body is in a content coding that is not known, or not in the one that it names. The message says so. */
  | "encoding"
  | "cancelled";

/** Why an exchange failed. `message` is for the log. */
export class TransportError extends Error {
  readonly kind: TransportErrorKind;

  constructor(kind: TransportErrorKind, message: string) {
    super(message);
    this.name = "TransportError";
    this.kind = kind;
  }
}
