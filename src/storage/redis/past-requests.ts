import { SECOND_MS } from "../../base/time.ts";
import type { LimitChange } from "./limit-changes.ts";

/** Scopes in one call. A scope is not divided: it is restored only if nothing was counted for it before the call. */
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

  /** Returns the requests of some of the scopes as changes of one call, and removes them. Defaults to as many as fit in it. */
  take(keys: readonly string[] = [...this.scopes.keys()].slice(0, MAX_PER_CALL)): LimitChange[] {
    const changes: LimitChange[] = [];
    for (const key of keys) {
      for (const [first, second] of this.scopes.get(key) ?? [])
        changes.push({ key, what: "h=", first, second });
      this.scopes.delete(key);
    }
    return changes;
  }
}
