// Replaces `MessagesRelay.readEvent` for events with a delta, and parsing them to count their text.
import { eventText, findEventEnd } from "../../base/sse/event-bytes.ts";

/** How an event with a delta begins. */
const DELTA_LINES = "event: content_block_delta\ndata: ";
/** How the vendor's `content_block_delta` events begin, which are most of a stream. */
const DELTA_HEAD = '{"type":"content_block_delta"';
const DELTA_MARK = '"delta":{';
const VALUE_MARK = '":"';
const DELTA_TAIL = '"}}';
/** A signature is not visible to readers. */
const SIGNATURE_HEAD = '"delta":{"type":"signature_delta"';

/** An event with a delta, bytes as Latin-1. */
interface DeltaEvent {
  readonly text: string;
  /** Where its data begin and end in the text. */
  readonly start: number;
  readonly end: number;
  /** Where the next event begins. */
  readonly next: number;
}

/** Returns the event with a delta that begins at `from` in a piece; null for another one, and for one that is incomplete. */
export function findDelta(piece: Uint8Array, from: number): DeltaEvent | null {
  // Its data follow the lines with its name and the field, so the blank line can not be earlier.
  const next = findEventEnd(piece, from + DELTA_LINES.length - 1);
  if (next < 0) return null;
  const text = eventText(piece, from, next);
  const start = DELTA_LINES.length;
  const end = text.length - "\n\n".length;
  const isDelta = text.startsWith(DELTA_LINES) && end > start && text.indexOf("\n", start) === end;
  return isDelta ? { text, start, end, next } : null;
}

/** Whether data from `start` on are those of an event with a delta, as most vendors print them. */
export function beginsDelta(text: string, start: number): boolean {
  return text.startsWith(DELTA_HEAD, start);
}

/** The content that a delta adds to an answer. */
export interface DeltaSize {
  /** Bytes of its text, escaped as in the JSON. */
  readonly size: number;
  readonly isSignature: boolean;
}

/** Measures the delta in the data of an event; null if it is not printed like Anthropic's. */
export function measureDelta(text: string, start: number, end: number): DeltaSize | null {
  const mark = text.indexOf(DELTA_MARK, start);
  // A text that ends with `":` and its closing quote look like the mark of a value.
  const value = text.lastIndexOf(VALUE_MARK, end - DELTA_TAIL.length - VALUE_MARK.length);
  // A delta that is printed like Anthropic's ends with its text, in which quotes are escaped.
  const isUsual = mark >= start && mark < value && text.endsWith(DELTA_TAIL, end);
  if (!isUsual) return null;
  const size = end - value - VALUE_MARK.length - DELTA_TAIL.length;
  return { size, isSignature: text.startsWith(SIGNATURE_HEAD, mark) };
}
