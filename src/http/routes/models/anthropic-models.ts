import { rejectField } from "../../../base/failures/errors.ts";
import { asFields, asList, asText, type Fields } from "../../../base/json/fields.ts";
import type { PreparedResponse } from "../../context/prepared-response.ts";

/**
 * A model in the format of Anthropic's API (`ModelInfo` of @anthropic-ai/sdk 0.9x, 2026-11-28). Facts that the catalog does not know are
 * null.
 */
interface ModelInfo {
  readonly type: "model";
  readonly id: string;
  readonly display_name: string;
  readonly created_at: string;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
  readonly lifecycle: "active" | "deprecated";
  readonly retires_at: string | null;
  readonly deprecated_at: null;
  readonly capabilities: null;
  readonly line: null;
}

/** A page of models in that shape. */
interface ModelPage {
  readonly data: readonly ModelInfo[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Whether a client reads models in the shape of Anthropic's API, whose clients all name its version. */
export function readsAnthropicModels({ headers }: Pick<Request, "headers">): boolean {
  return headers.has("anthropic-version");
}

/** The models of lists, by the list. */
type AnthropicLists = WeakMap<PreparedResponse, Promise<readonly ModelInfo[]>>;

/** Returns a memory of lists in Anthropic's shape. */
export function createAnthropicLists(): AnthropicLists {
  return new WeakMap();
}

/**
 * Returns a page of a list. Without `limit` it has all models, because clients of a gateway do not expect Anthropic's short default.
 * @throws GatewayError `invalid_request` if `limit` is not a number from 1 to 1000, or for an id that is not in the list.
 */
export async function pageAnthropicModels(
  lists: AnthropicLists,
  list: PreparedResponse,
  query: URLSearchParams,
): Promise<ModelPage> {
  let models = lists.get(list);
  if (models === undefined) {
    models = list.body.json().then((body) => asList(asFields(body)?.["data"]).flatMap(toModelInfo));
    lists.set(list, models);
  }
  return cutPage(await models, query);
}

const MAX_LIMIT = 1_000;

function cutPage(models: readonly ModelInfo[], query: URLSearchParams): ModelPage {
  const limit = readLimit(query.get("limit")) ?? models.length;
  const [after, before] = [findId(models, query, "after_id"), findId(models, query, "before_id")];
  const from = after === null ? (before === null ? 0 : Math.max(before - limit, 0)) : after + 1;
  const to = Math.min(from + limit, before ?? models.length);
  const data = models.slice(from, to);
  const hasMore = before === null ? to < models.length : from > 0;
  return { data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

function readLimit(given: string | null): number | null {
  if (given === null) return null;
  const limit = Number(given);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  return rejectField("limit", `must be a whole number from 1 to ${MAX_LIMIT}`);
}

function findId(models: readonly ModelInfo[], query: URLSearchParams, field: string): number | null {
  const id = query.get(field);
  if (id === null) return null;
  const at = models.findIndex((model) => model.id === id);
  return at < 0 ? rejectField(field, "must be the id of a model in the list") : at;
}

/** Returns a model, auto tier or named route of `GET models` in Anthropic's shape; none for a value that has no id. */
export function toModelInfo(value: unknown): readonly ModelInfo[] {
  const model = asFields(value) ?? {};
  const id = asText(model["id"]);
  if (id === null) return [];
  const expires = asText(model["expiration_date"]);
  return [
    {
      type: "model",
      id,
      display_name: asText(model["name"]) ?? id,
      created_at: toTime(Number(model["created"] ?? 0)),
      max_input_tokens: asNumber(model["context_length"]),
      max_tokens: readMaxTokens(model),
      lifecycle: expires === null ? "active" : "deprecated",
      retires_at: expires === null ? null : toTime(Date.parse(expires) / 1_000),
      deprecated_at: null,
      capabilities: null,
      line: null,
    },
  ];
}

function readMaxTokens(model: Fields): number | null {
  return asNumber(asFields(model["top_provider"])?.["max_completion_tokens"]);
}

function asNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Formats seconds since the epoch. As in Anthropic's API, the epoch means an unknown time. */
function toTime(seconds: number): string {
  return new Date(Number.isFinite(seconds) ? seconds * 1_000 : 0).toISOString().replace(".000Z", "Z");
}
