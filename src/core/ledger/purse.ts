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
export interface HoldWish {
  /** The generation's id. */
  readonly id: string;
  readonly accountId: string;
  /** How far below zero the account may go, nanodollars; null: as far as it likes. */
  readonly overdraft: number | null;
  /** The worst case, nanodollars. */
  readonly amount: number;
  readonly limits: readonly SpendLimit[];
  /** When it ends by itself, milliseconds since the epoch: nothing sticks, whatever goes wrong. */
  readonly expiresAt: number;
}

/** Whether a hold was taken. `available` is what is left to hold; nanodollars. */
export type HoldVerdict =
  | { readonly kind: "held" }
  | {
      readonly kind: "refused";
      readonly by: "account" | SpendLimit["of"];
      readonly available: number;
      readonly required: number;
    };

/**
 * What accounts have and what is held of it, in the memory of this process, which is the only one that spends from its
 * data directory. Taking a hold looks at the balance and at every limit and changes all of them or none, so no number
 * of requests at once can spend the same money.
 */
export interface Purse {
  isLoaded(accountId: string): boolean;
  /** Takes over an account's balance as the store has it; once. */
  load(accountId: string, balance: number): void;
  /** Whether the meter stands for a period; else `loadMeter` first. */
  isMetered(limit: SpendLimit): boolean;
  loadMeter(limit: SpendLimit, spent: number): void;
  /** Money that came in or went out beside generations. Of an account that is not loaded nothing need be known. */
  deposit(accountId: string, amount: number): void;
  /** Holds the worst case, or says what is in the way. The account must be loaded, and its limits metered. */
  hold(wish: HoldWish): HoldVerdict;
  /** The generation is over and has cost `cost`, which may be 0; its hold is gone. Without a hold nothing happens. */
  settle(id: string, cost: number): void;
  /** Lets go of holds whose time is up; gives how many there were. What such a generation costs counts all the same. */
  sweep(now: number): number;
  /** Nanodollars; null where it is not loaded. */
  balanceOf(accountId: string): { readonly balance: number; readonly held: number } | null;
  /** Holds under way, for people to look at. */
  holds(): readonly Pick<HoldWish, "id" | "accountId" | "amount">[];
}

interface Hold {
  readonly wish: HoldWish;
  /** Its time was up: nothing is held for it any more. */
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

/** An empty purse. */
export function createPurse(): Purse {
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

  const release = ({ wish }: Hold): void => {
    accountOf(wish.accountId).held -= wish.amount;
    for (const limit of wish.limits) {
      const meter = findMeter(limit);
      if (meter !== undefined) meter.held -= wish.amount;
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
      const account = accountOf(wish.accountId);
      const refusal = findRefusal(wish, account, meterOf);
      if (refusal !== null) return refusal;
      account.held += wish.amount;
      for (const limit of wish.limits) meterOf(limit).held += wish.amount;
      holds.set(wish.id, { wish, isLapsed: false });
      return HELD;
    },
    settle(id, cost) {
      const hold = holds.get(id);
      if (hold === undefined) return;
      holds.delete(id);
      if (!hold.isLapsed) release(hold);
      charge(hold, cost);
    },
    sweep(now) {
      let lapsed = 0;
      for (const [id, hold] of holds) {
        if (hold.wish.expiresAt + LAPSED_MS <= now) holds.delete(id);
        if (hold.isLapsed || hold.wish.expiresAt > now) continue;
        release(hold);
        hold.isLapsed = true;
        lapsed += 1;
      }
      return lapsed;
    },
    balanceOf(accountId) {
      const account = accounts.get(accountId);
      return account === undefined ? null : { ...account };
    },
    holds: () => [...holds.values()].filter(({ isLapsed }) => !isLapsed).map(({ wish }) => wish),
  };
}

const HELD: HoldVerdict = { kind: "held" };

function findRefusal(
  { amount, overdraft, limits }: HoldWish,
  { balance, held }: Account,
  meterOf: (limit: SpendLimit) => Meter,
): HoldVerdict | null {
  const available = balance - held + (overdraft ?? 0);
  if (overdraft !== null && available < amount) return refuse("account", available, amount);
  for (const limit of limits) {
    if (limit.limit === null) continue;
    const meter = meterOf(limit);
    const left = limit.limit - meter.spent - meter.held;
    if (left < amount) return refuse(limit.of, left, amount);
  }
  return null;
}

function refuse(by: "account" | SpendLimit["of"], available: number, required: number): HoldVerdict {
  return { kind: "refused", by, available: Math.max(0, available), required };
}
