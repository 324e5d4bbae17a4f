import { promisify } from "node:util";
import { brotliDecompress, gunzip, zstdDecompress } from "node:zlib";
import { fail } from "../../base/errors.ts";

const DECODERS = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const;

/**
 * Reads a JSON body of at most `maxBytes`, before and after decompression. A larger one is refused before it is read
 * whole.
 * @throws GatewayError `payload_too_large`, `unsupported_media_type`, `invalid_request`.
 */
export async function readRequestBody(request: Request, maxBytes: number): Promise<Buffer> {
  requireJson(request.headers.get("content-type"));
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > maxBytes) refuseSize(maxBytes);
  const body = Number.isNaN(announced)
    ? await readBounded(request, maxBytes)
    : Buffer.from(await orBrokenOff(request.arrayBuffer()));
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  return encoding === "identity" || encoding === "" ? body : decompress(body, encoding, maxBytes);
}

function requireJson(contentType: string | null): void {
  if (contentType === null || /^\s*application\/([\w.-]+\+)?json\b/i.test(contentType)) return;
  fail("unsupported_media_type", 'The body must be JSON: send "content-type: application/json".');
}

async function orBrokenOff<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch {
    return fail("invalid_request", "The body broke off before its end.");
  }
}

/** A body of unknown length is counted while it comes. */
async function readBounded(request: Request, maxBytes: number): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0);
  const reader = request.body.getReader();
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await orBrokenOff(reader.read());
    if (done) return Buffer.concat(pieces);
    size += value.length;
    if (size > maxBytes) {
      reader.cancel().catch(() => {});
      refuseSize(maxBytes);
    }
    pieces.push(value);
  }
}

async function decompress(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding as keyof typeof DECODERS] : undefined;
  if (decode === undefined) {
    return fail("unsupported_media_type", "content-encoding must be gzip, br, zstd or absent.");
  }
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE") refuseSize(maxBytes);
    return fail("invalid_request", `The body is not what its content-encoding says, ${encoding}.`);
  }
}

function refuseSize(maxBytes: number): never {
  return fail(
    "payload_too_large",
    `The body is larger than ${maxBytes} bytes. Send less, or ask the operator to raise limits.body_bytes.`,
  );
}
