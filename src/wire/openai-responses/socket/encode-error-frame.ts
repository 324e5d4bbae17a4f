import { asFields, type Fields } from "../../../base/json/fields.ts";

/** What an error frame says besides the error. */
interface ErrorFrame {
  readonly status: number;
  /** Headers of an error response that clients read, such as `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly streamId: string | null;
}

/** Encodes the body of an error response as a frame. A frame always has an error code, the gateway's own where OpenAI has none. */
export function encodeErrorFrame(body: Fields, { status, headers, streamId }: ErrorFrame): string {
  const error = asFields(body["error"]) ?? {};
  return JSON.stringify({
    type: "error",
    status,
    ...(streamId === null ? {} : { stream_id: streamId }),
    error: { ...error, code: error["code"] ?? body["error_type"] },
    headers,
  });
}

/**
 * The error of a connection that has reached its greatest age. The code is that of the Open Responses specification; Codex opens another
 * connection at once when it reads it (openai/codex, codex-rs/codex-api/src/endpoint/responses_websocket.rs, read in November 2026).
 */
export const CONNECTION_LIMIT_FRAME: string = JSON.stringify({
  type: "error",
  status: 400,
  error: {
    type: "invalid_request_error",
    code: "websocket_connection_limit_reached",
    message:
      "This WebSocket has been open for 60 minutes, which is the limit. Open another one, and send the whole conversation with the next request.",
    param: null,
  },
});
