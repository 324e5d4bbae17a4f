import { fail } from "../../../base/failures/errors.ts";
import {
  fields,
  items,
  type JsonNode,
  LEAF,
  lookUp,
  scanJson,
  stringViewOf,
  wordTable,
} from "../../../base/json/scan.ts";

/** The members of items that tell which call a result belongs to. */
export const CALL_ITEMS = items(fields({ type: LEAF, call_id: LEAF }));

/** An item whose type and call were found. */
interface CallItem {
  readonly fields: { readonly type?: JsonNode | undefined; readonly call_id?: JsonNode | undefined };
}

/** The items that a request adds to its conversation. `text` has them, bytes as Latin-1. */
interface AddedItems {
  readonly text: string;
  readonly items: readonly CallItem[];
}

const RESULTS = wordTable<true>({ function_call_output: true, custom_tool_call_output: true });

/**
 * Checks that each result has its call in the request, or in the conversation that it continues. Vendors would reject such a result, or a
 * translation would leave it out. `earlier` are arrays of items as JSON, the last ones first; it is read only as far as needed.
 * @throws GatewayError `invalid_request`.
 */
export function requireCalls(added: AddedItems, earlier: Iterable<string>): void {
  const open = new Map<string, number>();
  for (const [at, item] of added.items.entries()) {
    const id = stringViewOf(added.text, item.fields.call_id);
    if (id !== undefined && id !== "" && isResult(added.text, item)) open.set(id, at);
  }
  if (open.size === 0) return;
  closeCalls(added, open);
  if (open.size === 0) return;
  for (const text of earlier) {
    closeCalls({ text, items: scanJson(text, CALL_ITEMS).items ?? [] }, open);
    if (open.size === 0) return;
  }
  for (const [id, at] of open) rejectResult(id, at);
}

/** Removes the ids of calls. */
function closeCalls({ text, items }: AddedItems, open: Map<string, number>): void {
  for (const item of items) {
    const id = stringViewOf(text, item.fields.call_id);
    if (id !== undefined && !isResult(text, item)) open.delete(id);
  }
}

function isResult(text: string, item: CallItem): boolean {
  return lookUp(text, item.fields.type, RESULTS) !== undefined;
}

/** The characters of an id that an error shows. */
const SHOWN_CHARS = 100;

/** The first words are those of OpenAI's error, which clients know. */
function rejectResult(id: string, at: number): never {
  return fail(
    "invalid_request",
    `No tool call found for function call output with call_id ${id.slice(0, SHOWN_CHARS)}. The call must be in the input, or in the responses that it continues.`,
    { metadata: { field: `input[${at}].call_id` } },
  );
}
