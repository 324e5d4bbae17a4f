/** Spaces, and characters that databases and terminals do not take everywhere. */
const CONTROLS = /[\u0000-\u0020\u007f-\u009f]+/g;

/** Returns a text in the form of records: on one line, of valid characters, and at most `max` of them. A longer text ends with an ellipsis. */
export function recordText(text: string, max: number): string {
  // Cut first, so that the work is bounded. Replacing makes no text longer.
  const line = text
    .slice(0, 2 * max)
    .replace(CONTROLS, " ")
    .trim();
  return (line.length > max ? `${line.slice(0, max - 1)}…` : line).toWellFormed();
}
