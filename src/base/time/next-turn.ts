/** Calls `work` on the next turn of the event loop. */
export function onNextTurn(work: () => void): void {
  setImmediate(work);
}

/** Resolves on the next turn of the event loop, so that other events are processed between two long pieces of work. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Creates a function whose calls each resolve in a separate turn of the event loop, so that long pieces of work do not add up. */
export function createTurnLine(): () => Promise<void> {
  let line = Promise.resolve();
  return () => {
    line = line.then(nextTurn);
    return line;
  };
}
