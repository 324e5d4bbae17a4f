import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from "node:zlib";
import { fail, GatewayError } from "../../base/errors.ts";
import type { WaitList } from "../../base/wait-list.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";
import type { RequestContext } from "../context/context.ts";

/** Pieces in which a packed body is unpacked and counted. */
const UNPACK_BYTES = 64 * 1024;
/** What a zstd body may ask a decoder to remember: 8 MB, the most that RFC 9659 lets a content encoding ask for. */
const ZSTD_WINDOW_LOG = 23;

const options = { chunkSize: UNPACK_BYTES };
const zstdOptions = { ...options, params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } };

const DECODERS = {
  gzip: () => createGunzip(options),
  "x-gzip": () => createGunzip(options),
  br: () => createBrotliDecompress(options),
  zstd: () => createZstdDecompress(zstdOptions),
} as const;

/**
 * Bodies up to this size are taken as announced, which costs less; larger ones only as they come, so that who sends nothing
 * holds little.
 */
const AT_ONCE_BYTES = 256 * 1024;
/** So much of a larger body must come within the time that a client may be silent. Bytes. */
const PROGRESS_BYTES = 256 * 1024;

/** Whose bodies count together: a key's, or those that come from one address without one. */
export interface BodyHolder {
  readonly source: "key" | "anonymous";
  readonly id: string;
}

/** What bounds a body: its own size, before and after decompression, and its share of what all together may hold. */
interface Bounds {
  readonly maxBytes: number;
  readonly share: ByteShare;
  readonly source: BodyHolder["source"];
  /** Bodies that are still coming. */
  readonly waits: WaitList;
}

/**
 * Reads a JSON body within its bounds. One that is too large, or finds no room, is refused before it is read whole. Its
 * bytes stay counted until the request's end (`context.bodyShare`), with those of the same `holder`.
 * @throws GatewayError `payload_too_large`, `unavailable`, `rate_limit_exceeded`, `unsupported_media_type`, `invalid_request`,
 * `client_timeout`.
 */
export async function readRequestBody(
  request: Request,
  context: RequestContext,
  holder: BodyHolder,
): Promise<Buffer> {
  requireJson(request.headers.get("content-type"));
  const { maxBodyBytes, bodyBudget, bodyWaits } = context.deps;
  context.bodyShare ??= bodyBudget.openShare(holder.id);
  const bounds: Bounds = {
    maxBytes: maxBodyBytes,
    share: context.bodyShare,
    source: holder.source,
    waits: bodyWaits,
  };
  const body = await readSent(request, bounds);
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding === "identity" || encoding === "") return body;
  const create = findDecoder(encoding);
  // What unpacks at once bounds what a burst of bombs takes: each is known for one only when it is unpacked.
  const leave = await context.deps.unpackGate.enter(holder.id);
  try {
    return await decompress(body, create(), encoding, bounds);
  } finally {
    leave();
  }
}

type Decoder = ReturnType<(typeof DECODERS)[keyof typeof DECODERS]>;

function findDecoder(encoding: string): () => Decoder {
  if (Object.hasOwn(DECODERS, encoding)) return DECODERS[encoding as keyof typeof DECODERS];
  return fail("unsupported_media_type", "content-encoding must be gzip, br, zstd or absent.");
}

function requireJson(contentType: string | null): void {
  if (contentType === null || /^\s*application\/([\w.-]+\+)?json\b/i.test(contentType)) return;
  fail("unsupported_media_type", 'The body must be JSON: send "content-type: application/json".');
}

/** The body as it was sent. */
async function readSent(request: Request, bounds: Bounds): Promise<Buffer> {
  const announced = Number(request.headers.get("content-length") ?? Number.NaN);
  if (announced > bounds.maxBytes) refuseSize(bounds.maxBytes);
  if (announced > AT_ONCE_BYTES && bounds.share.shortageFor(announced) !== null)
    rejectForMemory(bounds.share, bounds.source, announced);
  if (!(announced <= AT_ONCE_BYTES)) return readCounted(request, bounds);
  if (!bounds.share.take(announced)) rejectForMemory(bounds.share, bounds.source, announced);
  return Buffer.from(await orLate(orBrokenOff(request.arrayBuffer()), bounds.waits));
}

