import { BoundedMap } from "../../base/collections/bounded-map.ts";
import type { Clock } from "../../base/time/clock.ts";

/** How much is counted, and for how long. */
interface WindowOptions {
  readonly max: number;
  /** Milliseconds. */
  readonly windowMs: number;
}

interface Window {
  readonly count: number;
  /** When the count begins again. Milliseconds since the epoch. */
  readonly until: number;
}

const MAX_IDS = 10_000;

/** Counts events by id in fixed windows, in the memory of one process. */
export class WindowCounter {
  private readonly windows = new BoundedMap<string, Window>({ max: MAX_IDS });

  constructor(
    private readonly clock: Clock,
    private readonly options: WindowOptions,
  ) {}

  /** Counts an event of `id`. Returns null, or the seconds until the next window if the maximum is reached. */
  take(id: string): number | null {
    const now = this.clock.now();
    const known = this.windows.get(id);
    const { count, until } =
      known !== undefined && known.until > now ? known : { count: 0, until: now + this.options.windowMs };
    if (count >= this.options.max) return Math.ceil((until - now) / 1000);
    this.windows.set(id, { count: count + 1, until });
    return null;
  }

  /** Takes back one event of `id`. */
  giveBack(id: string): void {
    const known = this.windows.get(id);
    if (known !== undefined) this.windows.set(id, { ...known, count: Math.max(0, known.count - 1) });
  }
}
