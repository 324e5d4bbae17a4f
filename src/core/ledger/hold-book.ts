/** A limit on what may be spent, and whose it is. */
export interface SpendLimit {
  /** Names the meter: `key:key_…`, `member:org_…/user_…`, `organization:org_…`. */
  readonly meter: string;
  /** Whom the refusal speaks of. */
  readonly of: "key" | "member" | "organization";
  /** Nanodollars in a period; null: none now. What is spent is counted all the same. */
  readonly limit: number | null;
  /** The first day of the period, counted from the epoch; each has a meter of its own. */
  readonly since: number;
}

/** A wish to hold money for a request. */
export interface HoldRequest {
  /** The generation's id. */
  readonly id: string;
  readonly accountId: string;
  /** How far below zero the account may go, nanodollars; null: as far as it likes. */
  readonly overdraft: number | null;
  /** What is to be held, nanodollars. */
  readonly amount: number;
  /** Less than this is no use; absent: less than `amount`. */
  readonly least?: number;
  /** More than this is no use; absent: more than `amount`. */
  readonly most?: number;
  readonly limits: readonly SpendLimit[];
  /** When it ends by itself, milliseconds since the epoch: nothing sticks, whatever goes wrong. */
  readonly expiresAt: number;
}

/** Who sets a bound on what may be held. */
export type HoldBound = "account" | SpendLimit["of"];

/** Whether a hold was taken. Amounts are nanodollars. */
export type HoldVerdict =
  | {
      readonly kind: "held";
      readonly amount: number;
      /** What could have been held at that instant; infinite where nothing bounds it. */
      readonly available: number;
      /** Who sets that bound. */
      readonly by: HoldBound;
    }
  | {
      readonly kind: "refused";
      readonly by: HoldBound;
      /** What is left to hold. */
      readonly available: number;
      readonly required: number;
    };

/**
 * What accounts have and what is held of it, in the memory of this process, which is the only one that spends from its
 * data directory. Taking a hold looks at the balance and at every limit and changes all of them or none, so no number
 * of requests at once can spend the same money.
 */
export interface HoldBook {
  isLoaded(accountId: string): boolean;
  /** Takes over an account's balance as the store has it; once. */
  load(accountId: string, balance: number): void;
  /** Whether the meter stands for a period; else `loadMeter` first. */
  isMetered(limit: SpendLimit): boolean;
  loadMeter(limit: SpendLimit, spent: number): void;
  /** Money that came in or went out beside generations. Of an account that is not loaded nothing need be known. */
  deposit(accountId: string, amount: number): void;
  /**
   * Holds an amount, or says what is in the way. Where much is left it holds up to `most`, where little is left down to `least`,
   * and leaves something for others. The account must be loaded, and its limits metered.
   */
  hold(wish: HoldRequest): HoldVerdict;
  /** Raises a hold to `amount`, or as far as what is left allows; gives what is held then, 0 without a hold. */
  grow(id: string, amount: number): number;
  /** The generation is over and has cost `cost`, which may be 0; its hold is gone. Without a hold nothing happens. */
  settle(id: string, cost: number): void;
  /** Lets go of holds whose time is up; gives how many there were. What such a generation costs counts all the same. */
  sweep(now: number): number;
  /** Nanodollars; null where it is not loaded. */
  balanceOf(accountId: string): { readonly balance: number; readonly held: number } | null;
  /** Holds under way, for people to look at. */
  holds(): readonly Pick<HoldRequest, "id" | "accountId" | "amount">[];
}

interface Hold {
  readonly wish: HoldRequest;
  /** What is held for it now. */
  amount: number;
  /** Its time was up, and what was held for it was released. */
  isLapsed: boolean;
}

/** How long a hold that has lapsed is remembered, for a generation that goes on. Milliseconds. */
const LAPSED_MS = 86_400_000;

interface Account {
  balance: number;
  held: number;
}

interface Meter {
  readonly since: number;
  spent: number;
  held: number;
}

/** Periods of which a meter is kept: requests of the last one may still come when the next has begun. */
const PERIODS = 2;

