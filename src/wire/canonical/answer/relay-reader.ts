import { findEventEnd } from "../../../base/sse/event-bytes.ts";
import { ByteOutput } from "../../../base/text/byte-output.ts";
import { readLatin1 } from "../../../base/text/decode-bytes.ts";
import type { AnswerRelay } from "./relay.ts";

const LF = 10;
const CR = 13;
/** Maximum size of an incomplete event that this reader keeps for the next piece. The relay keeps larger ones. Bytes. */
const PARTIAL_BYTES = 4 * 1024;
/** Space reserved after the last events of a stream for the events that the gateway adds. Bytes. */
const END_ROOM = 2 * 1024;
const NOTHING = Buffer.alloc(0);
const LINE_FEED = Buffer.of(LF);

/** Shared by all readers, because reading a piece is synchronous. */
const output = new ByteOutput();

/**
 * Reads the pieces of an upstream's stream for a relay. Events that the relay recognizes are copied as bytes (`copyEvent`). Only the others
 * are decoded to text.
 */
export class RelayReader {
  /** The beginning of an event whose end has not arrived. */
  private partial: Uint8Array | null = null;
  /** Whether the relay has read the beginning of an event but not its end. */
  private relayHasPartial = false;
  /** Whether the last piece ended between CR and LF of a blank line, whose LF was added there. */
  private skipsLf = false;
  /** The output of the last piece: the memory with the reserved space after it, and the part that was returned. */
  private last: { readonly memory: Buffer; readonly returned: Buffer } | null = null;

  constructor(private readonly relay: AnswerRelay) {}

  /** Reads the next piece, split anywhere; returns what to send to the client. */
  read(piece: Uint8Array): Buffer {
    const { relay } = this;
    if (piece.length === 0) return NOTHING;
    if (relay.copyEvent === undefined) return toBytes(relay.step(readLatin1(piece)));
    const { partial } = this;
    this.partial = null;
    output.clear();
    const fresh = this.skipsLf && piece[0] === LF ? piece.subarray(1) : piece;
    const bytes = partial === null ? fresh : Buffer.concat([partial, fresh]);
    this.readEvents(relay, this.completeBlankLine(bytes));
    return relay.isDone ? this.takeLast() : output.take();
  }

  /** Reads the end of the stream; returns what to send to the client. */
  end(): Buffer {
    const { relay, partial } = this;
    this.partial = null;
    const last = partial === null ? "" : relay.step(readLatin1(partial));
    return toBytes(last + relay.end());
  }

  /** Returns `sent`, usually the last result of `read`, with a text appended. `text` is bytes as Latin-1. */
  append(sent: Buffer, text: string): Buffer {
    const { last } = this;
    const length = sent.length + text.length;
    if (last === null || last.returned !== sent || last.memory.length < length)
      return text === "" ? sent : Buffer.concat([sent, toBytes(text)]);
    this.last = null;
    last.memory.write(text, sent.length, "latin1");
    return last.memory.subarray(0, length);
  }

  private takeLast(): Buffer {
    const memory = output.take(END_ROOM);
    const returned = memory.subarray(0, memory.length - END_ROOM);
    this.last = { memory, returned };
    return returned;
  }

  /** Adds the LF to a blank line if only its CR has arrived: the event before it is complete, and must not wait for the next piece. */
  private completeBlankLine(bytes: Uint8Array): Uint8Array {
    this.skipsLf = bytes.at(-1) === CR && bytes.at(-2) === LF;
    return this.skipsLf ? Buffer.concat([bytes, LINE_FEED]) : bytes;
  }

  private readEvents(relay: AnswerRelay, bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length && !relay.isDone && relay.error === null) {
      const next = this.relayHasPartial ? at : (relay.copyEvent?.(bytes, at, output) ?? at);
      at = next > at ? next : this.readOther(relay, bytes, at);
    }
  }

  /** Reads an event that was not copied. Returns where it ends. */
  private readOther(relay: AnswerRelay, bytes: Uint8Array, from: number): number {
    const end = findEventEnd(bytes, from);
    if (end < 0 && this.keepPartial(bytes, from)) return bytes.length;
    this.relayHasPartial = end < 0;
    const next = end < 0 ? bytes.length : end;
    output.appendLatin1(relay.step(readLatin1(bytes, from, next)));
    return next;
  }

  /**
   * Keeps the beginning of an event. Returns false if the relay must keep it, because the relay has an earlier part of it or its lines end
   * with a bare CR.
   */
  private keepPartial(bytes: Uint8Array, from: number): boolean {
    if (this.relayHasPartial || bytes.length - from > PARTIAL_BYTES || hasBareCr(bytes, from)) return false;
    this.partial = bytes.slice(from);
    return true;
  }
}

/** Whether a line ends with a CR that no LF follows. The last byte may be half of CRLF. */
function hasBareCr(bytes: Uint8Array, from: number): boolean {
  for (let at = bytes.indexOf(CR, from); at >= 0; at = bytes.indexOf(CR, at + 1))
    if (at + 1 < bytes.length && bytes[at + 1] !== LF) return true;
  return false;
}

function toBytes(text: string): Buffer {
  return text === "" ? NOTHING : Buffer.from(text, "latin1");
}
