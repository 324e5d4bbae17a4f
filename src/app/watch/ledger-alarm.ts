import type { Clock } from "../../base/time/clock.ts";
import { dayOf } from "../../base/time/time.ts";
import { type EventSink, eventId } from "../../core/events/event.ts";

/** Returns a function that reports an inconsistent ledger: once a day, and whenever the number of inconsistencies has changed. */
export function createLedgerAlarm(send: EventSink, clock: Pick<Clock, "now">): (differences: number) => void {
  let last: string | null = null;
  return (differences) => {
    const createdAt = clock.now();
    const id = eventId("ledger.imbalance", dayOf(createdAt), differences);
    if (differences > 0 && id !== last)
      send({
        id,
        type: "ledger.imbalance",
        createdAt,
        text: `The ledger has ${differences} ${differences === 1 ? "inconsistency" : "inconsistencies"}. \`gateway ledger check\` lists them.`,
        data: { differences },
      });
    last = differences > 0 ? id : null;
  };
}
