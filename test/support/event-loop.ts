/** Runs the event loop for `turns` turns, in which pending I/O and promises can make progress. */
export async function turnEventLoop(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Waits, turn by turn of the event loop, until `find` returns a value other than `null`. The test's timeout
 * bounds it.
 */
export async function waitFor<Found>(find: () => Found | null | Promise<Found | null>): Promise<Found> {
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    await turnEventLoop(1);
  }
}
