/**
 * The minimum of HTTP/1.1 that the load generator and the upstream need: consecutive messages on one
 * connection, framed by content-length or chunks. It trusts its peer and is not suitable for production.
 */

const HEAD_END = Buffer.from("\r\n\r\n");
const NONE = Buffer.alloc(0);
const CR = 13;
const LF = 10;
const SEMICOLON = 59;

type State = "head" | "fixed" | "chunk-size" | "chunk-data" | "chunk-end" | "trailer";

/** Callbacks for each message. */
interface MessageEvents {
  /** More of the body has arrived. Called only if bodies are kept. */
  bodyGrew?(): void;
  messageEnded(): void;
}

/** Reads messages from the pieces of a connection, wherever they are split. */
export class MessageReader {
  /** The start line and header lines; header names may be in any case. */
  head = "";
  /** Bytes of the body so far, without framing. */
  bodyBytes = 0;
  #state: State = "head";
  #carried: Buffer = NONE;
  #left = 0;
  #lineBytes = 0;
  #isInExtension = false;
  #body: Buffer;

  constructor(
    private readonly events: MessageEvents,
    private readonly keepsBody: boolean,
  ) {
    this.#body = keepsBody ? Buffer.allocUnsafe(4096) : NONE;
  }

  /** The body so far. Its bytes are overwritten by the next message. */
  get body(): Buffer {
    return this.#body.subarray(0, this.bodyBytes);
  }

  /** Whether no message is incomplete. */
  get isBetweenMessages(): boolean {
    return this.#state === "head" && this.#carried.length === 0;
  }

  push(data: Buffer): void {
    let at = 0;
    while (at < data.length) at = this.#step(data, at);
  }

  #step(data: Buffer, at: number): number {
    switch (this.#state) {
      case "head":
        return this.#readHead(data, at);
      case "fixed":
      case "chunk-data":
        return this.#readBody(data, at);
      case "chunk-size":
        return this.#readChunkSize(data, at);
      case "chunk-end":
        return this.#readChunkEnd(data, at);
      case "trailer":
        return this.#readTrailer(data, at);
    }
  }

  #readHead(data: Buffer, at: number): number {
    const before = this.#carried.length;
    const pieces = before === 0 ? data.subarray(at) : Buffer.concat([this.#carried, data.subarray(at)]);
    const end = pieces.indexOf(HEAD_END);
    if (end < 0) {
      this.#carried = Buffer.from(pieces);
      return data.length;
    }
    this.#carried = NONE;
    this.head = pieces.toString("latin1", 0, end);
    this.bodyBytes = 0;
    this.#beginBody();
    return at + end + HEAD_END.length - before;
  }

  #beginBody(): void {
    const length = findHeader(this.head, "content-length");
    if (length !== null) {
      this.#left = Number(length);
      this.#state = "fixed";
      if (this.#left === 0) this.#end();
    } else if (findHeader(this.head, "transfer-encoding") !== null) {
      this.#state = "chunk-size";
      this.#left = 0;
    } else {
      this.#end();
    }
  }

  #readBody(data: Buffer, at: number): number {
    const bytes = Math.min(this.#left, data.length - at);
    if (this.keepsBody) this.#keep(data, at, bytes);
    this.bodyBytes += bytes;
    this.#left -= bytes;
    if (this.keepsBody) this.events.bodyGrew?.();
    if (this.#left === 0) {
      if (this.#state === "fixed") this.#end();
      else this.#state = "chunk-end";
    }
    return at + bytes;
  }

  #keep(data: Buffer, at: number, bytes: number): void {
    const needed = this.bodyBytes + bytes;
    if (needed > this.#body.length) {
      const larger = Buffer.allocUnsafe(needed * 2);
      this.#body.copy(larger, 0, 0, this.bodyBytes);
      this.#body = larger;
    }
    data.copy(this.#body, this.bodyBytes, at, at + bytes);
  }

  #readChunkSize(data: Buffer, at: number): number {
    for (let i = at; i < data.length; i++) {
      const byte = data[i] as number;
      if (byte === LF) {
        this.#state = this.#left === 0 ? "trailer" : "chunk-data";
        this.#lineBytes = 0;
        this.#isInExtension = false;
        return i + 1;
      }
      if (byte === SEMICOLON) this.#isInExtension = true;
      if (byte !== CR && !this.#isInExtension) this.#left = this.#left * 16 + hexValue(byte);
    }
    return data.length;
  }

  #readChunkEnd(data: Buffer, at: number): number {
    if (data[at] === LF) this.#state = "chunk-size";
    return at + 1;
  }

  #readTrailer(data: Buffer, at: number): number {
    const byte = data[at] as number;
    if (byte === LF) {
      if (this.#lineBytes === 0) this.#end();
      this.#lineBytes = 0;
    } else if (byte !== CR) {
      this.#lineBytes++;
    }
    return at + 1;
  }

  #end(): void {
    this.#state = "head";
    this.events.messageEnded();
  }
}

/** Returns the value of a header in a message's head, or `null`. `name` is lower-case. */
export function findHeader(head: string, name: string): string | null {
  const lower = head.toLowerCase();
  const at = lower.indexOf(`\r\n${name}:`);
  if (at < 0) return null;
  const from = at + name.length + 3;
  const to = head.indexOf("\r\n", from);
  return head.slice(from, to < 0 ? head.length : to).trim();
}

function hexValue(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  if (letter >= 97 && letter <= 102) return letter - 87;
  throw new Error(`not a chunk size: byte ${byte}`);
}
