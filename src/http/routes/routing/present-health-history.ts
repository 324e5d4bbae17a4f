import { z } from "zod";
import { formatTime } from "../../../base/time/time.ts";
import type { OutcomeSum } from "../../../core/routing/history/health-history-store.ts";
import { INCIDENT_ENDS, INCIDENT_LEVELS, type Incident } from "../../../core/routing/history/incident.ts";
import {
  addCounts,
  countAttempts,
  createCounts,
  type OutcomeCounts,
} from "../../../core/routing/history/outcome-counts.ts";

const time = z.iso.datetime();

const COUNTS = {
  attempts: z.int().describe("Attempts with one of these outcomes."),
  succeeded: z.int(),
  failed: z
    .int()
    .describe("Attempts that failed: the connection, a 5xx status, a timeout, or an answer that broke off."),
  rate_limited: z.int().describe("Attempts that the provider rejected because of a rate limit."),
  key_refused: z
    .int()
    .describe(
      "Attempts for which the provider rejected the platform key, or said that its credit is used up.",
    ),
  state: z
    .enum(["ok", "degraded", "down", "unknown"])
    .describe(
      "`ok`: at least 95 % of the attempts succeeded. `down`: less than half. `unknown`: there were none.",
    ),
};

const BucketView = z.object({ began_at: time.describe("Time at which the bucket begins."), ...COUNTS });

/** The outcomes of a provider in a response. */
export const ProviderHistoryView = z
  .object({
    provider: z.string().describe("Slug of the provider."),
    total: z.object(COUNTS),
    buckets: z
      .array(BucketView)
      .describe("The buckets with attempts, in order of time. Those without attempts are left out."),
  })
  .meta({
    id: "ProviderHistory",
    description:
      "How attempts at a provider have ended over time, on all gateways. Attempts that a request has caused to fail, and those whose client left, are not counted.",
  });

/** An incident in a response. */
export const IncidentView = z
  .object({
    id: z.string(),
    provider: z.string().describe("Slug of the provider."),
    level: z
      .enum(INCIDENT_LEVELS)
      .describe(
        "The worst level: `down` if the provider as a whole was not called or rejected all platform keys, `degraded` if only some of its models were not called.",
      ),
    models: z.array(z.string()).describe("Ids of the models that were not called. At most 50."),
    began_at: time.describe(
      "Time at which a gateway first saw it: a circuit opened, or all keys were rejected.",
    ),
    ended_at: time
      .nullable()
      .describe("Time at which no gateway saw it any more. `null` means that it lasts."),
    duration_s: z.int().describe("Seconds until its end, or until now."),
    ended_by: z
      .enum(INCIDENT_ENDS)
      .nullable()
      .describe(
        "`recovered`: the provider answered again, or was not called for ten minutes. `unobserved`: the gateways that saw it stopped or died; `ended_at` is the time of their last report. `null` while it lasts.",
      ),
    failed_attempts: z
      .int()
      .describe("Attempts that failed during the incident, and in the minute before it."),
    saved_requests: z.int().describe("Requests that it failed and another attempt answered."),
    failed_requests: z.int().describe("Requests that it failed and nothing answered."),
    failures: z
      .array(
        z.object({
          error_type: z
            .string()
            .describe("Error code of the gateway. `other` stands for all kinds beyond 20."),
          status: z.int().nullable().describe("HTTP status of the provider. `null` means none was received."),
          count: z.int(),
        }),
      )
      .describe("How attempts failed, the most frequent kind first."),
    last_failure: z
      .object({
        at: time,
        model: z.string(),
        error_type: z.string(),
        status: z.int().nullable(),
        message: z
          .string()
          .nullable()
          .describe(
            "What the provider said, or what happened to the connection, without secrets. `null` if it may not be stored, as under zero data retention.",
          ),
        generation_id: z.string(),
      })
      .nullable(),
  })
  .meta({
    id: "Incident",
    description:
      "A time in which a provider did not answer as it should. All gateways that share the stores see one incident.",
  });

/** From this share of successful attempts on, a bucket is fine. */
const OK_SHARE = 0.95;
/** Below this share, it is down. */
const DOWN_SHARE = 0.5;

/** Returns the history of each provider. `sums` are in the order of providers and times. */
export function presentHistory(sums: readonly OutcomeSum[]): readonly z.infer<typeof ProviderHistoryView>[] {
  const byProvider = Map.groupBy(sums, ({ provider }) => provider);
  return [...byProvider].map(([provider, ofProvider]) => {
    const total = createCounts();
    for (const sum of ofProvider) addCounts(total, sum);
    return {
      provider,
      total: presentCounts(total),
      buckets: ofProvider.map((sum) => ({ began_at: formatTime(sum.beganAt), ...presentCounts(sum) })),
    };
  });
}

function presentCounts(counts: OutcomeCounts) {
  const { succeeded, failed, rateLimited, keyRefused } = counts;
  const attempts = countAttempts(counts);
  return {
    attempts,
    succeeded,
    failed,
    rate_limited: rateLimited,
    key_refused: keyRefused,
    state: stateOf(succeeded, attempts),
  };
}

function stateOf(succeeded: number, attempts: number): z.infer<typeof BucketView>["state"] {
  if (attempts === 0) return "unknown";
  const share = succeeded / attempts;
  if (share < DOWN_SHARE) return "down";
  return share < OK_SHARE ? "degraded" : "ok";
}

/** Returns an incident as the API shows it at `now`. */
export function presentIncident(incident: Incident, now: number): z.infer<typeof IncidentView> {
  const { id, provider, level, models, beganAt, endedAt, end, sample } = incident;
  return {
    ...{ id, provider, level, models: [...models] },
    began_at: formatTime(beganAt),
    ended_at: formatTime(endedAt),
    duration_s: Math.max(0, Math.round(((endedAt ?? now) - beganAt) / 1_000)),
    ended_by: end,
    failed_attempts: incident.failedAttempts,
    saved_requests: incident.savedRequests,
    failed_requests: incident.failedRequests,
    failures: incident.failures.map(({ type, status, count }) => ({ error_type: type, status, count })),
    last_failure: sample && {
      at: formatTime(sample.at),
      model: sample.model,
      error_type: sample.type,
      status: sample.status,
      message: sample.message,
      generation_id: sample.generationId,
    },
  };
}
