import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { MINUTE_MS } from "../../../base/time/time.ts";
import type { Trouble } from "./find-trouble.ts";
import type { HealthHistoryStore } from "./health-history-store.ts";
import { addTallies, type FailureSample, type FailureTally, NO_FAILURES } from "./incident.ts";

/** The dependencies of reporting incidents. */
interface IncidentRecorderParts {
  readonly store: Pick<HealthHistoryStore, "reportIncident">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: IdSource;
  /** The gateway's id. */
  readonly observer: string;
}

/** How often an incident that lasts is reported again. Milliseconds. */
const REPORT_MS = 10_000;
/** Failures this long before an incident belong to it: they are what has opened the circuit. Milliseconds. */
const RECENT_MS = MINUTE_MS;

/** What this gateway knows of a provider's failures. */
interface FollowedProvider {
  /** The failures since the last report, or since `since` if there is no incident. */
  recent: FailureTally;
  /** The failures of the minute before `since`. */
  earlier: FailureTally;
  since: number;
  /** The last trouble that was reported; null if there is no incident, or if its end was reported. */
  reported: Trouble | null;
  reportedAt: number;
}

/** Tallies the failures of providers, and reports the incidents that this gateway sees. Requests only add to numbers in memory. */
export class IncidentRecorder {
  private readonly providers = new Map<string, FollowedProvider>();

  constructor(private readonly parts: IncidentRecorderParts) {}

  /** Adds a failed attempt. */
  addFailure(provider: string, sample: FailureSample): void {
    const { type, status } = sample;
    const failures = [{ type, status, count: 1 }];
    this.add(provider, { ...NO_FAILURES, failures, sample, failedAttempts: 1 });
  }

  /** Adds a request that the provider failed, and that another candidate answered (`saved`) or none. */
  addRequest(provider: string, end: "saved" | "failed"): void {
    this.add(provider, { ...NO_FAILURES, [end === "saved" ? "savedRequests" : "failedRequests"]: 1 });
  }

  /**
   * Reports the trouble of a provider, if it is new, was reported long ago, or is over. `force` reports it in any case. Rejects with a
   * `StoreError`; what is not reported is kept for the next call.
   */
  async report(provider: string, trouble: Trouble | null, force = false): Promise<void> {
    const now = this.parts.clock.now();
    const followed = this.providers.get(provider);
    if (trouble === null && (followed?.reported ?? null) === null) return;
    const state = followed ?? this.follow(provider, now);
    if (trouble !== null && !force && isReported(state, trouble, now)) return;
    forgetOld(state, now);
    const tally = addTallies(state.earlier, state.recent);
    Object.assign(state, { earlier: NO_FAILURES, recent: NO_FAILURES, since: now });
    const { store, ids, observer } = this.parts;
    const { level, models } = trouble ?? state.reported ?? { level: "degraded", models: [] };
    const report = {
      ...{ id: ids.next("inc"), provider, observer, level, models, at: now },
      ...{ isSeen: trouble !== null, isContinued: state.reported !== null },
    };
    await store.reportIncident({ ...report, ...tally }).catch((error) => {
      state.recent = addTallies(tally, state.recent);
      throw error;
    });
    Object.assign(state, { reported: trouble, reportedAt: now });
  }

  private add(provider: string, tally: FailureTally): void {
    const now = this.parts.clock.now();
    const state = this.providers.get(provider) ?? this.follow(provider, now);
    forgetOld(state, now);
    state.recent = addTallies(state.recent, tally);
  }

  private follow(provider: string, now: number): FollowedProvider {
    const none = { recent: NO_FAILURES, earlier: NO_FAILURES };
    const state: FollowedProvider = { ...none, since: now, reported: null, reportedAt: 0 };
    this.providers.set(provider, state);
    return state;
  }
}

/** Drops failures that are too old to belong to an incident that begins now. */
function forgetOld(state: FollowedProvider, now: number): void {
  const age = now - state.since;
  if (state.reported !== null || age < RECENT_MS) return;
  const earlier = age < 2 * RECENT_MS ? state.recent : NO_FAILURES;
  Object.assign(state, { earlier, recent: NO_FAILURES, since: now });
}

function isReported({ reported, reportedAt }: FollowedProvider, trouble: Trouble, now: number): boolean {
  if (reported === null || now - reportedAt >= REPORT_MS) return false;
  return reported.level === trouble.level && trouble.models.every((model) => reported.models.includes(model));
}
