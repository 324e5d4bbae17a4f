import type { GenerationLine, Rejection } from "./schema.ts";

/** A row of the request list: a generation, or a rejected request in the same form. */
export interface RequestRow extends Omit<GenerationLine, "outcome"> {
  readonly outcome: GenerationLine["outcome"] | "rejected";
  /** The number of rejected requests that the row stands for; absent for a generation. */
  readonly count?: number;
}

/** A page of the request list. */
export interface RequestPage {
  readonly data: readonly RequestRow[];
  /** The `after` of the next page; null on the last one. */
  readonly next: string | null;
}

/** Returns the page that two lists make. It ends where the first of them has a next page: behind that, rows of it would be missing. */
export function joinPages(one: RequestPage, other: RequestPage): RequestPage {
  const ends = [one.next, other.next].filter((next) => next !== null).map(placeOf);
  const end = ends.sort().at(-1) ?? null;
  const rows = [...one.data, ...other.data].sort((a, b) => (placeOf(a.id) < placeOf(b.id) ? 1 : -1));
  const shown = end === null ? rows : rows.filter(({ id }) => placeOf(id) >= end);
  return { data: shown, next: end === null ? null : `gen_${end}` };
}

/** Returns the part of an id that sorts by time, whatever it is the id of: ids are a prefix, an underscore and this part. */
export function placeOf(id: string): string {
  return id.slice(id.indexOf("_") + 1);
}

/** Returns the id of another kind at the same place of a list. */
export function withPrefix(prefix: string, id: string): string {
  return `${prefix}_${placeOf(id)}`;
}

/** Returns a rejected request as a row of the request list. */
export function toRow(rejection: Rejection): RequestRow {
  const { requested_model, path, id } = rejection;
  return {
    ...NO_ANSWER,
    tags: [],
    id,
    request_id: id,
    created_at: rejection.created_at,
    account_id: rejection.account_id,
    account_name: rejection.account_name,
    key_id: rejection.key_id,
    key_name: rejection.key_name,
    user_id: rejection.user_id,
    user_name: rejection.user_name,
    team_id: rejection.team_id,
    team_name: rejection.team_name,
    api: rejection.api ?? "",
    requested_model: requested_model ?? path ?? "–",
    status: rejection.status,
    error_type: rejection.error_type,
    error_message: rejection.message,
    client: rejection.client,
    client_version: rejection.client_version,
    count: rejection.count,
  };
}

const NO_ANSWER = {
  session_id: null,
  model: null,
  provider_name: null,
  streamed: false,
  outcome: "rejected",
  finish_reason: null,
  replay_of: null,
  latency: null,
  duration: null,
  attempts: 0,
  tokens_prompt: 0,
  tokens_completion: 0,
  tokens_cached: 0,
  total_cost: 0,
  total_cost_nanodollars: 0,
  is_byok: false,
} as const;
