/** The holder of a place of the feed, other than the operator. */
export interface FeedOwner {
  readonly accountId: string;
  /** The member, or the service key. */
  readonly callerId: string;
}

/** The maximum number of subscribers: of the operator, of all accounts together, and of one caller of an account. */
export const FEED_PLACES = { operator: 32, accounts: 32, caller: 6 } as const;

interface Place<Holder> {
  readonly holder: Holder;
  readonly owner: FeedOwner;
}

/** The result of asking for a place. */
type PlaceVerdict<Holder> =
  /** `displaced` must leave; null if none must. */
  | { readonly kind: "taken"; readonly displaced: Holder | null }
  | { readonly kind: "full"; readonly by: keyof typeof FEED_PLACES };

/**
 * The places of a feed. The operator has separate places. Those of accounts are shared fairly: if all are taken, the account with the most
 * of them gives one to an account that has at least two less. So no account can exclude another one.
 */
export class FeedPlaces<Holder> {
  private readonly ofOperator = new Set<Holder>();
  /** In the order in which they were taken. */
  private ofAccounts: readonly Place<Holder>[] = [];

  /** `owner` is null for the operator. */
  take(holder: Holder, owner: FeedOwner | null): PlaceVerdict<Holder> {
    return owner === null ? this.takeOperators(holder) : this.takeAccounts({ holder, owner });
  }

  leave(holder: Holder): void {
    this.ofOperator.delete(holder);
    this.ofAccounts = this.ofAccounts.filter((place) => place.holder !== holder);
  }

  private takeOperators(holder: Holder): PlaceVerdict<Holder> {
    if (this.ofOperator.size >= FEED_PLACES.operator) return { kind: "full", by: "operator" };
    this.ofOperator.add(holder);
    return { kind: "taken", displaced: null };
  }

  private takeAccounts(place: Place<Holder>): PlaceVerdict<Holder> {
    const { accountId, callerId } = place.owner;
    const own = this.ofAccounts.filter(({ owner }) => owner.accountId === accountId);
    if (own.filter(({ owner }) => owner.callerId === callerId).length >= FEED_PLACES.caller)
      return { kind: "full", by: "caller" };
    const isFull = this.ofAccounts.length >= FEED_PLACES.accounts;
    const displaced = isFull ? this.findDisplaced(own.length) : null;
    if (isFull && displaced === null) return { kind: "full", by: "accounts" };
    if (displaced !== null) this.leave(displaced);
    this.ofAccounts = [...this.ofAccounts, place];
    return { kind: "taken", displaced };
  }

  /** Returns the newest place of the account with the most places, if it has at least two more than `count`. */
  private findDisplaced(count: number): Holder | null {
    const counts = new Map<string, number>();
    for (const { owner } of this.ofAccounts)
      counts.set(owner.accountId, (counts.get(owner.accountId) ?? 0) + 1);
    const most = Math.max(...counts.values());
    if (most < count + 2) return null;
    const last = this.ofAccounts.findLast(({ owner }) => counts.get(owner.accountId) === most);
    return last?.holder ?? null;
  }
}
