/** An answer of the server: text, an integer, null, an error, or a list of answers. */
export type RedisReply = string | number | null | ReplyError | readonly RedisReply[];

/** An error that the server answered, such as `NOPERM this user has no permissions to run the 'evalsha' command`. */
export class ReplyError extends Error {
  /** The first word of the answer, such as `NOPERM`. */
  readonly code: string;

  constructor(message: string) {
    super(message);
    this.name = "ReplyError";
    this.code = /^\S*/.exec(message)?.[0] ?? "";
  }
}

/** Bytes that are not an answer of the protocol. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ProtocolError";
  }
}

/** A larger answer is not read. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_ITEMS = 1_000_000;
const MAX_DEPTH = 8;
/** A line, such as an error, is not longer. */
const MAX_LINE_BYTES = 65_536;
const CR = 13;
const TYPES = { text: 43, error: 45, integer: 58, bytes: 36, list: 42 } as const;

/** Encodes a command as a list of texts. */
export function encodeCommand(parts: readonly string[]): string {
  let text = `*${parts.length}\r\n`;
  for (const part of parts) text += `$${Buffer.byteLength(part)}\r\n${part}\r\n`;
  return text;
}

/** Reads answers of version 2 of the protocol from the pieces in which they arrive. */
export class ReplyReader {
  private pieces: Buffer[] = [];
  private length = 0;
  /** No answer is complete before this many bytes have arrived. */
  private needed = 1;
  private at = 0;
  private bytes: Buffer = NOTHING;

  push(piece: Buffer): void {
    this.pieces.push(piece);
    this.length += piece.length;
  }

  /** Returns the next answer; undefined if it is not complete. @throws ProtocolError */
  next(): RedisReply | undefined {
    if (this.length < this.needed) return undefined;
    if (this.pieces.length > 0) {
      const rest = this.bytes.subarray(this.at);
      this.bytes =
        rest.length === 0 && this.pieces.length === 1
          ? (this.pieces[0] as Buffer)
          : Buffer.concat([rest, ...this.pieces]);
      this.pieces = [];
      this.at = 0;
    }
    const start = this.at;
    const reply = this.read(0);
    if (reply === undefined) {
      this.at = start;
      return undefined;
    }
    this.length -= this.at - start;
    this.needed = 1;
    return reply;
  }

  private read(depth: number): RedisReply | undefined {
    const type = this.bytes[this.at];
    const line = this.readLine();
    if (line === undefined) return undefined;
    switch (type) {
      case TYPES.text:
        return line;
      case TYPES.error:
        return new ReplyError(line);
      case TYPES.integer:
        return toInteger(line);
      case TYPES.bytes:
        return this.readBytes(toInteger(line));
      case TYPES.list:
        return this.readList(toInteger(line), depth);
      default:
        throw new ProtocolError("it does not speak the protocol of Redis");
    }
  }

  /** Returns the rest of a line after its first byte. */
  private readLine(): string | undefined {
    const end = this.bytes.indexOf("\r\n", this.at);
    if (end === -1) {
      if (this.bytes.length - this.at > MAX_LINE_BYTES)
        throw new ProtocolError("it does not speak the protocol of Redis");
      return this.wait(this.length + 1);
    }
    const line = this.bytes.toString("utf8", this.at + 1, end);
    this.at = end + 2;
    return line;
  }

  private readBytes(length: number): RedisReply | undefined {
    if (length === -1) return null;
    if (length < 0 || length > MAX_REPLY_BYTES) throw new ProtocolError(`an answer has ${length} bytes`);
    const end = this.at + length;
    if (this.bytes.length < end + 2) return this.wait(this.length + end + 2 - this.bytes.length);
    if (this.bytes[end] !== CR) throw new ProtocolError("it does not speak the protocol of Redis");
    const text = this.bytes.toString("utf8", this.at, end);
    this.at = end + 2;
    return text;
  }

  private readList(length: number, depth: number): RedisReply | undefined {
    if (length === -1) return null;
    if (length < 0 || length > MAX_ITEMS || depth >= MAX_DEPTH)
      throw new ProtocolError("an answer is too large");
    const items: RedisReply[] = [];
    while (items.length < length) {
      const item = this.read(depth + 1);
      if (item === undefined) return undefined;
      items.push(item);
    }
    return items;
  }

  private wait(bytes: number): undefined {
    if (bytes > MAX_REPLY_BYTES) throw new ProtocolError("an answer is too large");
    this.needed = bytes;
    return undefined;
  }
}

const NOTHING = Buffer.alloc(0);

function toInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || text === "")
    throw new ProtocolError("it does not speak the protocol of Redis");
  return value;
}
