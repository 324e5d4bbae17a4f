import { SECOND_MS } from "../../base/time/time.ts";
import type { AgedAmounts } from "./limit-calls.ts";

/** The maximum number of scopes in one call. A scope is not divided, because it is restored only if Redis has nothing of it. */
const MAX_PER_CALL = 50;
/** Further scopes start at zero. */
const MAX_SCOPES = 100_000;

/** Requests of the last hour from before a start, for a server that does not know them. */
export class PastRequests {
  /** By key: how many requests in each second, the earliest first. */
  private readonly scopes = new Map<string, Map<number, number>>();

  add(key: string, at: number): void {
    const seconds = this.scopes.get(key) ?? new Map<number, number>();
    if (seconds.size === 0 && this.scopes.size >= MAX_SCOPES) return;
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
    this.scopes.set(key, seconds);
  }

  get isEmpty(): boolean {
    return this.scopes.size === 0;
  }

  /** Returns the requests of some of the scopes by age, and removes them. Defaults to as many as fit in one call. */
  take(
    now: number,
    keys: readonly string[] = [...this.scopes.keys()].slice(0, MAX_PER_CALL),
  ): readonly (readonly [key: string, hour: AgedAmounts])[] {
    const taken: (readonly [string, AgedAmounts])[] = [];
    for (const key of keys) {
      const seconds = this.scopes.get(key);
      if (seconds === undefined) continue;
      taken.push([key, [...seconds].flatMap(([second, requests]) => [Math.max(0, now - second), requests])]);
      this.scopes.delete(key);
    }
    return taken;
  }
}
