/** Default for how long to wait for something that should happen at once. Milliseconds. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 2;

/**
 * Waits for something that happens after an answer, such as the settling of a request whose client has left: polls until
 * `find` returns a value. gives something.
 * @throws Error that contains `what`, if that does not happen in time.
 */
export async function eventually<T>(
  what: string,
  find: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found;
    if (performance.now() > until) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
