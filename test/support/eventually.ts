/** How long to wait for what should come at once, unless said. Milliseconds. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 2;

/**
 * Waits for what happens behind an answer, such as the settling of a request whose client has left: looks until
 * `find` gives something.
 * @throws Error with `what` in it, when it does not come.
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
