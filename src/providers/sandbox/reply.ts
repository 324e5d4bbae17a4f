import type { TransportErrorKind } from "../../core/deployments/transport.ts";

/** What comes next in a body. */
export type Piece =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Nothing more comes, and no end either. */
  | { readonly kind: "hang" }
  /** The connection breaks off. */
  | { readonly kind: "break" };

/** What the sandbox does with a request. */
export type Reply =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Lower-case names. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Iterable<Piece>;
    }
  /** There is no head: the exchange fails at once. */
  | { readonly kind: "failure"; readonly error: TransportErrorKind; readonly message: string }
  /** The connection is not there before the request's own connect timeout. */
  | { readonly kind: "connect-timeout" }
  /** The connection stands and no answer ever comes. */
  | { readonly kind: "silence" };

/** An error as OpenAI words it. */
export interface VendorError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  /** A word; other vendors send the status. */
  readonly code: string | number | null;
}

const encoder = new TextEncoder();

/** A piece of text, as UTF-8. */
export function writePiece(text: string): Piece {
  return { kind: "bytes", bytes: encoder.encode(text) };
}

/** One SSE event with a JSON value. */
export function writeEvent(value: unknown): Piece {
  return writePiece(`data: ${JSON.stringify(value)}\n\n`);
}

/** The event that ends a stream. */
export const DONE: Piece = writePiece("data: [DONE]\n\n");

/** An answer of one JSON document. `headers` are added to the content type. */
export function replyWithJson(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    kind: "answer",
    status,
    headers: { "content-type": "application/json", ...headers },
    body: [writePiece(JSON.stringify(value))],
  };
}

/** An event stream, status 200. */
export function replyWithStream(body: Iterable<Piece>): Reply {
  return {
    kind: "answer",
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body,
  };
}

/** An error, in OpenAI's shape. */
export function replyWithError(
  status: number,
  error: VendorError,
  headers: Record<string, string> = {},
): Reply {
  return replyWithJson(status, { error }, headers);
}

/** What OpenAI says of a request it cannot take. `param` names the field. */
export function describeBadRequest(message: string, param: string | null = null): VendorError {
  return { message, type: "invalid_request_error", param, code: null };
}
