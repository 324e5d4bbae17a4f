/** A server-sent event. */
interface ServerEvent {
  /** The text of the event as it was received, without the empty line at its end. */
  readonly raw: string;
  /** The lines of its data. */
  readonly data: string;
}

/** The maximum number of characters of one event: an image in an answer is one event. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;

/**
 * Returns a function that takes pieces of a stream and returns the events that they complete. Comments are events without data.
 * @throws Error if an event is longer than 32 Mi characters.
 */
export function createEventReader(): (piece: string) => ServerEvent[] {
  let rest = "";
  return (piece) => {
    // Only the new piece can complete an event, or the line break before it.
    const from = Math.max(0, rest.length - 3);
    rest += piece;
    const events: ServerEvent[] = [];
    let start = 0;
    for (const { index, length } of findEnds(rest, from)) {
      const raw = rest.slice(start, index);
      start = index + length;
      if (raw !== "") events.push({ raw, data: dataOf(raw) });
    }
    rest = rest.slice(start);
    if (rest.length > MAX_EVENT_CHARS)
      throw new Error("An event of the stream is longer than 32 Mi characters.");
    return events;
  };
}

function* findEnds(text: string, from: number): Generator<{ index: number; length: number }> {
  const pattern = /\r?\n\r?\n/g;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text))
    yield { index: match.index, length: match[0].length };
}

function dataOf(raw: string): string {
  return raw
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");
}