/** The body, or a refusal where it takes too long. The runtime drops what still comes when the answer is sent. */
function orLate<T>(reading: Promise<T>, waits: WaitList): Promise<T> {
  return new Promise((resolve, reject) => {
    const wait = waits.begin(() => reject(createLateError()));
    reading.then(resolve, reject).finally(() => wait.end());
  });
}

/** The connection is closed behind the answer: what the client may still send would be read as its next request. */
function createLateError(): GatewayError {
  return new GatewayError({
    code: "client_timeout",
    message:
      "The request's body came too slowly. Repeat the request over a faster connection, or ask the operator to raise timers.client_silence_ms.",
    headers: { connection: "close" },
  });
}

async function orBrokenOff<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch {
    return fail("invalid_request", "The body broke off before its end.");
  }
}

/** A body that is counted while it comes. */
async function readCounted(request: Request, bounds: Bounds): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0);
  const reader = request.body.getReader();
  const pieces = createPieces(bounds);
  let isLate = false;
  const wait = bounds.waits.begin(() => {
    isLate = true;
    reader.cancel().catch(() => {});
  });
  let awaitedBytes = PROGRESS_BYTES;
  try {
    for (;;) {
      const { done, value } = await orBrokenOff(reader.read());
      if (isLate) throw createLateError();
      if (done) return pieces.join();
      pieces.add(value);
      awaitedBytes -= value.length;
      if (awaitedBytes > 0) continue;
      awaitedBytes = PROGRESS_BYTES;
      wait.restart();
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    wait.end();
  }
}

/** Gathers pieces of a body, each counted before it is kept. */
function createPieces(bounds: Bounds) {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    add(piece: Uint8Array): void {
      size += piece.length;
      if (size > bounds.maxBytes) refuseSize(bounds.maxBytes);
      if (!bounds.share.take(piece.length)) rejectForMemory(bounds.share, bounds.source, piece.length);
      pieces.push(piece);
    },
    join: (): Buffer => Buffer.concat(pieces),
    /**
     * Gives their memory back at once, for the collector would let a burst pile up. Only of pieces that fill their buffer:
     * into any other its maker may still write.
     */
    free(): void {
      for (const { buffer, byteLength } of pieces.splice(0)) {
        if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
      }
    },
  };
}

async function decompress(body: Buffer, decoder: Decoder, encoding: string, bounds: Bounds): Promise<Buffer> {
  const pieces = createPieces(bounds);
  decoder.end(body);
  try {
    for await (const piece of decoder) pieces.add(piece as Buffer);
    return pieces.join();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return fail("invalid_request", `The body is not what its content-encoding says, ${encoding}.`);
  } finally {
    pieces.free();
  }
}

function refuseSize(maxBytes: number): never {
  return fail(
    "payload_too_large",
    `The body is larger than ${maxBytes} bytes. Send less, or ask the operator to raise limits.body_bytes.`,
  );
}

/** Ends a request whose body, or what is made of it, finds no room beside those of others. */
export function rejectForMemory(share: ByteShare, source: BodyHolder["source"], bytes: number): never {
  if (share.shortageFor(bytes) === "holder") {
    fail(
      "rate_limit_exceeded",
      "The bodies of this caller's other requests leave no room for another. Repeat the request when they have ended.",
      { retryAfterS: NO_ROOM_RETRY_S, metadata: { limit_source: source, limit_kind: "body_bytes" } },
    );
  }
  return fail(
    "unavailable",
    "The gateway has no room for another request body at the moment. Repeat the request later.",
    { retryAfterS: NO_ROOM_RETRY_S, internal: "limits.total_body_bytes is used up" },
  );
}

const NO_ROOM_RETRY_S = 5;
