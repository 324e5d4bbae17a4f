import type { TransportErrorKind } from "../../core/deployments/transport.ts";

/** The next element of a body. */
export type Piece =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Neither more bytes nor an end follow. */
  | { readonly kind: "hang" }
  /** The connection breaks. */
  | { readonly kind: "break" };

/** The sandbox's reaction to a request. */
export type SandboxReply =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Lower-case names. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Iterable<Piece>;
    }
  /** The exchange fails immediately, without a head. */
  | { readonly kind: "failure"; readonly error: TransportErrorKind; readonly message: string }
  /** The connection is not established before the connect timeout of the request. */
  | { readonly kind: "connect-timeout" }
  /** The connection is established, and no answer follows. */
  | { readonly kind: "silence" };

/** An error in OpenAI's format. */
export interface SandboxError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  /** A string at OpenAI; other vendors send the status. */
  readonly code: string | number | null;
}

const encoder = new TextEncoder();

/** Encodes text as a piece, in UTF-8. */
export function writePiece(text: string): Piece {
  return { kind: "bytes", bytes: encoder.encode(text) };
}

/** Encodes a JSON value as one SSE event. */
export function writeEvent(value: unknown): Piece {
  return writePiece(`data: ${JSON.stringify(value)}\n\n`);
}

/** The event that ends a stream. */
export const DONE: Piece = writePiece("data: [DONE]\n\n");

/** Replies with a JSON document. `headers` are added to the content type. */
export function replyWithJson(
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): SandboxReply {
  return {
    kind: "answer",
    status,
    headers: { "content-type": "application/json", ...headers },
    body: [writePiece(JSON.stringify(value))],
  };
}

/** Replies with an event stream and status 200. */
export function replyWithStream(body: Iterable<Piece>): SandboxReply {
  return {
    kind: "answer",
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8" },
    body,
  };
}

/** Replies with an error in OpenAI's format. */
export function replyWithError(
  status: number,
  error: SandboxError,
  headers: Record<string, string> = {},
): SandboxReply {
  return replyWithJson(status, { error }, headers);
}

/** Returns OpenAI's error for an invalid request. `param` names the field. */
export function describeBadRequest(message: string, param: string | null = null): SandboxError {
  return { message, type: "invalid_request_error", param, code: null };
}
