import type { Bytes } from "../../base/text/composed-bytes.ts";

/** Headers that only the transport may set, because they determine how the message is framed. */
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

/** A request to an upstream. No part of the URL comes from a client's request. */
export interface UpstreamRequest {
  /** `http:` or `https:`. */
  readonly url: URL;
  readonly method: "POST" | "GET";
  /** Names are in lower case. `TRANSPORT_HEADERS` are ignored. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | null;
  /** Deadline of the connection including TLS. Milliseconds. */
  readonly connectTimeoutMs: number;
}

/** The head of an upstream's response. The body is read from it on demand. */
export interface UpstreamResponse {
  readonly status: number;
  /** Returns a header's value; null if it was not sent. `name` is in lower case. */
  header(name: string): string | null;
  /**
   * Returns the next chunk of the decompressed body, at least one byte; null at its end. Only one read may be pending. While
   * none is, the upstream is slowed down by backpressure. Rejects with a `TransportError` if the body is truncated.
   */
  read(): Promise<Uint8Array | null>;
  /**
   * Returns the rest of the body as UTF-8 text if all of it has been received and it has at most `maxBytes`. Otherwise returns null, and
   * the caller must read the body. Absent if the transport does not support it.
   */
  takeText?(maxBytes: number): string | null;
  /** Returns the number of received bytes of the body that were not read yet. Absent if the transport does not support it. */
  bufferedBytes?(): number;
}

/** One exchange with an upstream. */
export interface Exchange {
  /** Rejects with a `TransportError`. */
  readonly response: Promise<UpstreamResponse>;
  /** Aborts the exchange and closes its connection. Pending and later promises reject as `cancelled`. Idempotent. */
  cancel(): void;
}

/** An HTTP client for upstreams. It neither retries nor follows redirects. */
export interface Transport {
  open(request: UpstreamRequest): Exchange;
  /** Closes idle connections. Open exchanges continue. */
  close(): void;
}

export type TransportErrorKind =
  /** The host name could not be resolved, or the host refused the connection or is unreachable. Nothing was sent. */
  | "connect_failed"
  | "connect_timeout"
  /** Certificate or handshake failed. Nothing was sent. */
  | "tls_failed"
  /** The connection was closed before the response head was complete. */
  | "reset"
  /** The body ended before its declared end. */
  | "truncated"
  /** The response is not valid HTTP/1.1, or exceeds a bound. */
  | "protocol"
  /** The body has an unknown content coding, or does not have the one that it declares. */
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
