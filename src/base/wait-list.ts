import type { Clock, Timer } from "./clock.ts";

/** One wait of a list. */
export interface Wait {
  /** Restarts its time. */
  restart(): void;
  /** Ends the wait before it expires. Idempotent. */
  end(): void;
}

interface ListedWait {
  since: number;
  readonly onExpired: () => void;
}

/**
 * Waits with a limit of `limitMs` each. All waits share one timer, which a wait that ends in time does not touch, so that short waits
 * are cheap.
 */
export class WaitList {
  /** The longest wait first. */
  private readonly waits = new Set<ListedWait>();
  private timer: Timer | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** The number of waits. */
  get size(): number {
    return this.waits.size;
  }

  /** Begins a wait. `onExpired` is called once if the wait does not end in time. */
  begin(onExpired: () => void): Wait {
    const wait: ListedWait = { since: this.clock.now(), onExpired };
    this.waits.add(wait);
    this.timer ??= this.clock.after(this.limitMs, () => this.expireDue());
    return {
      restart: () => {
        if (!this.waits.delete(wait)) return;
        wait.since = this.clock.now();
        this.waits.add(wait);
      },
      end: () => void this.waits.delete(wait),
    };
  }

  /** Expires the longest wait. */
  expireLongest(): void {
    for (const wait of this.waits) {
      this.expire(wait);
      return;
    }
  }

  private expireDue(): void {
    this.timer = null;
    const now = this.clock.now();
    for (const wait of this.waits) {
      const leftMs = wait.since + this.limitMs - now;
      if (leftMs > 0) {
        this.timer ??= this.clock.after(leftMs, () => this.expireDue());
        return;
      }
      this.expire(wait);
    }
  }

  private expire(wait: ListedWait): void {
    this.waits.delete(wait);
    wait.onExpired();
  }
}
