import { TransportError, type UpstreamResponse } from "../../deployments/transport.ts";

/**
 * Reads a body of at most `maxBytes`, and calls `onPiece` for each piece. A larger one is truncated, or rejected with a `TransportError`.
 * Rejects as `UpstreamResponse.read` does.
 */
export async function readBody(
  response: UpstreamResponse,
  maxBytes: number,
  onTooLarge: "truncate" | "reject",
  onPiece?: () => void,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (let piece = await response.read(); piece !== null; piece = await response.read()) {
    onPiece?.();
    pieces.push(piece);
    size += piece.length;
    if (size <= maxBytes) continue;
    if (onTooLarge === "reject") throw new TransportError("protocol", `a body of over ${maxBytes} bytes`);
    break;
  }
  const body = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  return body.length > maxBytes ? body.subarray(0, maxBytes) : body;
}
