/** Calls `work` on the next turn of the event loop. */
export function onNextTurn(work: () => void): void {
  setImmediate(work);
}

/** Resolves on the next turn of the event loop: between two long pieces of work everybody else gets theirs. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Gives a turn of the event loop of its own to each who waits for one, so that long pieces of work do not add up. */
export function createTurnLine(): () => Promise<void> {
  let line = Promise.resolve();
  return () => {
    line = line.then(nextTurn);
    return line;
  };
}
