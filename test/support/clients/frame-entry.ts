import type { EntryFrame } from "../../../src/core/usage/journal/journal.ts";

/** Returns the entry of a journal that is a text in a frame. */
export function frameEntry(text: string, frame: EntryFrame | undefined): string {
  return frame === undefined ? text : `${frame.start}${text}${frame.end}`;
}
