import { type Failure, statusOf } from "../../base/failures/errors.ts";
import { asFields } from "../../base/json/fields.ts";
import { parseJson } from "../../base/json/parse-json.ts";
import type { SocketOperation } from "./socket-route.ts";

/** Encodes a failure of a connection, or of a frame that became no request, as a frame. */
export function encodeFailure({ api, format }: SocketOperation, failure: Failure): string {
  const status = statusOf(failure);
  const body = api.encodeError?.(failure, { requestId: "", status }) ?? {};
  const { retryAfterS } = failure;
  const headers = retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) };
  return format.encodeError(body, { status, headers, streamId: null });
}

/** Encodes an error response as a frame, with the headers that clients read. Resolves once its body was read. */
export async function encodeErrorResponse(
  { format }: SocketOperation,
  response: Response,
  streamId: string | null,
): Promise<string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers)
    if (name === "retry-after" || name.startsWith("x-")) headers[name] = value;
  const body = asFields(parseJson(await response.text())) ?? {};
  return format.encodeError(body, { status: response.status, headers, streamId });
}
