/** A bound on bytes that many hold together. */
export interface ByteBudget {
  /** Whether so many more could be taken now. */
  hasRoomFor(bytes: number): boolean;
  /** A share of it, empty at first. */
  openShare(): ByteShare;
}

/** What one holder has taken of a budget. */
export interface ByteShare {
  /** Takes so many more; false, and nothing is taken, where they do not fit or the share was given back. */
  take(bytes: number): boolean;
  /** Gives everything back, for good. Idempotent. */
  giveBack(): void;
}

/** A budget of `totalBytes`. */
export function createByteBudget(totalBytes: number): ByteBudget {
  let left = totalBytes;
  return {
    hasRoomFor: (bytes) => bytes <= left,
    openShare() {
      let taken = 0;
      let isClosed = false;
      return {
        take(bytes) {
          if (isClosed || bytes > left) return false;
          left -= bytes;
          taken += bytes;
          return true;
        },
        giveBack() {
          isClosed = true;
          left += taken;
          taken = 0;
        },
      };
    },
  };
}
