/** Runs the event loop for `turns` turns, so that everything that was only waiting for a turn has happened. */
export async function turnEventLoop(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits, turn by turn of the event loop, until `find` returns a value other than `null`. The test's own time limit bounds it. */
export async function waitFor<Found>(find: () => Found | null | Promise<Found | null>): Promise<Found> {
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    await turnEventLoop(1);
  }
}
