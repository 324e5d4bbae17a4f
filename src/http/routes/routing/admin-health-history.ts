import { z } from "zod";
import { formatTime } from "../../../base/time/time.ts";
import {
  firstBucketOf,
  HISTORY_RANGES,
  RANGE_BUCKETS,
} from "../../../core/routing/history/history-ranges.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import {
  IncidentView,
  ProviderHistoryView,
  presentHistory,
  presentIncident,
} from "./present-health-history.ts";

const TAG = "Health";

const provider = z
  .string()
  .min(1)
  .max(200)
  .transform((slug) => slug.toLowerCase())
  .optional();

/** `GET /api/admin/health/history`: how attempts at providers have ended, in buckets of an hour, a day or a week. */
export const getHealthHistory = defineEndpoint({
  method: "GET",
  path: "/api/admin/health/history",
  tag: TAG,
  summary: "Retrieve how attempts at providers have ended in the last hour, day or week, on all gateways",
  access: OPERATOR,
  query: z.strictObject({
    range: z
      .enum(HISTORY_RANGES)
      .default("hour")
      .describe(
        "`hour` has buckets of a minute, `day` of 15 minutes, `week` of two hours. The last bucket is the one in progress.",
      ),
    provider: provider.describe("Only the provider with this slug."),
  }),
  response: z.object({
    range: z.enum(HISTORY_RANGES),
    from: z.iso.datetime().describe("Beginning of the first bucket."),
    to: z.iso.datetime().describe("Time of the response."),
    bucket_s: z.int().describe("Length of a bucket in seconds."),
    bucket_count: z.int().describe("Number of buckets from `from` on, with and without attempts."),
    data: z.array(ProviderHistoryView).describe("The providers with attempts in the range, by slug."),
  }),
  async handle({ query, deps }) {
    const { range } = query;
    const { healthHistory } = deps.reports;
    await healthHistory.flush();
    const now = deps.clock.now();
    const from = firstBucketOf(range, now);
    const sums = await healthHistory.store.listOutcomes({ range, from, provider: query.provider ?? null });
    const { bucketMs, count } = RANGE_BUCKETS[range];
    return {
      range,
      from: formatTime(from),
      to: formatTime(now),
      bucket_s: bucketMs / 1_000,
      bucket_count: count,
      data: presentHistory(sums),
    };
  },
});

/** `GET /api/admin/incidents`: the times in which providers did not answer as they should, newest first. */
export const listIncidents = defineEndpoint({
  method: "GET",
  path: "/api/admin/incidents",
  tag: TAG,
  summary: "List the incidents of providers of the last 90 days, newest first",
  access: OPERATOR,
  query: z.strictObject({
    ...PAGE_QUERY,
    provider: provider.describe("Only the incidents of the provider with this slug."),
    state: z
      .enum(["open", "ended"])
      .optional()
      .describe("`open`: only incidents that last. `ended`: only the others."),
  }),
  response: pageView(IncidentView),
  async handle({ query, deps }) {
    const { healthHistory } = deps.reports;
    await healthHistory.flush();
    const now = deps.clock.now();
    const filter = {
      provider: query.provider ?? null,
      isOpen: query.state === undefined ? null : query.state === "open",
      before: query.after ?? null,
    };
    return makePage({
      limit: query.limit,
      load: (limit) => healthHistory.store.listIncidents({ ...filter, limit }, now),
      present: (incidents) => incidents.map((incident) => presentIncident(incident, now)),
      cursorOf: ({ id }) => id,
    });
  },
});
