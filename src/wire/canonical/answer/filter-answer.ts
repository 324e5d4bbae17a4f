import type { Failure } from "../../../base/failures/errors.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { AnswerEvent } from "../model/answer.ts";

/** Checks and changes one answer before it is encoded for the client. None of its methods throws. */
export interface AnswerFilter {
  /**
   * Takes the next normalised event. Returns the events that may be sent now; the filter may hold some back. After a block, no events are
   * returned.
   */
  step(event: AnswerEvent): readonly AnswerEvent[];
  /**
   * Resolves to the events that are held back until the answer is complete. Called once, after the last `step`. Null if the filter holds
   * none back.
   */
  readonly release: (() => Promise<readonly AnswerEvent[]>) | null;
  /** Why the rest of the answer must not be sent; null while it may. */
  readonly block: Failure | null;
  /** Returns the findings and changes so far, as warnings for the client and the record. */
  listWarnings(): readonly Warning[];
}

/** The longest text that is filtered without a pause. Characters. */
const STRETCH_CHARS = 64 * 1024;

/**
 * Filters the events of a whole answer. Resolves to the events to send. The caller ignores them if the filter blocks the answer. `pause` is
 * awaited between parts of a long answer, so that other requests are served meanwhile.
 */
export async function filterEvents(
  events: Iterable<AnswerEvent>,
  filter: AnswerFilter,
  pause: () => Promise<void>,
): Promise<AnswerEvent[]> {
  const out: AnswerEvent[] = [];
  let chars = 0;
  for (const event of events)
    for (const piece of splitEvent(event)) {
      for (const filtered of filter.step(piece)) out.push(filtered);
      if (filter.block !== null) return out;
      chars += sizeOf(piece);
      if (chars < STRETCH_CHARS) continue;
      chars = 0;
      await pause();
    }
  for (const event of (await filter.release?.()) ?? []) out.push(event);
  return out;
}

function sizeOf(event: AnswerEvent): number {
  return event.kind === "part-delta" && "text" in event.delta ? event.delta.text.length : 0;
}

/** Splits a long text into several deltas. */
function splitEvent(event: AnswerEvent): readonly AnswerEvent[] {
  if (event.kind !== "part-delta" || !("text" in event.delta) || sizeOf(event) <= STRETCH_CHARS)
    return [event];
  const { delta } = event;
  const pieces: AnswerEvent[] = [];
  for (let at = 0; at < delta.text.length; at += STRETCH_CHARS)
    pieces.push({ ...event, delta: { ...delta, text: delta.text.slice(at, at + STRETCH_CHARS) } });
  return pieces;
}
