import { loadRequests } from "../../api/load-requests.ts";
import type { RequestPage, RequestRow } from "../../api/request-row.ts";
import { formatIsoTime } from "../../parts/values/format.ts";
import { saveFile } from "../../parts/values/save-file.ts";
import { printCsv } from "../../state/csv.ts";
import { type Filters, toApiQuery } from "../../state/filters.ts";

/** The maximum number of rows of an export. */
export const MAX_ROWS = 10_000;
const PAGE_ROWS = 100;

const FIELDS = [
  "id",
  "request_id",
  "created_at",
  "account_id",
  "account_name",
  "key_id",
  "key_name",
  "user_id",
  "user_name",
  "session_id",
  "tags",
  "api",
  "requested_model",
  "model",
  "provider_name",
  "streamed",
  "outcome",
  "status",
  "error_type",
  "finish_reason",
  "latency",
  "duration",
  "attempts",
  "tokens_prompt",
  "tokens_cached",
  "tokens_completion",
  "total_cost",
  "is_byok",
] as const satisfies readonly (keyof RequestRow)[];

/** Returns a field as a cell. Times are in the zone in which the list shows them. No tag has a comma. */
function printField(row: RequestRow, name: (typeof FIELDS)[number]) {
  if (name === "created_at") return formatIsoTime(Date.parse(row.created_at));
  return name === "tags" ? row.tags.join(",") : row[name];
}

/**
 * Saves the generations that match as a CSV file, up to a bound. Resolves with their number.
 * @throws ApiError
 */
export async function exportRequests(filters: Filters): Promise<number> {
  const query = toApiQuery(filters, Date.now());
  const rows: RequestRow[] = [];
  let after: string | null = null;
  do {
    const page: RequestPage = await loadRequests({ ...query, limit: PAGE_ROWS, after });
    rows.push(...page.data);
    after = page.next;
  } while (after !== null && rows.length < MAX_ROWS);
  const shown = rows.slice(0, MAX_ROWS);
  const table = shown.map((row) => FIELDS.map((name) => printField(row, name)));
  saveFile("requests.csv", "text/csv", printCsv(FIELDS, table));
  return shown.length;
}
