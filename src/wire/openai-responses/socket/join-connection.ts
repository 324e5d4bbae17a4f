import { eitherOf } from "../../../base/collections/name-sets.ts";
import { rejectField } from "../../../base/failures/errors.ts";
import { allFields, LEAF, type NodeOf, scanJson, stringViewOf } from "../../../base/json/scan.ts";
import { rejectInvalidJson, requireUtf8 } from "../../../base/json/scan-body.ts";
import { NO_SPLICES, removeMembers, type Splice } from "../../../base/json/splice.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { CALL_ITEMS, requireCalls } from "../state/require-calls.ts";

/** Items of a conversation, as JSON in UTF-8. Each buffer has any number of items, separated by commas. */
export type ItemBytes = readonly Buffer[];

/** All members are found, so that they can be removed. The contents of items are skipped. */
const BODY = allFields({ input: CALL_ITEMS, previous_response_id: LEAF, conversation: LEAF });

/** The body of a request, or a frame with its members, in which the fields that continue a conversation were found. */
export interface StatefulBody {
  readonly bytes: Buffer;
  /** The bytes as Latin-1. */
  readonly text: string;
  readonly root: NodeOf<typeof BODY>;
}

/**
 * Finds the fields of a Responses request that continue a conversation. Everything else is checked when the joined request is parsed.
 * @throws GatewayError `invalid_request` if it is not a JSON object in UTF-8, or has `input` or `previous_response_id` of a wrong type.
 */
export function scanState(bytes: Buffer): StatefulBody {
  requireUtf8(bytes);
  const text = bytes.toString("latin1");
  const root = rejectInvalidJson(() => scanJson(text, BODY));
  if (root.kind !== "object") rejectField("body", "must be a JSON object");
  const { input, previous_response_id: previous, conversation } = root.fields;
  if (!isAbsent(input) && input.kind !== "string" && input.kind !== "array")
    rejectField("input", "must be a string or an array of items");
  if (!isAbsent(previous) && previous.kind !== "string")
    rejectField("previous_response_id", "must be a string");
  if (!isAbsent(previous) && !isAbsent(conversation))
    rejectField("conversation", "must be left out in a request with previous_response_id");
  return { bytes, text, root };
}

/** Returns the id of the response that a request continues; null if it begins a conversation. */
export function readPreviousId({ text, root }: StatefulBody): string | null {
  return stringViewOf(text, root.fields.previous_response_id) ?? null;
}

/** Returns a copy of the items that a request adds to its conversation. A text becomes a message of the user. */
export function copyAddedItems(body: StatefulBody): Buffer {
  return Buffer.from(viewAddedItems(body));
}

/** Changes of a body besides those of its state. */
export interface BodyChanges {
  /** Names of further members to remove. At least one other member must remain. */
  readonly removed: ReadonlySet<string>;
  readonly edits: readonly Splice[];
}

const NO_CHANGES: BodyChanges = { removed: new Set(), edits: NO_SPLICES };

/**
 * Returns the request without `previous_response_id` and `conversation`, and with the earlier items before its own ones. All other bytes
 * stay the same, except for `changes`. Nothing is parsed or printed again.
 * @throws GatewayError `invalid_request` for a result whose call is neither in the input nor among the earlier items.
 */
export function joinConnection(body: StatefulBody, earlier: ItemBytes, changes = NO_CHANGES): Buffer {
  const { bytes, text, root } = body;
  requireCalls({ text, items: root.fields.input?.items ?? [] }, texts(earlier));
  const removals = removeMembers(text, root, eitherOf(STATE_MEMBERS, changes.removed));
  const joined = separate([...earlier, viewAddedItems(body)]);
  const { start, end, before } = placeOfItems(body);
  const edits: Edit[] = [{ start, end, pieces: [Buffer.from(before), ...joined, CLOSE] }];
  for (const { start, end, insert } of [...changes.edits, ...removals])
    edits.push({ start, end, pieces: [Buffer.from(insert)] });
  return assemble(bytes, edits);
}

/** Returns the texts of items, bytes as Latin-1. */
function* texts(parts: ItemBytes): Generator<string> {
  // The calls are nearly always in the last answer.
  for (let at = parts.length - 1; at >= 0; at--) yield `[${parts[at]?.toString("latin1") ?? ""}]`;
}

/** The members that the joined input stands for. */
const STATE_MEMBERS = new Set(["previous_response_id", "conversation"]);

/** Where the joined items go, and what stands before them. */
interface ItemPlace {
  readonly start: number;
  readonly end: number;
  readonly before: string;
}

/** The items replace the input. If there is none, they are a new member at the end. */
function placeOfItems({ root }: StatefulBody): ItemPlace {
  const { input } = root.fields;
  if (input !== undefined) return { start: input.start, end: input.end, before: "[" };
  const at = root.end - 1;
  const isFirst = (root.members ?? []).every(({ key }) => STATE_MEMBERS.has(key));
  return { start: at, end: at, before: `${isFirst ? "" : ","}"input":[` };
}

/** Returns the items that a request adds, without the brackets around them. A view of the body, unless the input is a text. */
function viewAddedItems({ bytes, root }: StatefulBody): Buffer {
  const { input } = root.fields;
  if (input?.kind === "string")
    return Buffer.concat([MESSAGE_START, bytes.subarray(input.start, input.end), MESSAGE_END]);
  const list = input?.items ?? [];
  const first = list[0];
  const last = list.at(-1);
  return first === undefined || last === undefined ? NOTHING : bytes.subarray(first.start, last.end);
}

const MESSAGE_START = Buffer.from('{"type":"message","role":"user","content":');
const MESSAGE_END = Buffer.from("}");
const NOTHING = Buffer.alloc(0);
const COMMA = Buffer.from(",");
const CLOSE = Buffer.from("]");

/** Returns the buffers that have items, with commas between them. */
function separate(parts: ItemBytes): Buffer[] {
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? [part] : [COMMA, part]));
}

/** A splice of bytes. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly pieces: ItemBytes;
}

/** Applies edits, which do not overlap. */
function assemble(bytes: Buffer, edits: readonly Edit[]): Buffer {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    pieces.push(bytes.subarray(from, edit.start), ...edit.pieces);
    from = edit.end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}
