import type { Clock, Timer } from "../time/clock.ts";
import { Linked, LinkedSet } from "./linked-set.ts";

/** One wait of a list. */
export interface Wait {
  /** Restarts its time. */
  restart(): void;
  /** Ends the wait before it expires. Idempotent. */
  end(): void;
}

/** A class in place of closures, because every request has waits. */
class ListedWait extends Linked implements Wait {
  since: number;

  constructor(
    private readonly list: WaitList,
    private readonly onExpired: (owner: never) => void,
    private readonly owner: unknown,
  ) {
    super();
    this.since = list.clock.now();
  }

  expire(): void {
    this.onExpired(this.owner as never);
  }

  restart(): void {
    this.list.restart(this);
  }

  end(): void {
    this.list.end(this);
  }
}

/** Waits with a timeout of `limitMs` each. All waits share one timer. A wait that ends in time does not touch it, so short waits are cheap. */
export class WaitList {
  /** The longest wait first. */
  private readonly waits = new LinkedSet<ListedWait>();
  private timer: Timer | null = null;

  constructor(
    readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** The number of waits. */
  get size(): number {
    return this.waits.size;
  }

  /** Begins a wait. If it does not end in time, `onExpired` is called once, with the `owner` if one was given, so that it needs no closure. */
  begin(onExpired: () => void): Wait;
  begin<Owner>(onExpired: (owner: Owner) => void, owner: Owner): Wait;
  begin(onExpired: (owner: never) => void, owner?: unknown): Wait {
    const wait = new ListedWait(this, onExpired, owner);
    this.waits.add(wait);
    this.timer ??= this.clock.after(this.limitMs, () => this.expireDue());
    return wait;
  }

  /** Restarts a wait of this list, unless it has ended or expired. */
  restart(wait: ListedWait): void {
    if (!this.waits.delete(wait)) return;
    wait.since = this.clock.now();
    this.waits.add(wait);
  }

  /** Ends a wait of this list. */
  end(wait: ListedWait): void {
    this.waits.delete(wait);
  }

  /** Expires the longest wait. */
  expireLongest(): void {
    const { first } = this.waits;
    if (first !== null) this.expire(first);
  }

  private expireDue(): void {
    this.timer = null;
    const now = this.clock.now();
    for (let { first } = this.waits; first !== null; first = this.waits.first) {
      const leftMs = first.since + this.limitMs - now;
      if (leftMs > 0) {
        this.timer ??= this.clock.after(leftMs, () => this.expireDue());
        return;
      }
      this.expire(first);
    }
  }

  private expire(wait: ListedWait): void {
    this.waits.delete(wait);
    wait.expire();
  }
}
