import { expect } from "bun:test";
import type { AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import type { AnswerReader } from "../../../src/wire/canonical/model/format.ts";

/** Returns all events that a reader makes of a stream in these pieces. */
export function readPieces(reader: AnswerReader, pieces: Iterable<string>): AnswerEvent[] {
  const events: AnswerEvent[] = [];
  for (const piece of pieces) events.push(...reader.step(piece));
  return [...events, ...reader.end()];
}

/**
 * Checks a stream's events against the rules of `AnswerEvent`: parts in order, each ended once, one finish,
 * nothing after an error.
 */
export function checkEvents(events: readonly AnswerEvent[]): void {
  const open = new Set<number>();
  let started = 0;
  let finishes = 0;
  for (const [index, event] of events.entries()) {
    if (event.kind === "part-start") {
      expect(event.at).toBe(started++);
      open.add(event.at);
    } else if (event.kind === "part-delta") {
      expect(open.has(event.at)).toBe(true);
    } else if (event.kind === "part-end") {
      expect(open.delete(event.at)).toBe(true);
    } else if (event.kind === "finish") {
      finishes++;
      expect(open.size).toBe(0);
    } else if (event.kind === "error") {
      expect(index).toBe(events.length - 1);
    }
  }
  expect(finishes + Number(events.at(-1)?.kind === "error")).toBe(1);
}
