/** A bound on the bytes that all callers hold together, and on those that each caller holds. */
export interface ByteBudget {
  /** Opens an empty share. Shares of one holder count together. */
  openShare(holder: string): ByteShare;
}

/** The bound that is reached: of all holders together, or of one. */
export type ByteShortage = "all" | "holder";

/** The bytes that are held for one purpose. */
export interface ByteShare {
  /** Returns the bound that prevents taking so many more bytes now; null if none does. */
  shortageFor(bytes: number): ByteShortage | null;
  /** Takes more bytes. Returns false, and takes nothing, if they do not fit or the share was released. */
  take(bytes: number): boolean;
  /** Takes additional bytes like `take`, but always succeeds for the only holder, so that one request is always served. */
  takeBeside(bytes: number): boolean;
  /** Releases all bytes and closes the share. Idempotent. */
  giveBack(): void;
}

/** Creates a budget of `totalBytes`, of which one holder may hold `holderBytes`. */
export function createByteBudget(totalBytes: number, holderBytes: number): ByteBudget {
  let left = totalBytes;
  /** May exceed the budget, see `takeBeside`. */
  const heldByAll = () => totalBytes - left;
  /** By holder; holders of nothing are removed. */
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
