import type { Clock } from "../../base/time/clock.ts";
import type { Lease, Leases } from "../../base/time/lease.ts";

/** The dependencies of a task leader. */
interface TaskLeaderParts {
  readonly leases: Leases;
  readonly clock: Pick<Clock, "now">;
  /** The name of the tasks that one process performs for all. */
  readonly name: string;
  /** The gateway's id. */
  readonly owner: string;
}

/** How long a leader that has died is waited for. Milliseconds. */
const LEASE_MS = 30_000;
/** How often the leader renews its lease, and the others request it. Milliseconds. */
const CHECK_MS = 10_000;

/**
 * Decides which of several gateways performs the recurring tasks, such as sweeps, for all of them. The leader keeps the lease between
 * tasks, so that nearly every check is answered without the store.
 */
export class TaskLeader {
  private lease: Lease | null = null;
  private checkedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: TaskLeaderParts) {}

  /** Returns whether this process does the tasks now. Rejects with a `StoreError` if the store is unavailable. */
  async isLeader(): Promise<boolean> {
    const now = this.parts.clock.now();
    if (now >= this.checkedAt && now - this.checkedAt < CHECK_MS) return this.lease !== null;
    if (this.lease !== null && !(await this.lease.renew(LEASE_MS))) this.lease = null;
    this.lease ??= await this.acquire();
    this.checkedAt = now;
    return this.lease !== null;
  }

  /** Lets another process lead immediately. */
  async resign(): Promise<void> {
    const { lease } = this;
    this.lease = null;
    await lease?.release();
  }

  private acquire(): Promise<Lease | null> {
    const { leases, name, owner } = this.parts;
    return leases.acquire({ name, owner, durationMs: LEASE_MS });
  }
}
