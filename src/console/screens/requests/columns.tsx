import type { RequestRow } from "../../api/request-row.ts";
import type { Column } from "../../parts/lists/table.tsx";
import { timeColumn } from "../../parts/lists/time-column.tsx";
import { OutcomeText } from "../../parts/values/badge.tsx";
import {
  formatCount,
  formatDuration,
  formatExactMoney,
  formatMoney,
  formatShortCount,
  formatSpeed,
  shortenId,
} from "../../parts/values/format.ts";
import { Id } from "../../parts/values/values.tsx";
import { now } from "../../state/now.ts";
import { nameOffset } from "../../state/time-zone.ts";
import { text } from "../../text/text.ts";

const names = text.requests.columns;

/** The path of a generation's page. */
export function pathOf(id: string): string {
  return `/console/requests/${id}`;
}

/** Returns the name of a thing, its short id if it has no name, or `none` if it does not exist. */
function printName(id: string | null, name: string | null, none: string) {
  return id === null ? <span class="faint">{none}</span> : (name ?? shortenId(id));
}

/** The columns of the request list in their order. Most cells are texts: each element more costs time when many rows arrive. */
export const COLUMNS: readonly Column<RequestRow>[] = [
  timeColumn(names.time, pathOf),
  {
    id: "outcome",
    title: names.outcome,
    width: 112,
    onCard: "plain",
    hint: ({ status, error_type }) => (error_type === null ? undefined : `${status ?? ""} ${error_type}`),
    cell: ({ outcome, status, count = 1 }) => (
      <>
        <OutcomeText outcome={outcome} />
        {outcome === "rejected" ? <span class="warn"> {status}</span> : null}
        {count > 1 ? <span class="attempts">×{count}</span> : null}
      </>
    ),
  },
  {
    id: "model",
    title: names.model,
    width: 208,
    wraps: true,
    onCard: "title",
    hint: ({ model, requested_model }) =>
      model === requested_model ? requested_model : text.requests.asked(requested_model),
    cell: ({ model, requested_model }) => model ?? requested_model,
  },
  {
    id: "provider",
    title: names.provider,
    width: 92,
    onCard: "plain",
    cell: ({ provider_name, attempts }) => (
      <>
        {provider_name ?? <span class="faint">–</span>}
        {attempts > 1 ? (
          <span class="attempts" title={text.requests.attempts(attempts)}>
            {attempts}
          </span>
        ) : null}
      </>
    ),
  },
  {
    id: "key",
    title: names.key,
    width: 110,
    onCard: "plain",
    hint: ({ key_id }) => key_id ?? undefined,
    cell: ({ key_id, key_name }) => printName(key_id, key_name, text.requests.anonymous),
  },
  {
    id: "account",
    title: names.account,
    width: 150,
    hint: ({ account_id }) => account_id ?? undefined,
    cell: ({ account_id, account_name }) => printName(account_id, account_name, text.lists.none),
  },
  {
    id: "user",
    title: names.user,
    width: 140,
    hint: ({ user_id }) => user_id ?? undefined,
    cell: ({ user_id, user_name }) => printName(user_id, user_name, text.lists.none),
  },
  {
    id: "team",
    title: names.team,
    width: 120,
    hint: ({ team_id }) => team_id ?? undefined,
    cell: ({ team_id, team_name }) => printName(team_id, team_name, text.lists.none),
  },
  {
    id: "session",
    title: names.session,
    width: 140,
    cell: ({ session_id }) => (session_id === null ? <span class="faint">–</span> : <Id id={session_id} />),
  },
  {
    id: "tags",
    title: names.tags,
    width: 160,
    hint: ({ tags }) => (tags.length === 0 ? undefined : tags.join(", ")),
    cell: ({ tags }) => (tags.length === 0 ? <span class="faint">–</span> : tags.join(", ")),
  },
  {
    id: "client",
    title: names.client,
    width: 160,
    wraps: true,
    cell: ({ client, client_version }) =>
      client === null ? <span class="faint">–</span> : [client, client_version].filter(Boolean).join(" "),
  },
  { id: "api", title: names.api, width: 140, cell: ({ api }) => api },
  {
    id: "error",
    title: names.error,
    width: 160,
    cell: ({ error_type }) => (error_type === null ? <span class="faint">–</span> : error_type),
  },
  {
    id: "tokens_prompt",
    title: names.promptTokens,
    width: 66,
    isNumber: true,
    hint: ({ tokens_prompt }) => formatCount(tokens_prompt),
    cell: ({ tokens_prompt }) => formatTokens(tokens_prompt),
  },
  {
    id: "tokens_cached",
    title: names.cachedTokens,
    width: 66,
    isNumber: true,
    hint: ({ tokens_cached }) => formatCount(tokens_cached),
    cell: ({ tokens_cached }) => formatTokens(tokens_cached),
  },
  {
    id: "tokens_completion",
    title: names.completionTokens,
    width: 62,
    isNumber: true,
    hint: ({ tokens_completion }) => formatCount(tokens_completion),
    cell: ({ tokens_completion }) => formatTokens(tokens_completion),
  },
  {
    id: "latency",
    title: names.firstToken,
    width: 92,
    isNumber: true,
    cell: ({ latency }) => formatDuration(latency),
  },
  {
    id: "duration",
    title: names.duration,
    width: 92,
    isNumber: true,
    cell: ({ duration }) => formatDuration(duration),
  },
  {
    id: "speed",
    title: names.speed,
    width: 90,
    isNumber: true,
    cell: ({ tokens_completion, latency, duration }) =>
      formatSpeed(tokens_completion, duration === null || latency === null ? null : duration - latency),
  },
  {
    id: "cost",
    title: names.cost,
    width: 104,
    isNumber: true,
    onCard: "aside",
    hint: ({ total_cost_nanodollars }) => formatExactMoney(total_cost_nanodollars),
    cell: ({ total_cost_nanodollars }) => formatMoney(total_cost_nanodollars),
  },
  { id: "id", title: names.id, width: 140, cell: ({ id }) => <Id id={id} /> },
];

/** The largest count that is shown with all its digits. */
const MAX_EXACT = 99_999;

function formatTokens(count: number): string {
  return count > MAX_EXACT ? formatShortCount(count) : formatCount(count);
}

/** Returns the columns with the time zone in the title of the times. */
export function withZone(columns: readonly Column<RequestRow>[]): readonly Column<RequestRow>[] {
  const title = `${names.time} (${nameOffset(now.peek())})`;
  return columns.map((column) => (column.id === "time" ? { ...column, title } : column));
}

/** The columns that are shown until others are chosen. */
const USUAL_COLUMNS: readonly string[] = [
  "time",
  "outcome",
  "model",
  "provider",
  "key",
  "tokens_prompt",
  "tokens_completion",
  "latency",
  "duration",
  "cost",
];

/** Reads a stored choice of columns, their ids separated by commas. The usual ones, if it names none that exists. `isWide`: for a wide window. */
export function readColumns(stored: string | null, isWide = false): readonly string[] {
  const known = new Set(COLUMNS.map(({ id }) => id));
  const chosen = (stored ?? "").split(",").filter((id) => known.has(id));
  if (chosen.length > 0) return chosen;
  return isWide ? [...USUAL_COLUMNS, "account"] : USUAL_COLUMNS;
}
