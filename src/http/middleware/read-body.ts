import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import type { WaitList } from "../../base/collections/wait-list.ts";
import { fail, GatewayError } from "../../base/failures/errors.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { credentialIdOf, type Principal } from "../../core/accounts/records/principal.ts";
import type { ByteShare } from "../../core/limits/byte-budget.ts";
import type { Gate } from "../../core/limits/gate.ts";
import type { StateMemory } from "../../core/response-objects/records/state-memory.ts";
import type { RequestContext } from "../context/context.ts";

/** The chunk size in which a body is decompressed and counted. Bytes. */
const DECOMPRESSION_CHUNK_BYTES = 64 * 1024;
const options = { chunkSize: DECOMPRESSION_CHUNK_BYTES };
const zstdOptions = { ...options, params: { [constants.ZSTD_d_windowLogMax]: BOUNDS.zstdWindowLog } };

const DECODERS = {
  gzip: () => createGunzip(options),
  "x-gzip": () => createGunzip(options),
  // Some clients send it without the zlib header that RFC 9110 asks for.
  deflate: (first: number) =>
    (first & 0x0f) === ZLIB_METHOD ? createInflate(options) : createInflateRaw(options),
  br: () => createBrotliDecompress(options),
  zstd: () => createZstdDecompress(zstdOptions),
} as const;

/** The low half of the first byte of zlib's header. */
const ZLIB_METHOD = 8;

/**
 * Up to this `content-length`, the memory of a body is reserved immediately, which is cheaper. Until the body has arrived, others can take
 * that memory. A larger body is counted as it arrives. So a client that declares a body and sends nothing keeps no memory from others.
 * Bytes.
 */
const AT_ONCE_BYTES = 256 * 1024;
/** The part of a larger body that must arrive within the time for which a client may be silent. Bytes. */
const PROGRESS_BYTES = 256 * 1024;

/** Returns the name under which bodies are counted together: the key, or the address if there is none. */
export function holderOf(principal: Principal): string {
  return principal.kind === "anonymous" ? principal.addressHash : credentialIdOf(principal);
}

/** The bounds of a body: its size, before and after decompression, and its share of the memory budget of all bodies. */
interface Bounds {
  readonly maxBytes: number;
  readonly share: ByteShare;
  readonly principal: Principal;
  /** The timers of bodies that are being received. */
  readonly waits: WaitList;
}

/**
 * Reads a body and decompresses it. It must be JSON, unless the endpoint takes forms. A body that is too large, or for which there is no
 * memory, is rejected before it is read completely. Its bytes count together with those of the principal's other requests, until the end of
 * the request (`context.bodyShare`).
 * @throws GatewayError `payload_too_large`, `unavailable`, `rate_limit_exceeded`, `unsupported_media_type`, `invalid_request`,
 * `client_timeout`.
 */
export function readRequestBody(
  request: Request,
  context: RequestContext,
  principal: Principal,
): Promise<Buffer> {
  const { headers, deps } = context;
  if (!context.takesForm) requireJson(headers.get("content-type"));
  const {
    bodies: { maxBodyBytes: maxBytes, bodyWaits: waits },
  } = deps;
  context.bodyShare ??= deps.bodies.bodyBudget.openShare(holderOf(principal));
  const bounds: Bounds = { maxBytes, share: context.bodyShare, principal, waits };
  const sent = readSent(request, bounds);
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const isPacked = encoding !== "" && encoding !== "identity";
  const body = isPacked ? unpack(sent, { encoding, bounds, gate: deps.bodies.unpackGate }) : sent;
  return body.then(withoutMark);
}

/** Returns a body without the byte order mark that some clients on Windows write, and that is not valid JSON (RFC 8259, section 8.1). */
function withoutMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** A body that is compressed. */
interface Packed {
  readonly encoding: string;
  readonly bounds: Bounds;
  readonly gate: Gate;
}

/** Decompresses a body once it was received. */
async function unpack(sent: Promise<Buffer>, { encoding, bounds, gate }: Packed): Promise<Buffer> {
  const body = await sent;
  const createDecoder = findDecoder(encoding);
  // Bounds the memory of a burst of decompression bombs, which are only recognized when they are decompressed.
  const leave = await gate.enter(holderOf(bounds.principal));
  try {
    return await decompress(body, { encoding, decoder: createDecoder(body[0] ?? 0) }, bounds);
  } finally {
    leave();
  }
}

