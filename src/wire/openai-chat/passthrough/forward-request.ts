import type { BytePieces } from "../../../base/byte-pieces.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import type { Repair } from "../../conversation/outline.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import type { Fields } from "../../json/fields.ts";
import { isWord, itemsOf, type JsonNode, memberOf } from "../../json/scan.ts";
import {
  appendMember,
  changeTexts,
  removeMembers,
  renameMember,
  type Splice,
  spliceBody,
} from "../../json/splice.ts";
import { forwardMessages, removeEmptyCalls, renameReasoning } from "./forward-messages.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** How a request has to be changed for the chosen provider. */
export interface ChatTarget {
  /** The model's name at the provider. */
  readonly model: string;
  /** The provider does not accept `stream_options`. */
  readonly noStreamOptions: boolean;
  /** Fields that the provider names differently, as pairs of client name and provider name. */
  readonly renames: readonly (readonly [string, string])[];
  /** Fields that the provider rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** The maximum number of tokens per answer; null: the client's own limit. */
  readonly maxTokens: number | null;
  /** The provider wants the reasoning of earlier turns in `reasoning_content`. */
  readonly wantsReasoningContent: boolean;
  /** Returns the hash that the provider gets instead of the client's user. */
  readonly hashUser: (user: string) => string;
  /** The reasoning fields that replace the client's; null: the client's are kept. */
  readonly reasoning: Fields | null;
}

/**
 * Returns the body for an upstream of the same format: the client's bytes with as few edits as possible. The model gets the
 * provider's name, streams are requested with their usage, the gateway's own fields are removed, and repaired messages are put in.
 */
export function forwardChatRequest(
  request: ScannedChatRequest,
  target: ChatTarget,
  repair: Repair | null,
): Buffer | BytePieces {
  const { text, root } = request;
  const splices: Splice[] = [replaceModel(root, target.model)];
  const keepsOptions = request.stream && !target.noStreamOptions;
  const known = fieldsToEdit(target.refusedFields);
  let removed = keepsOptions ? known.removed : known.removedWithOptions;
  if (keepsOptions && !request.wantsUsageChunk) splices.push(requestUsage(request));
  for (const [from, to] of target.renames) {
    const member = memberOf(root, from);
    if (member === undefined) continue;
    // If the client sent both names, the provider's own is kept.
    if (memberOf(root, to) !== undefined) removed = new Set(removed).add(from);
    else splices.push(renameMember(text, member, to));
  }
  splices.push(...limitAnswer(root, target, removed));
  addToolParameters(request, splices);
  if (target.reasoning !== null) {
    removed = removed.union(REASONING_FIELDS);
    splices.push(...addReasoning(root, target.reasoning));
  }
  if (repair !== null) splices.push(forwardMessages(request, repair, target.wantsReasoningContent));
  else {
    for (const message of itemsOf(root, "messages")) splices.push(...removeEmptyCalls(text, message));
    if (target.wantsReasoningContent) for (const splice of renameReasoning(text, root)) splices.push(splice);
  }
  splices.push(...changeTexts(text, root, known.users, target.hashUser));
  splices.push(...removeMembers(text, root, removed));
  return spliceBody(request.bytes, splices);
}

/** A scanned body. `text` is the body, bytes as Latin-1. */
interface ScannedBody {
  readonly text: string;
  readonly root: JsonNode;
}

/** The fields that a provider does not get, and those that name the client's user. */
interface EditedFields {
  readonly removed: ReadonlySet<string>;
  /** The same, including `stream_options`. */
  readonly removedWithOptions: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
}

/** By the set of fields that a provider rejects, which is created once per deployment. */
const edits = new WeakMap<ReadonlySet<string>, EditedFields>();

/** Returns the fields to edit for a provider that rejects these ones. */
export function fieldsToEdit(rejected: ReadonlySet<string>): EditedFields {
  let known = edits.get(rejected);
  if (known === undefined) {
    const removed = GATEWAY_FIELDS.union(rejected);
    const removedWithOptions = new Set(removed).add("stream_options");
    known = { removed, removedWithOptions, users: USER_FIELDS.difference(removed) };
    edits.set(rejected, known);
  }
  return known;
}

/** Returns the splice that replaces the client's name of the model. */
export function replaceModel(root: JsonNode, model: string): Splice {
  const node = memberOf(root, "model") as JsonNode;
  return { start: node.start, end: node.end, insert: JSON.stringify(model) };
}

const INCLUDE_USAGE = '"include_usage":true';

/** Returns the splice that requests the usage of a stream, whether or not the client did (docs/api/chat.md, "Usage"). */
export function requestUsage({ text, root }: ScannedBody): Splice {
  const options = memberOf(root, "stream_options");
  if (options === undefined) return appendMember(root, "stream_options", `{${INCLUDE_USAGE}}`);
  if (options.kind !== "object")
    return { start: options.start, end: options.end, insert: `{${INCLUDE_USAGE}}` };
  const included = memberOf(options, "include_usage");
  if (included !== undefined) return { start: included.start, end: included.end, insert: "true" };
  const isEmpty = /^\{\s*\}$/.test(text.slice(options.start, options.end));
  return {
    start: options.start + 1,
    end: options.start + 1,
    insert: isEmpty ? INCLUDE_USAGE : `${INCLUDE_USAGE},`,
  };
}

/** Fields that limit the length of an answer. */
const LIMITS = ["max_tokens", "max_completion_tokens"] as const;

/** Returns the splices that replace the client's limit by the target's, or add it in the provider's spelling. */
export function limitAnswer(
  root: JsonNode,
  { maxTokens, renames, refusedFields }: Pick<ChatTarget, "maxTokens" | "renames" | "refusedFields">,
  removed: ReadonlySet<string>,
): Splice[] {
  if (maxTokens === null) return [];
  const insert = String(maxTokens);
  const given = LIMITS.map((name) => memberOf(root, name)).filter((member) => member !== undefined);
  const kept = given.filter(({ key }) => !removed.has(key));
  if (kept.length > 0) return kept.map(({ start, end }) => ({ start, end, insert }));
  const name = renames.find(([from]) => from === LIMITS[0])?.[1] ?? LIMITS[0];
  return refusedFields.has(name) ? [] : [appendMember(root, name, insert)];
}

/** Fields in which clients of this format set the amount of reasoning. */
export const REASONING_FIELDS: ReadonlySet<string> = new Set(["reasoning", "reasoning_effort"]);

/** Adds the vendor's reasoning fields. The body has none of them, or they are removed by another splice. */
function addReasoning(root: JsonNode, fields: Fields): Splice[] {
  return Object.entries(fields).map(([name, value]) => appendMember(root, name, JSON.stringify(value)));
}

/** Adds an empty object schema to functions without `parameters`, because some vendors require one. */
function addToolParameters(request: ScannedChatRequest, splices: Splice[]): void {
  for (const tool of itemsOf(request.root, "tools")) {
    const fn = memberOf(tool, "function");
    const parameters = memberOf(fn, "parameters");
    if (fn === undefined || !isWord(request.text, memberOf(tool, "type"), "function")) continue;
    if (parameters === undefined) splices.push(appendMember(fn, "parameters", EMPTY_SCHEMA));
    else if (parameters.kind === "null") {
      splices.push({ start: parameters.start, end: parameters.end, insert: EMPTY_SCHEMA });
    }
  }
}

const EMPTY_SCHEMA = '{"type":"object","properties":{}}';
