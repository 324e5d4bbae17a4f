import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { Serving } from "../../generation/call/call.ts";
import type { Extension, ExtensionPoints } from "../../generation/call/extension.ts";
import type { FailedCall, RecentFailure } from "../../generation/memory/recent-failures.ts";
import type { Health } from "../../routing/health/health.ts";
import { healthScopeOf } from "../../routing/health/health-target.ts";
import { findTrouble } from "../../routing/history/find-trouble.ts";
import type { HealthHistoryStore } from "../../routing/history/health-history-store.ts";
import { IncidentRecorder } from "../../routing/history/incident-recorder.ts";
import { outcomeOfReport } from "../../routing/history/outcome-counts.ts";
import { OutcomeRecorder } from "../../routing/history/outcome-recorder.ts";
import { recordText } from "../../usage/records/record-text.ts";
import type { AttemptRecord, UsageRecord } from "../../usage/records/records.ts";

/** The dependencies of the history. */
interface HealthHistoryParts {
  readonly store: HealthHistoryStore;
  readonly clock: Pick<Clock, "now">;
  readonly ids: IdSource;
  /** The gateway's id. */
  readonly gatewayId: string;
  readonly health: Health;
  readonly serving: () => Serving;
}

/** How often outcomes are saved. Milliseconds. */
const SAVE_MS = 10_000;
/** How often old sums and incidents are deleted. Milliseconds. */
const SWEEP_MS = 60_000;
const MESSAGE_CHARS = 300;

/** The errors of attempts for which another candidate may have been called. */
const PROVIDER_ERRORS: ReadonlySet<string> = new Set([
  "upstream_error",
  "unavailable",
  "rate_limit_exceeded",
]);

/**
 * Counts how attempts at providers end, and follows the incidents of providers. An answered request costs a look at its provider and an
 * increment. Attempts with BYOK keys count as far as they show how the provider does: not at addresses of their own, and not if their
 * key is rejected or limited. Providers that fail on demand have no history.
 */
export class HealthHistory implements Extension {
  readonly name = "health history";
  readonly store: HealthHistoryStore;
  private readonly outcomes: OutcomeRecorder;
  private readonly incidents: IncidentRecorder;
  private readonly points: ExtensionPoints = { onSettled: (record) => this.recordEnd(record) };
  private updating: Promise<void> = Promise.resolve();
  private savedAt: number;
  private sweptAt = 0;

  constructor(private readonly parts: HealthHistoryParts) {
    const { store, clock, ids, gatewayId } = parts;
    this.store = store;
    this.outcomes = new OutcomeRecorder({ store, clock });
    this.incidents = new IncidentRecorder({ store, clock, ids, observer: gatewayId });
    this.savedAt = clock.now();
  }

  attach(): ExtensionPoints {
    return this.points;
  }

  /** Records a failed attempt that the request has not caused. */
  recordFailure(call: FailedCall, { at, model, errorType, status, message, isByok }: RecentFailure): void {
    const { generationId, candidate, zeroRetention, failure } = call;
    const { slug } = candidate.provider.record;
    const outcome = outcomeOfReport(call.health);
    if (outcome === null || healthScopeOf(candidate.provider, candidate.key) !== slug) return;
    if (isByok && outcome !== "failed") return;
    this.outcomes.add(slug, outcome);
    // What a provider says about the account of a BYOK key is only for that account.
    const isHidden = zeroRetention || (isByok && failure.internal !== undefined);
    this.incidents.addFailure(slug, {
      ...{ at, model, type: errorType, status, generationId },
      message: isHidden ? null : recordText(message, MESSAGE_CHARS),
    });
  }

  /** Does what is due: reports incidents, saves outcomes, deletes old ones. Rejects with a `StoreError`. */
  update(): Promise<void> {
    return this.afterOthers(async () => {
      const now = this.parts.clock.now();
      await this.reportIncidents(false);
      if (now - this.savedAt >= SAVE_MS) await this.save();
      if (now - this.sweptAt < SWEEP_MS) return;
      await this.store.sweepHistory(now);
      this.sweptAt = now;
    });
  }

  /** Saves everything that is known now. Rejects with a `StoreError`. */
  flush(): Promise<void> {
    return this.afterOthers(async () => {
      await this.reportIncidents(true);
      await this.save();
    });
  }

  private recordEnd({ outcome, attempts }: UsageRecord): void {
    const last = attempts.at(-1);
    if (last === undefined) return;
    if (outcome === "completed" && last.error === null && this.isCounted(last))
      this.outcomes.add(last.provider, "succeeded");
    if (last.error === null && attempts.length === 1) return;
    const end = outcome === "completed" ? "saved" : outcome === "failed" ? "failed" : null;
    if (end === null) return;
    const failed = attempts.filter(
      (attempt) => PROVIDER_ERRORS.has(attempt.error ?? "") && this.isCounted(attempt),
    );
    for (const slug of new Set(failed.map(({ provider }) => provider))) this.incidents.addRequest(slug, end);
  }

  private isCounted({ provider, isByok }: AttemptRecord): boolean {
    const record = this.parts.serving().catalog.provider(provider);
    if (record === undefined || record.failsOnDemand) return false;
    return !isByok || record.baseUrl !== null;
  }

  private async reportIncidents(force: boolean): Promise<void> {
    const { serving, health, clock } = this.parts;
    for (const provider of serving().servedModels.providers)
      await this.incidents.report(provider.record.slug, findTrouble(health, provider, clock.now()), force);
  }

  private async save(): Promise<void> {
    await this.outcomes.flush();
    this.savedAt = this.parts.clock.now();
  }

  private afterOthers(work: () => Promise<void>): Promise<void> {
    this.updating = this.updating.catch(() => {}).then(work);
    return this.updating;
  }
}
