import { tryParseFields } from "../../../base/json/fields.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import { withId, withoutId } from "../../../wire/openai-responses/state/join-input.ts";

/** The beginning of an item's id, by its type, as OpenAI's API has it. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "cto",
  compaction: "cmp",
};

/** Returns an item, which is JSON, with an id: clients read single items by it, and refer to them. */
export function nameItem(item: string, ids: IdSource): string {
  const { id, type } = tryParseFields(item) ?? {};
  if (typeof id === "string" && id !== "") return item;
  // Some clients send `null`.
  const unnamed = id === undefined ? item : withoutId(item);
  return withId(unnamed, ids.next(typeof type === "string" ? (PREFIXES[type] ?? "item") : "msg"));
}

/** Longer ids are kept with their items, and not looked for: the greatest size of an entry of an index of PostgreSQL is 2,704 bytes. Characters. */
const MAX_ID_CHARS = 512;

/** Lists the ids by which items, which are JSON, are found. */
export function listItemIds(items: readonly string[]): readonly string[] {
  return items.flatMap((item) => {
    const id = tryParseFields(item)?.["id"];
    return typeof id === "string" && id !== "" && id.length <= MAX_ID_CHARS ? [id] : [];
  });
}