type Decoder = ReturnType<(typeof DECODERS)[keyof typeof DECODERS]>;

function findDecoder(encoding: string): (first: number) => Decoder {
  if (Object.hasOwn(DECODERS, encoding)) return DECODERS[encoding as keyof typeof DECODERS];
  return fail("unsupported_media_type", "content-encoding must be gzip, deflate, br, zstd or absent.");
}

function requireJson(contentType: string | null): void {
  // The usual form, without a regular expression.
  if (contentType === null || contentType === "application/json") return;
  if (/^\s*application\/([\w.-]+\+)?json\b/i.test(contentType)) return;
  fail("unsupported_media_type", 'The body must be JSON: send "content-type: application/json".');
}

/** Returns the body as sent, not decompressed. */
function readSent(request: Request, bounds: Bounds): Promise<Buffer> {
  const declared = Number(request.headers.get("content-length") ?? Number.NaN);
  if (declared > bounds.maxBytes) rejectSize(bounds.maxBytes);
  const { share, principal } = bounds;
  // A body that has not arrived takes no memory, but a body that can never fit is not received.
  if (declared > 0 && !share.mayFit(declared)) rejectForMemory(share, principal, declared);
  if (!(declared <= AT_ONCE_BYTES && share.announce(declared))) return readCounted(request, bounds);
  const sent = request.arrayBuffer();
  // A small body has mostly arrived with its head.
  if (Bun.peek.status(sent) !== "fulfilled") return receive(sent, bounds);
  share.arrive();
  return sent.then(toBuffer);
}

function toBuffer(bytes: ArrayBuffer): Buffer {
  return Buffer.from(bytes);
}

/**
 * Resolves to a body once it has arrived completely. Rejects if it takes too long, or if it is slow and others need the memory. The runtime
 * discards the rest of it when the response is sent.
 */
function receive(sent: Promise<ArrayBuffer>, { waits, share }: Bounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const wait = waits.begin(() => reject(createTimeoutError()));
    const arrival = share.beginArrival(() => reject(createSlownessError()));
    const end = (): void => {
      wait.end();
      arrival.end();
    };
    sent.then(
      (bytes) => {
        end();
        resolve(Buffer.from(bytes));
      },
      () => {
        end();
        reject(createEarlyEndError());
      },
    );
  });
}

/** Closes the connection after the response, because the rest of the body would be read as the next request. */
function createTimeoutError(): GatewayError {
  return new GatewayError({
    code: "client_timeout",
    message:
      "The request body arrived too slowly. Retry over a faster connection, or ask the operator to raise timers.client_silence_ms.",
    headers: CLOSES,
  });
}

const CLOSES = { connection: "close" };

/** The error of a body that is evicted for others. Closes the connection like `createTimeoutError`. */
function createSlownessError(): GatewayError {
  return new GatewayError({
    code: "unavailable",
    message:
      "The gateway is short of memory, and this request body arrived slowly. Retry later, over a faster connection.",
    retryAfterS: NO_ROOM_RETRY_S,
    headers: CLOSES,
    internal: "limits.total_body_bytes is used up",
  });
}

function createEarlyEndError(): GatewayError {
  return new GatewayError({ code: "invalid_request", message: "The request body ended early." });
}

/** Reads a body that is counted as it arrives. */
async function readCounted(request: Request, bounds: Bounds): Promise<Buffer> {
  if (request.body === null) return Buffer.alloc(0);
  const reader = request.body.getReader();
  const chunks = createChunks(bounds);
  let ended: GatewayError | null = null;
  const end = (error: GatewayError): void => {
    ended = error;
    reader.cancel().catch(() => {});
  };
  const wait = bounds.waits.begin(() => end(createTimeoutError()));
  const arrival = bounds.share.beginArrival(() => end(createSlownessError()));
  let awaitedBytes = PROGRESS_BYTES;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw ended ?? createEarlyEndError();
      });
      if (ended !== null) throw ended;
      if (done) return chunks.join();
      chunks.add(value);
      awaitedBytes -= value.length;
      if (awaitedBytes > 0) continue;
      awaitedBytes = PROGRESS_BYTES;
      wait.restart();
      arrival.advance();
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    wait.end();
    arrival.end();
  }
}

