/** Counts turns of the event loop while one is awaited. */
export interface TurnCounter {
  /** Turns so far. */
  readonly count: number;
  /** Returns the count at which the event loop has certainly polled all sockets at least once more. */
  nextPolled(): number;
}

/** This turn may already have polled the sockets; the next one polls them again. */
const TURNS_TO_POLL = 2;

/** Creates a counter. It keeps the event loop running for two turns after the last call. */
export function createTurnCounter(): TurnCounter {
  let count = 0;
  let until = 0;
  let isTurning = false;

  const turn = (): void => {
    count += 1;
    isTurning = count < until;
    if (isTurning) setImmediate(turn);
  };

  return {
    get count() {
      return count;
    },
    nextPolled() {
      until = count + TURNS_TO_POLL;
      if (!isTurning) {
        isTurning = true;
        setImmediate(turn);
      }
      return until;
    },
  };
}
