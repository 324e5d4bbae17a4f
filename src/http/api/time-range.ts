import { z } from "zod";
import { fail } from "../../base/failures/errors.ts";

const time = z.iso.datetime({ offset: true }).optional();

/** The query of a range of time. */
export const TIME_RANGE = { from: time, to: time };

const schema = z.object(TIME_RANGE);

/**
 * Reads a range of time as milliseconds since the epoch; null for an open end.
 * @throws GatewayError `invalid_request` if it is empty.
 */
export function readRange(query: z.infer<typeof schema>): {
  readonly fromMs: number | null;
  readonly toMs: number | null;
} {
  const [fromMs, toMs] = [readTime(query.from), readTime(query.to)];
  if (fromMs !== null && toMs !== null && fromMs >= toMs)
    fail("invalid_request", "from must be before to.", { metadata: { field: "from" } });
  return { fromMs, toMs };
}

/** Ids have no times before 1970. */
function readTime(text: string | undefined): number | null {
  return text === undefined ? null : Math.max(0, Date.parse(text));
}
