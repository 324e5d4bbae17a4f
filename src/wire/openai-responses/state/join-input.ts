import {
  allFields,
  decodeUtf8,
  fields,
  isTrue,
  isWord,
  items,
  type JsonNode,
  LEAF,
  scanJson,
  sliceOf,
  stringOf,
} from "../../../base/json/scan.ts";
import {
  appendMember,
  applySplices,
  removeMembers,
  type Splice,
  setMember,
} from "../../../base/json/splice.ts";
import { readIdTime } from "../../../base/secrets/ids.ts";
import { TRIGGER } from "../compaction-items.ts";
import type { ResponsesBody, ResponsesItem } from "../request-shape.ts";
import { COMPACTION_PROMPT } from "./compaction.ts";
import { isWithoutInput, STATE_FIELDS } from "./read-state.ts";
import { requireCalls } from "./require-calls.ts";

/** The scanned body of a request. */
interface ScannedBody {
  readonly bytes: Buffer;
  /** The bytes as a Latin-1 string. */
  readonly text: string;
  readonly root: ResponsesBody;
}

/** Items as JSON, by id. */
export type ItemsById = ReadonlyMap<string, string>;

/** What a request continues. */
export interface JoinedState {
  /** The items before its own, as JSON. */
  readonly earlier: readonly string[];
  /** What its references and its compactions stand for, as JSON, by the id or the encrypted content. Unknown ones stay. */
  readonly replaced: ReadonlyMap<string, string>;
  /** It is asked for a handover in place of an answer, because its models know no compaction. */
  readonly compacts: boolean;
}

/** An item that a request adds to its chain. */
export interface AddedItem {
  /** The item, as JSON. */
  readonly item: string;
  /** Its index in the joined input, counted from the end: -1 for the last item. */
  readonly index: number;
}

/**
 * Returns the items that a request adds. A text becomes a message. References become the items that they name, and unknown ones are left out,
 * as is the item that asks for a compaction. The joined input has an item for each of them, so the indexes have gaps.
 */
export function listNewItems(
  { text, root }: Omit<ScannedBody, "bytes">,
  referenced: ItemsById,
): readonly AddedItem[] {
  const { input } = root.fields;
  if (input?.kind === "string") {
    const content = decodeUtf8(sliceOf(text, input));
    return [{ item: `{"type":"message","role":"user","content":${content}}`, index: -1 }];
  }
  const sent = input?.items ?? [];
  return sent.flatMap((node, at) => {
    const item = readNewItem(text, node, referenced);
    return item === undefined ? [] : [{ item, index: at - sent.length }];
  });
}

/** Returns what an item of the input adds, as JSON; undefined if it adds nothing. */
function readNewItem(text: string, node: ResponsesItem, referenced: ItemsById): string | undefined {
  const { type, id } = node.fields;
  if (isWord(text, type, TRIGGER)) return undefined;
  if (isWord(text, type, "item_reference")) return referenced.get(stringOf(text, id) ?? "");
  return decodeUtf8(sliceOf(text, node));
}

/** Returns what an item of the input stands for; undefined for itself. */
function findReplacement(
  text: string,
  { fields: { type, id, encrypted_content } }: ResponsesItem,
  { replaced, compacts }: JoinedState,
): string | undefined {
  if (isWord(text, type, "item_reference")) return replaced.get(stringOf(text, id) ?? "");
  if (isWord(text, type, "compaction")) return replaced.get(stringOf(text, encrypted_content) ?? "");
  return compacts && isWord(text, type, TRIGGER) ? COMPACTION_PROMPT : undefined;
}

/**
 * Returns the body of a request with the items that its `previous_response_id` or `conversation` stands for, without the fields about state.
 * The rest of the bytes stays the same.
 * @throws GatewayError `invalid_request` for a result without its call.
 */
