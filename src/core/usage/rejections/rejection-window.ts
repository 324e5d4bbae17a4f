import { addToSum, type Rejection } from "./rejection.ts";

/**
 * The number of rows that each process writes in a minute: of one client address without a known key, one key, one account, all callers
 * with a known key, and all others. Requests over a bound are summed.
 */
export const ROWS_A_MINUTE = { address: 10, key: 20, account: 40, known: 300, unknown: 30 } as const;

/** The number of sums in a minute. Further ones are joined with all of the same code. */
export const SUMS_A_MINUTE = { known: 60, unknown: 20 } as const;

type Bound = keyof typeof ROWS_A_MINUTE;

/** The rejections of one minute: counts those that get rows of their own, and sums the others. Bounded, however many there are. */
export class RejectionWindow {
  /** The rows by caller. It has an entry only for callers with a row, so the bounds on rows bound it. */
  private readonly rows = new Map<string, number>();
  private readonly sums = new Map<string, Rejection>();
  private readonly groups = { known: 0, unknown: 0 };

  /** Returns whether a rejection gets a row of its own. Otherwise it is summed. */
  takes(rejection: Rejection): boolean {
    const bounds = listBounds(rejection);
    if (bounds.some(([bound, name]) => (this.rows.get(name) ?? 0) >= ROWS_A_MINUTE[bound])) {
      this.sum(rejection);
      return false;
    }
    for (const [, name] of bounds) this.rows.set(name, (this.rows.get(name) ?? 0) + 1);
    return true;
  }

  /** Returns the sums, a row each. */
  listSums(): readonly Rejection[] {
    return [...this.sums.values()];
  }

  private sum(rejection: Rejection): void {
    const kind = kindOf(rejection);
    const own = [kind, rejection.accountId ?? rejection.addressHash, rejection.code].join("\n");
    const before = this.sums.get(own);
    if (before !== undefined) this.sums.set(own, addToSum(before, rejection));
    else if (this.groups[kind] < SUMS_A_MINUTE[kind]) {
      this.groups[kind] += 1;
      this.sums.set(own, rejection);
    } else this.join([kind, rejection.code].join("\n"), rejection);
  }

  /** Adds to the sum of all further callers. Their number is that of the error codes. */
  private join(name: string, rejection: Rejection): void {
    const before = this.sums.get(name);
    this.sums.set(name, before === undefined ? rejection : addToSum(before, rejection));
  }
}

function kindOf({ keyId }: Rejection): "known" | "unknown" {
  return keyId === null ? "unknown" : "known";
}

/** Returns what a rejection counts for, with the names of its counters. */
function listBounds(rejection: Rejection): readonly (readonly [Bound, string])[] {
  const { addressHash, keyId, keyFingerprint, accountId } = rejection;
  const key = keyId ?? keyFingerprint;
  const kind = kindOf(rejection);
  return [
    // Many callers with keys may share the address of a proxy.
    ...(addressHash === null || keyId !== null ? [] : [["address", `address\n${addressHash}`] as const]),
    ...(key === null ? [] : [["key", `key\n${key}`] as const]),
    ...(accountId === null ? [] : [["account", `account\n${accountId}`] as const]),
    [kind, kind],
  ];
}
