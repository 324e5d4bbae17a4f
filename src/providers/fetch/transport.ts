import { joinIntoOne } from "../../base/text/composed-bytes.ts";
import {
  type Exchange,
  TRANSPORT_HEADERS,
  type Transport,
  TransportError,
  type TransportErrorKind,
  type UpstreamRequest,
  type UpstreamResponse,
} from "../../core/deployments/transport.ts";
import { decodeResponse } from "../content-encoding/decode-response.ts";

interface FetchTransportOptions {
  readonly tls?: {
    /** The trusted root certificate (PEM), for private hosts. */
    readonly ca?: string;
  };
}

const RESET = new Set(["ECONNRESET", "EPIPE", "ConnectionClosed"]);
const CONNECT_FAILED =
  /^(ECONNREFUSED|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EAI_|EADDRNOTAVAIL|ConnectionRefused|FailedToOpenSocket)/;
const TLS_FAILED = /CERT|ISSUER|SIGNATURE|SIGNED|TLS|SSL|CRL|HOSTNAME_MISMATCH|EPROTO/;

/** The part of a body's reader that is used here. */
interface PieceReader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
}

/**
 * Creates a transport over the runtime's `fetch`, which uses the HTTP proxies of the environment and is slower than `http1`. Each
 * exchange has its own connection, because the runtime would pass surplus bytes of a faulty server to the next exchange. Two limits:
 * `connectTimeoutMs` is ignored, because connecting cannot be told from waiting, and a body without a declared length that was
 * reset looks complete.
 */
export function createFetchTransport({ tls }: FetchTransportOptions = {}): Transport {
  return {
    open: (request) => new FetchExchange(request, tls?.ca),
    close: () => {},
  };
}

class FetchExchange implements Exchange {
  readonly response: Promise<UpstreamResponse>;
  private readonly abort = new AbortController();

  constructor(request: UpstreamRequest, ca: string | undefined) {
    this.response = this.fetchHead(request, ca);
    // After a cancel the caller may not handle the rejection.
    this.response.catch(() => {});
  }

  cancel(): void {
    this.abort.abort();
  }

  private async fetchHead(request: UpstreamRequest, ca: string | undefined): Promise<UpstreamResponse> {
    try {
      const answer = await fetch(withoutCredentials(request.url), {
        method: request.method,
        headers: selectHeaders(request.headers),
        body: request.body === null ? null : (joinIntoOne(request.body) as Uint8Array<ArrayBuffer>),
        redirect: "manual",
        keepalive: false,
        decompress: false,
        // The gateway has its own timers.
        timeout: false,
        signal: this.abort.signal,
        ...(ca !== undefined && { tls: { ca } }),
      } as BunFetchRequestInit);
      return this.wrap(answer);
    } catch (error) {
      throw this.describe(error, classifyHeadFailure);
    }
  }

  private wrap(answer: Response): UpstreamResponse {
    const reader = (answer.body?.getReader() ?? null) as PieceReader | null;
    return decodeResponse({
      status: answer.status,
      header: (name) => answer.headers.get(name),
      read: async () => {
        try {
          this.abort.signal.throwIfAborted();
          return await readPiece(reader);
        } catch (error) {
          throw this.describe(error, classifyBodyFailure);
        }
      },
    });
  }

  private describe(error: unknown, classify: (code: string) => TransportErrorKind): TransportError {
    if (this.abort.signal.aborted) return new TransportError("cancelled", "cancelled by the caller");
    const { code = "", message } = error as { code?: string; message: string };
    return new TransportError(classify(code), message);
  }
}

/** Removes user and password, because fetch would send them in a header. */
function withoutCredentials(url: URL): string {
  if (url.username === "" && url.password === "") return url.href;
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare.href;
}

function selectHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const selected: Record<string, string> = { "accept-encoding": "identity" };
  for (const [name, value] of Object.entries(headers)) {
    if (!TRANSPORT_HEADERS.has(name)) selected[name] = value;
  }
  return selected;
}

async function readPiece(reader: PieceReader | null): Promise<Uint8Array | null> {
  while (reader !== null) {
    const { done, value } = await reader.read();
    if (done) return null;
    if (value !== undefined && value.length > 0) return value;
  }
  return null;
}

/** A code in no list is an invalid request or answer. */
function classifyHeadFailure(code: string): TransportErrorKind {
  if (CONNECT_FAILED.test(code)) return "connect_failed";
  if (RESET.has(code)) return "reset";
  return TLS_FAILED.test(code) ? "tls_failed" : "protocol";
}

function classifyBodyFailure(code: string): TransportErrorKind {
  return RESET.has(code) ? "truncated" : "protocol";
}