/** Collects the chunks of a body. Each is counted before it is kept. */
function createChunks(bounds: Bounds) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add(chunk: Uint8Array): void {
      size += chunk.length;
      if (size > bounds.maxBytes) rejectSize(bounds.maxBytes);
      if (!bounds.share.take(chunk.length)) rejectForMemory(bounds.share, bounds.principal, chunk.length);
      chunks.push(chunk);
    },
    join: (): Buffer => Buffer.concat(chunks),
    /**
     * Releases the memory of the chunks immediately: otherwise a burst of bodies would accumulate until the garbage collector runs. Skips
     * chunks that are part of a larger buffer, into which the decoder may still write.
     */
    free(): void {
      for (const { buffer, byteLength } of chunks.splice(0)) {
        if (byteLength === buffer.byteLength) (buffer as ArrayBuffer).transfer(0);
      }
    },
  };
}

interface Encoded {
  readonly encoding: string;
  readonly decoder: Decoder;
}

async function decompress(body: Buffer, { encoding, decoder }: Encoded, bounds: Bounds): Promise<Buffer> {
  const chunks = createChunks(bounds);
  decoder.end(body);
  try {
    for await (const chunk of decoder) chunks.add(chunk as Buffer);
    return chunks.join();
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    return fail(
      "invalid_request",
      `The request body is not valid ${encoding}, although its content-encoding says so.`,
    );
  } finally {
    chunks.free();
  }
}

/** @throws GatewayError `payload_too_large`. */
export function rejectSize(maxBytes: number): never {
  return fail(
    "payload_too_large",
    `The request body is larger than ${maxBytes} bytes. Send less, or ask the operator to raise limits.body_bytes.`,
  );
}

/**
 * Counts memory that a request holds in addition to its body, until it has ended. One request can always be served.
 * @throws GatewayError `unavailable`, `rate_limit_exceeded`.
 */
export function takeMemory(context: RequestContext, principal: Principal, bytes: number): void {
  context.bodyShare ??= context.deps.bodies.bodyBudget.openShare(holderOf(principal));
  takeFrom(context.bodyShare, principal, bytes);
}

function takeFrom(share: ByteShare, principal: Principal, bytes: number): void {
  if (!share.takeExtra(bytes)) rejectForMemory(share, principal, bytes);
}

/** Returns the memory of a request for what reads kept responses. */
export function memoryOf(context: RequestContext, principal: Principal): StateMemory {
  return {
    take: (bytes) => takeMemory(context, principal, bytes),
    giveBack: (bytes) => context.bodyShare?.giveBack(bytes),
  };
}

/** Reads kept responses for a request whose own memory was released, in memory that is counted while it reads. */
export async function withOwnMemory<Read>(
  { deps }: Pick<RequestContext, "deps">,
  principal: Principal,
  read: (memory: StateMemory) => Promise<Read>,
): Promise<Read> {
  const share = deps.bodies.bodyBudget.openShare(holderOf(principal));
  try {
    return await read({
      take: (bytes) => takeFrom(share, principal, bytes),
      giveBack: (bytes) => share.giveBack(bytes),
    });
  } finally {
    share.release();
  }
}

/**
 * Rejects a request for which the memory budget has no room.
 * @throws GatewayError `rate_limit_exceeded` if the holder's other requests use up its share, otherwise `unavailable`.
 */
export function rejectForMemory(share: ByteShare, principal: Principal, bytes: number): never {
  if (share.shortageFor(bytes) === "holder") {
    const source = principal.kind === "anonymous" ? "anonymous" : "key";
    fail(
      "rate_limit_exceeded",
      "Your other requests in progress use all the memory that you may use for bodies. Retry when they have ended.",
      { retryAfterS: NO_ROOM_RETRY_S, metadata: { limit_source: source, limit_kind: "body_bytes" } },
    );
  }
  return fail(
    "unavailable",
    "The gateway has no memory for another request body at the moment. Retry later.",
    { retryAfterS: NO_ROOM_RETRY_S, internal: "limits.total_body_bytes is used up" },
  );
}

const NO_ROOM_RETRY_S = 5;
