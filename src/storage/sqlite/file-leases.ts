import { join } from "node:path";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { Lease, LeaseRequest, Leases } from "../../base/time/lease.ts";
import { type FileLock, lockFile } from "./connection/data-lock.ts";

/**
 * Leases of the processes that share a data directory, as locked files. The operating system ends the leases of a process that
 * dies. A process that does not renew a lease unlocks its file when the lease ends.
 */
export class FileLeases implements Leases {
  constructor(
    private readonly dataDir: string,
    private readonly clock: Clock,
  ) {}

  async acquire(request: LeaseRequest): Promise<Lease | null> {
    const lock = lockFile(join(this.dataDir, `${request.name}-lock.db`));
    return lock === null ? null : new FileLease(request, lock, this.clock);
  }
}

class FileLease implements Lease {
  readonly name: string;
  readonly owner: string;
  endsAt = 0;
  private isHeld = true;
  private end: Timer | null = null;

  constructor(
    { name, owner, durationMs }: LeaseRequest,
    private readonly lock: FileLock,
    private readonly clock: Clock,
  ) {
    this.name = name;
    this.owner = owner;
    this.schedule(durationMs);
  }

  async renew(durationMs: number): Promise<boolean> {
    if (this.isHeld) this.schedule(durationMs);
    return this.isHeld;
  }

  async release(): Promise<void> {
    this.unlock();
  }

  private schedule(durationMs: number): void {
    this.end?.cancel();
    this.endsAt = this.clock.now() + durationMs;
    this.end = this.clock.after(durationMs, () => this.unlock());
  }

  private unlock(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.end?.cancel();
    this.lock.release();
  }
}
