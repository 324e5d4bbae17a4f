import { MINUTE_MS } from "../../../base/time/time.ts";

/** `down`: the provider as a whole was not called, or rejected all platform keys. `degraded`: only some of its models were not called. */
export const INCIDENT_LEVELS = ["degraded", "down"] as const;

export type IncidentLevel = (typeof INCIDENT_LEVELS)[number];

/** How an incident ended. `unobserved`: every gateway that saw it has stopped or died. */
export const INCIDENT_ENDS = ["recovered", "unobserved"] as const;

/** Attempts that failed in the same way. */
export interface FailureKind {
  /** Error code of the gateway; `other` for those beyond the maximum. */
  readonly type: string;
  /** HTTP status of the provider; null if none was received. */
  readonly status: number | null;
  readonly count: number;
}

/** The last failure of an incident, as an example. */
export interface FailureSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly model: string;
  readonly type: string;
  readonly status: number | null;
  /** What the provider said, or what happened to the connection; null if it may not be stored. */
  readonly message: string | null;
  readonly generationId: string;
}

/** What has failed at a provider. */
export interface FailureTally {
  /** By count, the most frequent first. */
  readonly failures: readonly FailureKind[];
  /** Null without a failure. */
  readonly sample: FailureSample | null;
  readonly failedAttempts: number;
  /** Requests that the provider failed and another candidate answered. */
  readonly savedRequests: number;
  /** Requests that the provider failed and no candidate answered. */
  readonly failedRequests: number;
}

/** A time in which a provider did not answer as it should. All gateways that share a store see one incident. */
export interface Incident extends FailureTally {
  /** Sorts by the time at which it began. */
  readonly id: string;
  readonly provider: string;
  /** The worst level so far. */
  readonly level: IncidentLevel;
  /** The models that were affected, by id. At most 50. */
  readonly models: readonly string[];
  /** Milliseconds since the epoch, as all times. */
  readonly beganAt: number;
  /** Null while it lasts. */
  readonly endedAt: number | null;
  readonly end: (typeof INCIDENT_ENDS)[number] | null;
  /** When a gateway reported it last. */
  readonly seenAt: number;
  /** When each gateway that sees it reported it last. */
  readonly observers: Readonly<Record<string, number>>;
}

/** What one gateway reports of a provider. */
export interface IncidentReport extends FailureTally {
  /** The id of the incident if it is a new one. */
  readonly id: string;
  readonly provider: string;
  /** The id of the gateway. */
  readonly observer: string;
  /** Whether the gateway sees the incident, or sees it no longer. */
  readonly isSeen: boolean;
  /** Whether the gateway has seen the incident all the time since its last report, however long ago that was. */
  readonly isContinued: boolean;
  readonly level: IncidentLevel;
  readonly models: readonly string[];
  readonly at: number;
}

/** How long a gateway counts as seeing an incident after its last report. Milliseconds. */
export const OBSERVED_MS = MINUTE_MS;
/** A provider that fails again this soon continues its last incident. Milliseconds. */
const REOPEN_MS = 2 * MINUTE_MS;
const MAX_MODELS = 50;
const MAX_KINDS = 20;

/** The type of all failures beyond the maximum number of kinds. */
const OTHER = "other";

export const NO_FAILURES: FailureTally = {
  failures: [],
  sample: null,
  failedAttempts: 0,
  savedRequests: 0,
  failedRequests: 0,
};

/** Returns the sum of two tallies. `later` has the later failures. */
export function addTallies(tally: FailureTally, later: FailureTally): FailureTally {
  return {
    failures: addKinds(tally.failures, later.failures),
    sample: later.sample ?? tally.sample,
    failedAttempts: tally.failedAttempts + later.failedAttempts,
    savedRequests: tally.savedRequests + later.savedRequests,
    failedRequests: tally.failedRequests + later.failedRequests,
  };
}

/**
 * Returns a provider's incident after a report. `last` is the provider's last incident, null if it had none; its observers that stopped
 * reporting are removed. Returns null if nothing changes: the gateway no longer sees an incident that has already ended.
 */
export function applyReport(last: Incident | null, report: IncidentReport): Incident | null {
  const { at, observer } = report;
  const isOpen = last !== null && (last.endedAt === null || isStillSeen(last, report));
  if (!report.isSeen && !isOpen) return null;
  const before = last !== null && (isOpen || isRecent(last, at)) ? last : createIncident(report);
  const observers = listObservers(before, at).filter(([id]) => id !== observer);
  if (report.isSeen) observers.push([observer, at]);
  const isOver = observers.length === 0;
  return {
    ...before,
    ...addTallies(before, report),
    level: before.level === "down" ? "down" : report.level,
    models: [...new Set([...before.models, ...report.models])].slice(0, MAX_MODELS),
    endedAt: isOver ? at : null,
    end: isOver ? "recovered" : null,
    seenAt: Math.max(before.seenAt, at),
    observers: Object.fromEntries(observers),
  };
}

/** Returns an incident as it is at `now`: one that no gateway reports any more has ended with its last report. */
export function endUnobserved(incident: Incident, now: number): Incident {
  if (incident.endedAt !== null || incident.seenAt > now - OBSERVED_MS) return incident;
  return { ...incident, endedAt: incident.seenAt, end: "unobserved" };
}

function createIncident({ id, provider, level, at }: IncidentReport): Incident {
  return {
    ...NO_FAILURES,
    ...{ id, provider, level, models: [], beganAt: at, endedAt: null, end: null, seenAt: at, observers: {} },
  };
}

/** Whether an incident only seemed to be over, because its gateway could not report it for a while. */
function isStillSeen({ end, observers }: Incident, { isContinued, observer }: IncidentReport): boolean {
  return end === "unobserved" && isContinued && observer in observers;
}

function isRecent({ endedAt }: Incident, at: number): boolean {
  return endedAt !== null && at - endedAt < REOPEN_MS;
}

function listObservers({ observers }: Incident, at: number): (readonly [string, number])[] {
  return Object.entries(observers).filter(([, seenAt]) => seenAt > at - OBSERVED_MS);
}

function addKinds(kinds: readonly FailureKind[], added: readonly FailureKind[]): readonly FailureKind[] {
  if (added.length === 0) return kinds;
  const sums = new Map<string, FailureKind>();
  for (const kind of [...kinds, ...added]) {
    const isNew = !sums.has(nameOf(kind));
    const { type, status } = isNew && sums.size >= MAX_KINDS ? { type: OTHER, status: null } : kind;
    const name = nameOf({ type, status });
    sums.set(name, { type, status, count: (sums.get(name)?.count ?? 0) + kind.count });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count);
}

function nameOf({ type, status }: Pick<FailureKind, "type" | "status">): string {
  return `${type} ${status}`;
}
