import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatTime, HOUR_MS } from "../../../base/time/time.ts";
import { chooseBuckets } from "../../../core/usage/reports/time-buckets.ts";
import { needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { GENERATION_FILTER, readGenerationFilter } from "../../api/generation-filter.ts";

/** The range of a histogram without a given one. Milliseconds. */
const USUAL_RANGE_MS = 24 * HOUR_MS;
const MAX_BUCKETS = 120;

const count = z.int().min(0);

/** `GET /api/admin/generations/histogram`: how many generations there were in each period of a range of time. */
export const getGenerationHistogram = defineEndpoint({
  method: "GET",
  path: "/api/admin/generations/histogram",
  tag: "Usage",
  summary: "Count generations by outcome in periods of time",
  access: needs("own"),
  query: z.strictObject({
    ...GENERATION_FILTER,
    from: GENERATION_FILTER.from.describe("Start of the range (RFC 3339). Default: 24 hours before `to`."),
    to: GENERATION_FILTER.to.describe("End of the range (RFC 3339). Default: now."),
    buckets: z.coerce
      .number()
      .int()
      .min(1)
      .max(MAX_BUCKETS)
      .default(60)
      .describe("Maximum number of periods."),
  }),
  response: z.object({
    from: z.iso.datetime().describe("Start of the first period, which may be before `from`."),
    to: z.iso.datetime().describe("End of the last period."),
    bucket_ms: z.int().describe("Length of a period in milliseconds."),
    is_exact: z
      .boolean()
      .describe("`false` if there are too many generations to count: some counts are then estimates."),
    buckets: z.array(
      z.object({
        at: z.iso.datetime().describe("Start of the period."),
        completed: count,
        cached: count.describe("Generations that got an earlier answer, without asking a provider."),
        failed: count.describe("Generations that failed or were interrupted."),
        cancelled: count,
        open: count,
      }),
    ),
  }),
  async handle({ query, principal, deps }) {
    const filter = readGenerationFilter(query, principal, deps.generation);
    const toMs = filter.toMs ?? deps.clock.now();
    const fromMs = filter.fromMs ?? toMs - USUAL_RANGE_MS;
    if (fromMs >= toMs)
      fail("invalid_request", "from must be before to, or before now if to is not set.", {
        metadata: { field: "from" },
      });
    const range = chooseBuckets(fromMs, toMs, query.buckets);
    await deps.generation.recorder.drain();
    const { buckets, isExact } = await deps.reports.usage.countGenerations({ ...filter, ...range });
    return {
      from: formatTime(range.fromMs),
      to: formatTime(range.toMs),
      bucket_ms: range.bucketMs,
      is_exact: isExact,
      buckets: buckets.map((counts, at) => ({
        at: formatTime(range.fromMs + at * range.bucketMs),
        ...counts,
      })),
    };
  },
});
