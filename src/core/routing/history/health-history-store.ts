import type { HistoryRange } from "./history-ranges.ts";
import type { Incident, IncidentReport } from "./incident.ts";
import type { OutcomeCounts } from "./outcome-counts.ts";

/** The outcomes of a provider's attempts in one bucket of a range. */
export interface OutcomeSum extends OutcomeCounts {
  readonly provider: string;
  readonly range: HistoryRange;
  /** When the bucket began. Milliseconds since the epoch. */
  readonly beganAt: number;
}

/** Which sums are read. */
interface OutcomeQuery {
  readonly range: HistoryRange;
  /** The beginning of the first bucket. Milliseconds since the epoch. */
  readonly from: number;
  /** Null for all providers. */
  readonly provider: string | null;
}

/** Which incidents are listed. */
export interface IncidentFilter {
  /** Null for all providers. */
  readonly provider: string | null;
  /** Whether the incident lasts; null for all. */
  readonly isOpen: boolean | null;
  /** Only incidents before the one with this id; null for the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** Stores what was observed of providers. Several processes may share one. */
export interface HealthHistoryStore {
  /** Adds to the sums of all gateways. */
  addOutcomes(sums: readonly OutcomeSum[]): Promise<void>;
  /** Lists the sums with attempts by provider and time. */
  listOutcomes(query: OutcomeQuery): Promise<readonly OutcomeSum[]>;
  /** Begins, continues or ends the incident of a provider, which all gateways share. */
  reportIncident(report: IncidentReport): Promise<void>;
  /** Lists incidents as they are at `now`, newest first. */
  listIncidents(filter: IncidentFilter, now: number): Promise<readonly Incident[]>;
  /** Ends the incidents that no gateway reports any more, and deletes what is beyond its retention. */
  sweepHistory(now: number): Promise<void>;
}

/** How long incidents are kept, and how many. Milliseconds. */
export const INCIDENTS_MS = 90 * 86_400_000;
export const MAX_INCIDENTS = 10_000;
