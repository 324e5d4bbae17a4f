import { detailOf } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import type { Clock } from "../../../base/time/clock.ts";

/** How long to wait before the next try. Milliseconds. */
const RETRY_MS = 5_000;
/** How often it is tried: for a day. After that the record ends when its gateway is started again. */
const MAX_TRIES = 17_280;

/** What is written, for the log. */
interface Writing {
  readonly responseId: string;
  readonly what: string;
}

/** Writes to the store, again and again while that is unavailable. Never rejects. */
export async function keepTrying(
  { clock, log }: { readonly clock: Clock; readonly log: Pick<Log, "warn"> },
  { responseId, what }: Writing,
  write: () => Promise<unknown>,
): Promise<void> {
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    try {
      await write();
      return;
    } catch (error) {
      log.warn(`${what}; it is tried again`, { generation_id: responseId, detail: detailOf(error) });
      await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve));
    }
  }
}
