import type { StoreHealth } from "../../base/failures/store-health.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Journal } from "../../core/usage/journal/journal.ts";
import type { Recorder } from "../../core/usage/journal/recorder.ts";
import type { Readiness, Shutdown } from "../../http/context/context.ts";
import type { UnappliedRevision } from "../stored-config/start-config.ts";
import type { CommonState } from "../stores/common-state.ts";

/** The dependencies of readiness. */
interface ReadinessParts {
  readonly shutdown: Shutdown;
  readonly recorder: Recorder;
  readonly journal: Journal;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly common: Pick<CommonState, "problem">;
  /** Returns the latest stored configuration, if it cannot be applied. */
  readonly unapplied: () => UnappliedRevision | null;
}

/**
 * Returns whether a gateway can answer requests, and which parts do not work. A gateway whose store is unavailable is ready as long as it
 * can answer requests of known keys, because another gateway could not do more.
 */
export function readReadiness({
  shutdown,
  recorder,
  journal,
  health,
  clock,
  common,
  unapplied,
}: ReadinessParts): Readiness {
  if (shutdown.isDraining) return { isReady: false, problems: ["The gateway is shutting down."] };
  const problems: string[] = [];
  const isFull = recorder.isFull();
  if (!recorder.canWrite()) problems.push("The journal cannot be written.");
  else if (isFull) problems.push("The journal is full.");
  if (!recorder.isHealthy()) {
    const megabytes = (journal.size() / 1e6).toFixed(1);
    problems.push(
      `The store does not accept records; ${recorder.countWaiting()} wait in the journal (${megabytes} MB).`,
    );
  }
  if (health.isAway) {
    const seconds = Math.round((clock.now() - health.lastReadAt) / 1_000);
    const effect = health.isStale ? "requests with a key are rejected" : "only keys used before are accepted";
    problems.push(`The store has not been read for ${seconds} s; ${effect}.`);
  }
  const ofCommonState = common.problem();
  if (ofCommonState !== null) problems.push(ofCommonState.text);
  const revision = unapplied();
  if (revision !== null)
    problems.push(
      `Revision ${revision.revision} of the stored configuration cannot be applied; the former one is in force.`,
    );
  const isBlocked = isFull || health.isStale || ofCommonState?.isBlocking === true;
  return { isReady: !isBlocked, problems };
}