export function joinInput({ bytes, text, root }: ScannedBody, state: JoinedState): Buffer {
  if (state.earlier.length > 0)
    requireCalls({ text, items: root.fields.input?.items ?? [] }, lastFirst(state.earlier));
  const removed = state.compacts ? NOT_COMPACTED : STATE_FIELDS;
  const splices: Splice[] = [...removeMembers(text, root, removed)];
  if (state.compacts && root.fields.tools !== undefined)
    splices.push(appendMember(root, "tool_choice", '"none"'));
  // A background response is always made as a stream, whose events are kept.
  if (isTrue(text, root.fields.background)) splices.push(setMember(root, "stream", "true"));
  const { input } = root.fields;
  if (input?.items) splices.push(...joinItems(text, input, state));
  else splices.push(replaceInput({ text, root }, state.earlier));
  return applySplices(bytes, splices);
}

/** Returns each item as an array of its own, bytes as Latin-1. */
function* lastFirst(earlier: readonly string[]): Generator<string> {
  for (let at = earlier.length - 1; at >= 0; at--)
    yield Buffer.from(`[${earlier[at] ?? ""}]`).toString("latin1");
}

/** A handover is a text, whatever form the answers have. */
const NOT_COMPACTED: ReadonlySet<string> = new Set([
  ...STATE_FIELDS,
  "text",
  "tool_choice",
  "context_management",
]);

const NO_ITEMS: ItemsById = new Map();

/** Replaces an input that is a text, or adds an absent one. */
function replaceInput({ text, root }: Omit<ScannedBody, "bytes">, earlier: readonly string[]): Splice {
  const added = isWithoutInput(root) ? [] : listNewItems({ text, root }, NO_ITEMS);
  return setMember(root, "input", `[${[...earlier, ...added.map(({ item }) => item)].join(",")}]`);
}

/** Inserts earlier items before those of the input, and replaces those that stand for others. */
function joinItems(
  text: string,
  input: NonNullable<ResponsesBody["fields"]["input"]>,
  state: JoinedState,
): readonly Splice[] {
  const { earlier } = state;
  const sent = input.items ?? [];
  const splices: Splice[] = [];
  if (earlier.length > 0) splices.push(insertAt(input, earlier.join(",") + (sent.length === 0 ? "" : ",")));
  for (const item of sent) {
    const found = findReplacement(text, item, state);
    if (found !== undefined) splices.push({ start: item.start, end: item.end, insert: found });
  }
  return splices;
}

function insertAt({ start }: JsonNode, insert: string): Splice {
  return { start: start + 1, end: start + 1, insert };
}

const INPUT = fields({ input: items(LEAF) });

/** Returns the items of the input of a joined body, as JSON. */
export function listInput(bytes: Buffer): readonly string[] {
  const text = bytes.toString("latin1");
  const list = scanJson(text, INPUT).fields.input?.items ?? [];
  return list.map((item) => decodeUtf8(sliceOf(text, item)));
}

/** An id of the gateway at the beginning of an item, as `withId` writes it. */
const OWN_ID = /^\{"id":"([a-z]+_[0-9a-z]{26})",/;

/** Returns an item with an id: its own, or that of the gateway in front. `item` is a JSON object with at least one member. */
export function withId(item: string, id: string): string {
  return `{"id":${JSON.stringify(id)},${item.slice(item.indexOf("{") + 1)}`;
}

const ITEM = allFields({});
const ID: ReadonlySet<string> = new Set(["id"]);

/** Returns an item without its member `id`, whatever that is. */
export function withoutId(item: string): string {
  const bytes = Buffer.from(item);
  const text = bytes.toString("latin1");
  return applySplices(bytes, removeMembers(text, scanJson(text, ITEM), ID)).toString();
}

/** Returns an item without the id that the gateway gave it, which no vendor knows. */
export function withoutOwnId(item: string): string {
  const [head, id] = OWN_ID.exec(item) ?? [];
  return head === undefined || id === undefined || readIdTime(id) === null
    ? item
    : `{${item.slice(head.length)}`;
}
