import type { AnswerEvent } from "../../../wire/canonical/model/answer.ts";
import type { Match } from "./find-in-text.ts";
import type { DecidedText, StreamSearch } from "./search-stream.ts";

/** A piece of text in the order of a choice's events. */
export interface Segment {
  /** How much of its text is not decided. UTF-16 units. */
  left: number;
  /** The decided text that was not sent yet. */
  text: string;
  /** Sent in one piece when all of it is decided. Otherwise each decided part is sent immediately. */
  readonly isWhole: boolean;
  readonly encode: (text: string) => readonly AnswerEvent[];
}

/** A text that a client reads as one, such as all texts of a choice, even if there are other events between its pieces. */
export interface Channel {
  readonly search: StreamSearch;
  /** The segments that are not decided, in their order; the last may grow. */
  readonly segments: Segment[];
}

/**
 * Distributes decided text over the segments in which it arrived. A match over several segments is replaced in the first one. `change`
 * returns what to send for a text and its matches.
 */
export function distribute(
  { segments }: Channel,
  { text, matches }: DecidedText,
  change: (text: string, matches: readonly Match[]) => string,
): void {
  let from = 0;
  let next = 0;
  while (from < text.length) {
    const segment = segments[0] as Segment;
    let to = Math.min(from + segment.left, text.length);
    const first = next;
    for (; next < matches.length && (matches[next] as Match).start < to; next++)
      to = Math.max(to, (matches[next] as Match).end);
    const inside = matches.slice(first, next).map(({ start, end, kind }) => ({
      start: start - from,
      end: end - from,
      kind,
    }));
    segment.text += change(text.slice(from, to), inside);
    take(segments, to - from);
    from = to;
  }
}

function take(segments: Segment[], length: number): void {
  let rest = length;
  while (rest > 0) {
    const segment = segments[0] as Segment;
    const taken = Math.min(segment.left, rest);
    segment.left -= taken;
    rest -= taken;
    if (segment.left === 0) segments.shift();
  }
}

/** The events of one choice in their order. Events after undecided text wait for it. */
export class EventQueue {
  private readonly entries: (AnswerEvent | Segment)[] = [];

  add(entry: AnswerEvent | Segment): void {
    this.entries.push(entry);
  }

  /** Returns and removes the events that no longer have to wait. */
  flush(): AnswerEvent[] {
    const out: AnswerEvent[] = [];
    let taken = 0;
    for (const entry of this.entries) {
      if ("kind" in entry) out.push(entry);
      else {
        const isReady = entry.left === 0 || (!entry.isWhole && entry.text !== "");
        if (isReady) for (const event of entry.encode(entry.text)) out.push(event);
        if (isReady) entry.text = "";
        if (entry.left > 0) break;
      }
      taken++;
    }
    this.entries.splice(0, taken);
    return out;
  }
}
