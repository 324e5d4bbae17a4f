/** A bound on bytes that many hold together, and on those of each of them. */
export interface ByteBudget {
  /** A share of it, empty at first. Those with the same holder count together. */
  openShare(holder: string): ByteShare;
}

/** What there is too little of: the whole, or what this holder may have of it. */
export type ByteShortage = "all" | "holder";

/** What has been taken of a budget for one purpose. */
export interface ByteShare {
  /** What is in the way of taking so many more now; null where nothing is. */
  shortageFor(bytes: number): ByteShortage | null;
  /** Takes so many more; false, and nothing is taken, where they do not fit or the share was given back. */
  take(bytes: number): boolean;
  /** Takes what comes to be held beside it. As `take`, but always where nobody else holds anything: one is always served. */
  takeBeside(bytes: number): boolean;
  /** Gives everything back, for good. Idempotent. */
  giveBack(): void;
}

/** A budget of `totalBytes`, of which one holder may have `holderBytes`. */
export function createByteBudget(totalBytes: number, holderBytes: number): ByteBudget {
  let left = totalBytes;
  /** What somebody holds; may be more than there is, see `takeBeside`. */
  const heldByAll = () => totalBytes - left;
  /** Only those that hold something. */
  const held = new Map<string, number>();
  return {
    openShare(holder) {
      let taken = 0;
      let isClosed = false;
      const shortageFor = (bytes: number): ByteShortage | null =>
        bytes > left ? "all" : (held.get(holder) ?? 0) + bytes > holderBytes ? "holder" : null;
      const move = (bytes: number): void => {
        left -= bytes;
        taken += bytes;
        const holds = (held.get(holder) ?? 0) + bytes;
        if (holds === 0) held.delete(holder);
        else held.set(holder, holds);
      };
      return {
        shortageFor,
        take(bytes) {
          if (isClosed || shortageFor(bytes) !== null) return false;
          move(bytes);
          return true;
        },
        takeBeside(bytes) {
          if (isClosed) return false;
          const isAloneOfAll = heldByAll() === taken;
          const isAloneOfHolder = (held.get(holder) ?? 0) === taken;
          const shortage = shortageFor(bytes);
          if ((shortage === "all" && !isAloneOfAll) || (shortage === "holder" && !isAloneOfHolder))
            return false;
          move(bytes);
          return true;
        },
        giveBack() {
          isClosed = true;
          move(-taken);
        },
      };
    },
  };
}
