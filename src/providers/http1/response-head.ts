import type { Http1Bounds } from "./bounds.ts";

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const COLON = 58;
const ZERO = 48;

/** `HTTP/1.` */
const VERSION_PREFIX = Uint8Array.of(72, 84, 84, 80, 47, 49, 46);

/** RFC 9110 `token`: the characters of a header name. */
const IS_NAME = tableOf((code) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code)));
/** RFC 9110 `field-content`: visible ASCII, blank, tab, obs-text. No CR, LF, NUL. */
const IS_VALUE = tableOf((code) => code === TAB || (code >= SPACE && code !== 127));

const NO_BYTES = new Uint8Array(0);

function tableOf(holds: (code: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (holds(code) ? 1 : 0));
}

const latin1Slice = (Buffer.prototype as unknown as { latin1Slice(from: number, to: number): string })
  .latin1Slice;

/** Returns the value of a header line without the blanks around it. The name ends at `nameEnd`, the line at `lineEnd`. */
function readValue(block: Uint8Array, nameEnd: number, lineEnd: number): string {
  const from = findValueStart(block, nameEnd, lineEnd);
  return latin1Slice.call(block, from, trimEnd(block, from, lineEnd));
}

function findValueStart(block: Uint8Array, nameEnd: number, lineEnd: number): number {
  let from = nameEnd + 1;
  while (from < lineEnd && isBlank(block[from]!)) from++;
  return from;
}

function trimEnd(block: Uint8Array, from: number, lineEnd: number): number {
  let to = lineEnd;
  while (to > from && isBlank(block[to - 1]!)) to--;
  return to;
}

/** Returns the number that is the value of a header line; null if the value is not 1 to 15 digits. Offsets as for `readValue`. */
function readDigits(block: Uint8Array, nameEnd: number, lineEnd: number): number | null {
  const from = findValueStart(block, nameEnd, lineEnd);
  const to = trimEnd(block, from, lineEnd);
  if (from === to || to - from > MAX_DIGITS) return null;
  let number = 0;
  for (let at = from; at < to; at++) {
    if (!isDigit(block[at]!)) return null;
    number = number * 10 + block[at]! - ZERO;
  }
  return number;
}

/** Digits of a number that is always exact. */
const MAX_DIGITS = 15;

/** Compares ignoring case. `name` is lower-case ASCII. */
function isNamed(bytes: Uint8Array, from: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[from + i]!;
    const lower = byte >= 65 && byte <= 90 ? byte + 32 : byte;
    if (lower !== name.charCodeAt(i)) return false;
  }
  return true;
}

/**
 * The head of an answer. It is read line by line as lines become complete, so that the result does not depend on how the bytes were split; a
 * head in one piece is not copied. Headers are decoded when they are asked for.
 */
export class ResponseHead {
  /** Why the head is rejected; null if it is not. */
  error: string | null = null;
  /** Whether its end has been read. */
  isComplete = false;

  status = 0;
  /** The declared length of the body in bytes; null if none is declared. */
  contentLength: number | null = null;
  chunked = false;
  /** Whether the server keeps the connection open after this answer. */
  keepAlive = true;
  /** Whether the body is declared to have a content coding. */
  hasCoding = false;

  private readonly bounds: Http1Bounds;
  private kept: Uint8Array | null = null;
  private keptBytes = 0;
  /** Offset of the first incomplete line from the head's first byte. */
  private lineAt = 0;
  private isHttp10 = false;
  private fieldCount = 0;
  /** The bytes with the header lines of a complete head, which begin and end at these offsets. */
  private block: Uint8Array = NO_BYTES;
  private fieldsAt = 0;
  private fieldsEnd = 0;

  constructor(bounds: Http1Bounds) {
    this.bounds = bounds;
  }

  /** Returns the value of a header (lower-case name) of a complete head, or null. Several values are joined by a comma. */
  header(name: string): string | null {
    const { block, fieldsEnd } = this;
    let found: string | null = null;
    for (let at = this.fieldsAt; at < fieldsEnd; ) {
      const end = block.indexOf(LF, at) - 1;
      const nameEnd = at + name.length;
      if (block[nameEnd] === COLON && isNamed(block, at, name)) {
        const value = readValue(block, nameEnd, end);
        found = found === null ? value : `${found}, ${value}`;
      }
      at = end + 2;
    }
    return found;
  }

  /**
   * Reads `bytes` from offset `from`. Returns the offset after the head if it is complete, and -1 if more bytes are needed or `error`
   * is set. `bytes` must not be changed afterwards.
   */
  read(bytes: Uint8Array, from: number): number {
    const before = this.keptBytes;
    if (before > 0) this.keep(bytes, from);
    const block = before > 0 ? this.kept!.subarray(0, this.keptBytes) : bytes;
    const start = before > 0 ? 0 : from;
    const lineAt = this.readLines(block, start, before > 0 ? before : from);
    if (this.error !== null) return -1;
    if (this.isComplete) return before > 0 ? from + lineAt - before : lineAt;
    if (block.length - start > this.bounds.headBytes) return this.reject("head exceeds its bound");
    if (!this.mayBeStatusLine(block, start)) return this.reject("not HTTP/1.x");
    if (before === 0) this.keep(bytes, from);
    this.lineAt = lineAt - start;
    return -1;
  }

