import { type Fields, tryParseFields } from "../../base/json/fields.ts";
import { presentItem } from "../../wire/openai-responses/state/present-item.ts";
import type { ObjectContent, ObjectHead } from "./records/response-object.ts";

/** Returns a response as `GET /responses/{id}` shows it. */
export function presentResponse(head: ObjectHead, { output, response }: ObjectContent): Fields {
  const kept = response === null ? null : tryParseFields(response);
  return { ...kept, status: head.status, output: output.map((item) => tryParseFields(item)) };
}

/** One page of items, in OpenAI's form. */
export interface ItemPage {
  readonly object: "list";
  readonly data: readonly Fields[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** What selects a page of items. */
export interface PageQuery {
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** The id of the last item of the page before; null for the first page. */
  readonly after: string | null;
}

/** Returns a page of items, which are JSON in the order of the conversation. An unknown `after` begins at the first page. */
export function pageOf(items: readonly string[], { order, limit, after }: PageQuery): ItemPage {
  const parsed = items.map(presentItem).filter((item) => item !== null);
  const ordered = order === "asc" ? parsed : parsed.toReversed();
  const from = after === null ? 0 : ordered.findIndex((item) => item["id"] === after) + 1;
  const data = ordered.slice(from, from + limit);
  return {
    object: "list",
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: from + limit < ordered.length,
  };
}

function idOf(item: Fields | undefined): string | null {
  const id = item?.["id"];
  return typeof id === "string" ? id : null;
}