/** An empty holdBook. */
export function createHoldBook(): HoldBook {
  const accounts = new Map<string, Account>();
  /** The newest period first. */
  const meters = new Map<string, readonly Meter[]>();
  const holds = new Map<string, Hold>();

  const accountOf = (id: string): Account => {
    const account = accounts.get(id);
    if (account === undefined) throw new Error(`the account ${id} is not loaded`);
    return account;
  };
  /** Undefined for a period that is not loaded, or long over. */
  const findMeter = ({ meter, since }: SpendLimit): Meter | undefined => {
    for (const period of meters.get(meter) ?? []) if (period.since === since) return period;
    return undefined;
  };
  const meterOf = (limit: SpendLimit): Meter => {
    const found = findMeter(limit);
    if (found === undefined) throw new Error(`the meter ${limit.meter} is not loaded`);
    return found;
  };

  /** Holds so much more, or less where it is negative. */
  const change = (hold: Hold, difference: number): void => {
    hold.amount += difference;
    accountOf(hold.wish.accountId).held += difference;
    for (const limit of hold.wish.limits) {
      const meter = findMeter(limit);
      if (meter !== undefined) meter.held += difference;
    }
  };

  const charge = ({ wish }: Hold, cost: number): void => {
    accountOf(wish.accountId).balance -= cost;
    for (const limit of wish.limits) {
      const meter = findMeter(limit);
      if (meter !== undefined) meter.spent += cost;
    }
  };

  return {
    isLoaded: (accountId) => accounts.has(accountId),
    load(accountId, balance) {
      if (!accounts.has(accountId)) accounts.set(accountId, { balance, held: 0 });
    },
    isMetered: (limit) => findMeter(limit) !== undefined,
    loadMeter(limit, spent) {
      if (findMeter(limit) !== undefined) return;
      const { meter, since } = limit;
      const periods = [...(meters.get(meter) ?? []), { since, spent, held: 0 }];
      meters.set(meter, periods.sort((a, b) => b.since - a.since).slice(0, PERIODS));
    },
    deposit(accountId, amount) {
      const account = accounts.get(accountId);
      if (account !== undefined) account.balance += amount;
    },
    hold(wish) {
      const { available, by } = findAvailable(wish, accountOf(wish.accountId), meterOf);
      const required = wish.least ?? wish.amount;
      if (available < required && required > 0)
        return { kind: "refused", by, available: Math.max(0, available), required };
      const hold: Hold = { wish, amount: 0, isLapsed: false };
      holds.set(wish.id, hold);
      change(hold, chooseAmount(wish, available));
      return { kind: "held", amount: hold.amount, available, by };
    },
    grow(id, amount) {
      const hold = holds.get(id);
      if (hold === undefined) return 0;
      const { wish } = hold;
      const { available } = findAvailable(wish, accountOf(wish.accountId), findMeter);
      change(hold, Math.max(0, Math.min(amount - hold.amount, available)));
      return hold.amount;
    },
    settle(id, cost) {
      const hold = holds.get(id);
      if (hold === undefined) return;
      holds.delete(id);
      change(hold, -hold.amount);
      // What is no amount of money is in no book either, and would make the balance one that is none.
      if (Number.isSafeInteger(cost)) charge(hold, cost);
    },
    sweep(now) {
      let lapsed = 0;
      for (const [id, hold] of holds) {
        if (hold.wish.expiresAt + LAPSED_MS <= now) holds.delete(id);
        if (hold.isLapsed || hold.wish.expiresAt > now) continue;
        change(hold, -hold.amount);
        hold.isLapsed = true;
        lapsed += 1;
      }
      return lapsed;
    },
    balanceOf(accountId) {
      const account = accounts.get(accountId);
      return account === undefined ? null : { ...account };
    },
    holds: () =>
      [...holds.values()]
        .filter(({ amount, isLapsed }) => amount > 0 || !isLapsed)
        .map(({ wish, amount }) => ({ id: wish.id, accountId: wish.accountId, amount })),
  };
}

/** What is left to hold, and by whose bound. A meter of a period that is long over bounds nothing. */
function findAvailable(
  { overdraft, limits }: HoldRequest,
  { balance, held }: Account,
  meterOf: (limit: SpendLimit) => Meter | undefined,
): { available: number; by: HoldBound } {
  let available = overdraft === null ? Number.POSITIVE_INFINITY : balance - held + overdraft;
  let by: HoldBound = "account";
  for (const limit of limits) {
    const meter = limit.limit === null ? undefined : meterOf(limit);
    if (limit.limit === null || meter === undefined) continue;
    const left = limit.limit - meter.spent - meter.held;
    if (left >= available) continue;
    available = left;
    by = limit.of;
  }
  return { available, by };
}

/** One hold takes an eighth of what is left at most, unless less than what is expected would remain. */
const SHARE = 8;

/**
 * How much to hold of what is left, which is at least the least. What is expected is taken where it is there. More, up to the
 * most, is taken of plenty alone, so that a few requests do not block all others over answers that they may never give; of
 * what does not reach, half is taken.
 */
function chooseAmount({ amount, least = amount, most = amount }: HoldRequest, available: number): number {
  const wanted = Math.min(most, Math.max(amount, Math.floor(available / SHARE)));
  return wanted <= available ? wanted : Math.max(least, Math.floor(available / 2));
}
