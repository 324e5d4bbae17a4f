import type { Clock } from "./clock.ts";

/** A request for a lease. */
export interface LeaseRequest {
  /** The task or resource that the lease is for. */
  readonly name: string;
  /** The process that asks: a gateway's id, or one of a command. */
  readonly owner: string;
  /** How long the lease lasts unless it is renewed. Milliseconds. */
  readonly durationMs: number;
}

/** A time-limited exclusive right to a task or resource. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** When it ends, in milliseconds since the epoch. Work that may take longer renews it before. */
  readonly endsAt: number;
  /**
   * Makes the lease end `durationMs` from now. Returns false if it has ended or was released: another owner may hold it, and the
   * work must stop.
   */
  renew(durationMs: number): Promise<boolean>;
  /** Ends the lease. No-op if it has ended. */
  release(): Promise<void>;
}

/**
 * Gives leases to the processes that share a store. At most one lease of a name is in force, even among requests of the same owner. The
 * lease of an owner that has died ends at `endsAt`, or earlier if the store notices the death.
 */
export interface Leases {
  /** Returns null while a lease of that name is in force. Rejects with a `StoreError` if the store is unavailable. */
  acquire(request: LeaseRequest): Promise<Lease | null>;
}

/** The inputs of `withLease` besides the request. */
interface LeasedWork<T> {
  readonly leases: Leases;
  /** Renews the lease while the work runs. */
  readonly clock: Pick<Clock, "every">;
  readonly request: LeaseRequest;
  /** Calls `confirm` before it writes what another owner of the lease could write too. */
  readonly work: (confirm: ConfirmLease) => Promise<T>;
}

/** Renews the lease. Rejects with a `LeaseLostError` if it has ended, as of a process that was paused: the work must stop. */
export type ConfirmLease = () => Promise<void>;

/** How often a lease is renewed in the time that it lasts: one renewal may fail. */
const RENEWALS = 3;

/** Thrown when another lease of the same name is in force. */
export class LeaseTakenError extends Error {}

/** Thrown when a lease has ended before its work has. */
export class LeaseLostError extends Error {}

/**
 * Does work under a lease, which is renewed until the work has ended. Returns what the work returns, and rejects with what it throws.
 * @throws LeaseTakenError, without doing the work, while another lease of that name is in force.
 */
export async function withLease<T>({ leases, clock, request, work }: LeasedWork<T>): Promise<T> {
  const lease = await leases.acquire(request);
  if (lease === null) throw new LeaseTakenError(`another lease of "${request.name}" is in force`);
  const renewal = clock.every(request.durationMs / RENEWALS, () => {
    // A renewal that fails is tried again; the lease ends at its time if none succeeds.
    lease.renew(request.durationMs).catch(() => {});
  });
  const confirm = async (): Promise<void> => {
    if (!(await lease.renew(request.durationMs)))
      throw new LeaseLostError(`the lease of "${request.name}" has ended before its work`);
  };
  try {
    return await work(confirm);
  } finally {
    renewal.cancel();
    await lease.release();
  }
}
