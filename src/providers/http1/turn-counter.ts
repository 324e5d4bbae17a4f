/** Counts turns of the event loop, and only while somebody waits for one. */
export interface TurnCounter {
  /** Turns so far. */
  readonly count: number;
  /** The count from which on the event loop has looked at all sockets at least once more than now. */
  nextPolled(): number;
}

/** The rest of this turn may follow the look at the sockets; the turn behind it begins with another one. */
const TURNS_TO_POLL = 2;

/** Makes a counter. It keeps the event loop turning for two turns after the last question. */
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
