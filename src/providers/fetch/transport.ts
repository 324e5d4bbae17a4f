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

export interface FetchTransportOptions {
  readonly tls?: {
    /** The root to trust, PEM. For private hosts. */
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
 * Exchanges over the runtime's `fetch`: it follows the environment's HTTP proxies, and costs more than the
 * client of our own. Each exchange has a connection of its own, so that `close` has nothing to do: the runtime reuses
 * a connection as soon as an answer has ended, and hands what a faulty server sends behind it to the next caller.
 * Two things it can not do: tell connecting from waiting, so that `connectTimeoutMs` is not kept, and tell a body
 * without a declared end that was reset from one that was whole.
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
    // A caller that cancels need not listen any more.
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
        body: request.body as Uint8Array<ArrayBuffer> | null,
        redirect: "manual",
        keepalive: false,
        decompress: false,
        // The gateway has timers of its own.
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
    if (this.abort.signal.aborted) return new TransportError("cancelled", "given up by the caller");
    const { code = "", message } = error as { code?: string; message: string };
    return new TransportError(classify(code), message);
  }
}

/** fetch would make a header of user and password; credentials travel in the caller's headers only. */
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

/** What is in no list is an answer, or a request, that fetch did not like. */
function classifyHeadFailure(code: string): TransportErrorKind {
  if (CONNECT_FAILED.test(code)) return "connect_failed";
  if (RESET.has(code)) return "reset";
  return TLS_FAILED.test(code) ? "tls_failed" : "protocol";
}

function classifyBodyFailure(code: string): TransportErrorKind {
  return RESET.has(code) ? "truncated" : "protocol";
}
