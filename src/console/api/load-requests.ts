import { call } from "./client.ts";
import { joinPages, type RequestPage, toRow, withPrefix } from "./request-row.ts";

type Query = Readonly<Record<string, string | number | null>>;

/** The filters that rejected requests do not have, because no provider was chosen or their table has no such index. */
const GENERATION_FILTERS = ["provider", "session_id", "tag", "id", "model_contains", "client_version"];

/**
 * Reads a page of generations and rejected requests together, newest first.
 * @throws ApiError
 */
export async function loadRequests(query: Query, signal?: AbortSignal): Promise<RequestPage> {
  const { outcome = null, after = null, ...rest } = query;
  const options = signal === undefined ? {} : { signal };
  const none = { data: [], next: null };
  const [generations, rejections] = await Promise.all([
    outcome === "rejected"
      ? none
      : call("GET /api/admin/generations", {
          query: { ...rest, outcome, after: after && withPrefix("gen", String(after)) },
          ...options,
        }),
    outcome === "rejected" || (outcome === null && !GENERATION_FILTERS.some((name) => query[name]))
      ? call("GET /api/admin/rejections", {
          query: { ...rest, after: after && withPrefix("req", String(after)) },
          ...options,
        })
      : none,
  ]);
  return joinPages(generations, { ...rejections, data: rejections.data.map(toRow) });
}
