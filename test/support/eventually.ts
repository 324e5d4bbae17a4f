/** How long to wait by default, before a test fails. Milliseconds. */
const TIMEOUT_MS = 60_000;
const POLL_INTERVAL_MS = 2;

/**
 * Polls until `find` returns a value, for effects that follow a response, such as the settling of a cancelled
 * generation.
 * @throws Error that contains `what`, after `timeoutMs`.
 */
export async function eventually<T>(
  what: string,
  find: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > until) throw new Error(`timed out waiting for ${what}`);
    await Bun.sleep(POLL_INTERVAL_MS);
  }
}