  /** Reads the complete lines, searching line ends from `scanAt`. Returns the offset of the next line. */
  private readLines(block: Uint8Array, start: number, scanAt: number): number {
    let lineAt = start + this.lineAt;
    for (let lf = block.indexOf(LF, scanAt); lf >= 0; lf = block.indexOf(LF, lineAt)) {
      if (lf + 1 - start > this.bounds.headBytes) this.reject("head exceeds its bound");
      // Servers and proxies disagree about a bare LF, which allows request smuggling.
      else if (lf === lineAt || block[lf - 1] !== CR) this.reject("line in head does not end in CRLF");
      else if (this.status === 0) this.readStatusLine(block, lineAt, lf - 1);
      else if (lf - 1 > lineAt) this.readField(block, lineAt, lf - 1);
      else this.complete(block, start, lineAt);
      lineAt = lf + 1;
      if (this.error !== null || this.isComplete) break;
      if (this.fieldCount === 0) this.fieldsAt = lineAt - start;
    }
    return lineAt;
  }

  private reject(why: string): -1 {
    this.error = why;
    return -1;
  }

  /** Keeps at most `headBytes`: body bytes after the head are not needed. */
  private keep(bytes: Uint8Array, from: number): void {
    const taken = Math.min(bytes.length - from, this.bounds.headBytes + 1 - this.keptBytes);
    const needed = this.keptBytes + taken;
    if (this.kept === null || this.kept.length < needed) {
      const grown = new Uint8Array(Math.max(needed, 2 * (this.kept?.length ?? 512)));
      if (this.kept !== null) grown.set(this.kept.subarray(0, this.keptBytes));
      this.kept = grown;
    }
    this.kept.set(bytes.subarray(from, from + taken), this.keptBytes);
    this.keptBytes = needed;
  }

  /** Detects another protocol by its first bytes, before a line end that may never come. */
  private mayBeStatusLine(block: Uint8Array, start: number): boolean {
    const known = Math.min(VERSION_PREFIX.length, block.length - start);
    for (let i = 0; i < known; i++) {
      if (block[start + i] !== VERSION_PREFIX[i]) return false;
    }
    return true;
  }

  /** `HTTP/1.x SP 3DIGIT [SP reason]` */
  private readStatusLine(block: Uint8Array, at: number, end: number): void {
    const minor = block[at + 7]! - ZERO;
    const status = (block[at + 9]! - ZERO) * 100 + (block[at + 10]! - ZERO) * 10 + block[at + 11]! - ZERO;
    const shaped =
      end - at >= 12 &&
      this.mayBeStatusLine(block, at) &&
      (minor === 0 || minor === 1) &&
      block[at + 8] === SPACE &&
      isDigit(block[at + 9]!) &&
      isDigit(block[at + 10]!) &&
      isDigit(block[at + 11]!) &&
      status >= 100 &&
      (end - at === 12 || block[at + 12] === SPACE) &&
      findValueEnd(block, at + 12, end) === end;
    if (!shaped) {
      this.reject("malformed status line");
      return;
    }
    this.status = status;
    this.isHttp10 = minor === 0;
    if (minor === 0) this.keepAlive = false;
  }

  /** `name ":" OWS value OWS`. A line that begins with a blank (obs-fold) is rejected. */
  private readField(block: Uint8Array, at: number, end: number): void {
    let nameEnd = at;
    while (nameEnd < end && IS_NAME[block[nameEnd]!] === 1) nameEnd++;
    if (nameEnd === at || nameEnd === end || block[nameEnd] !== COLON) {
      this.reject("malformed header line");
      return;
    }
    if (findValueEnd(block, nameEnd + 1, end) !== end) {
      this.reject("forbidden byte in a header");
      return;
    }
    this.fieldCount += 1;
    if (this.fieldCount > this.bounds.headerCount) this.reject("too many headers");
    else this.readFraming(block, at, nameEnd, end);
  }

  /** Reads a field if it decides how the body is read. The names of these fields have different lengths, which saves comparisons. */
  private readFraming(block: Uint8Array, at: number, nameEnd: number, end: number): void {
    const length = nameEnd - at;
    if (length === 14 && isNamed(block, at, "content-length")) {
      this.readContentLength(block, nameEnd, end);
    } else if (length === 17 && isNamed(block, at, "transfer-encoding")) {
      this.readTransferEncoding(readValue(block, nameEnd, end));
    } else if (length === 10 && isNamed(block, at, "connection")) {
      const options = readValue(block, nameEnd, end).toLowerCase().split(",");
      if (options.some((option) => option.trim() === "close")) this.keepAlive = false;
    } else if (length === 16 && isNamed(block, at, "content-encoding")) {
      this.hasCoding = true;
    }
  }

  /** RFC 9112 6.3: a repeated length is accepted only if it is the same. */
  private readContentLength(block: Uint8Array, nameEnd: number, lineEnd: number): void {
    const length = readDigits(block, nameEnd, lineEnd);
    if (length === null) {
      this.reject("malformed content-length");
      return;
    }
    if (this.contentLength !== null && this.contentLength !== length) this.reject("two content-lengths");
    this.contentLength = length;
  }

  /** Only `chunked` is accepted, because `te` is never sent. */
  private readTransferEncoding(value: string): void {
    if (this.chunked || value.toLowerCase() !== "chunked") this.reject("transfer-encoding is not chunked");
    this.chunked = true;
  }

  private complete(block: Uint8Array, start: number, end: number): void {
    // RFC 9112 6.3: both together may be an attempt at smuggling.
    if (this.chunked && this.contentLength !== null) this.reject("content-length beside transfer-encoding");
    else if (this.chunked && this.isHttp10) this.reject("transfer-encoding in HTTP/1.0");
    this.isComplete = this.error === null;
    this.block = block;
    this.fieldsAt += start;
    this.fieldsEnd = end;
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

/** Returns the offset of the first byte before `end` that is not allowed in a value, or `end`. */
function findValueEnd(block: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && IS_VALUE[block[at]!] === 1) at++;
  return at;
}
