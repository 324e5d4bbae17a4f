const RETRY_MS = 200;
const CALL_MS = 5_000;
/** Longer than any fault. */
const CONFIRM_MS = 60_000;

/** Does something by the management API again and again until a gateway confirms it. Rejects after a minute. */
export async function untilConfirmed(work: () => Promise<void>): Promise<void> {
  const until = Date.now() + CONFIRM_MS;
  for (;;) {
    try {
      await Promise.race([work(), rejectLate()]);
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await Bun.sleep(RETRY_MS);
    }
  }
}

/** A gateway that is paused answers nothing. */
async function rejectLate(): Promise<never> {
  await Bun.sleep(CALL_MS);
  throw new Error(`no answer within ${CALL_MS} ms`);
}
