import type { Lease, LeaseRequest, Leases } from "../../base/time/lease.ts";

/** A state that has a beginning and an end, such as a provider that is down. */
interface Incident {
  /** Identifies it among all incidents: `provider-openai`. */
  readonly name: string;
  readonly isActive: boolean;
  /** Called by one of several gateways when the first of them sees the incident. */
  readonly onBegin: () => void;
  /** Called by one of several gateways when none of them sees it any more. */
  readonly onEnd?: () => void;
}

/** The dependencies of following incidents. */
interface IncidentParts {
  /** Null if no other gateway shares the stores. */
  readonly leases: Leases | null;
  /** The gateway's id. */
  readonly owner: string;
}

/** How long the incident of a gateway that has died is remembered by the others. Milliseconds. */
const LEASE_MS = 60_000;

/** `followed`: another gateway has reported it. `ending`: it is over here, and reported as over unless another gateway still sees it. */
type State =
  | { readonly kind: "reported"; readonly lease: Lease }
  | { readonly kind: "followed" }
  | { readonly kind: "ending" };

/**
 * Reports the beginning and the end of incidents that several gateways see, each once. The first gateway that sees an incident takes its
 * lease and reports it. When it no longer sees the incident, it releases the lease, and another gateway that still sees the incident takes
 * it silently. The end is reported by the gateway that can take the lease again, because no other one has it.
 */
export class Incidents {
  private readonly states = new Map<string, State>();

  constructor(private readonly parts: IncidentParts) {}

  /** Compares an incident with its last state. Called at intervals. Rejects with a `StoreError` if the store is unavailable. */
  async update(incident: Incident): Promise<void> {
    const { name, isActive } = incident;
    const state = this.states.get(name);
    if (isActive) this.states.set(name, await this.keep(incident, state));
    else if (state?.kind === "reported") {
      this.states.set(name, { kind: "ending" });
      await state.lease.release();
    } else if (state !== undefined) {
      this.states.delete(name);
      if (state.kind === "ending") await this.end(incident);
    }
  }

  private async keep(incident: Incident, state: State | undefined): Promise<State> {
    if (state?.kind === "reported" && (await state.lease.renew(LEASE_MS))) return state;
    const lease = await this.acquire(incident.name);
    if (lease === null) return { kind: "followed" };
    if (state === undefined) incident.onBegin();
    return { kind: "reported", lease };
  }

  private async end({ name, onEnd }: Incident): Promise<void> {
    const lease = await this.acquire(name);
    if (lease === null) return;
    onEnd?.();
    await lease.release();
  }

  private acquire(name: string): Promise<Lease | null> {
    const { leases, owner } = this.parts;
    const request = { name: `event-${name}`, owner, durationMs: LEASE_MS };
    return leases === null ? Promise.resolve(createLocalLease(request)) : leases.acquire(request);
  }
}

/** A lease that no other process requests. */
function createLocalLease({ name, owner }: LeaseRequest): Lease {
  return { name, owner, endsAt: Number.POSITIVE_INFINITY, renew: async () => true, async release() {} };
}
