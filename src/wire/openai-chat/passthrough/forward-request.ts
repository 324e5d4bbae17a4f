import type { Repair } from "../../conversation/outline.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import type { Fields } from "../../json/fields.ts";
import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import {
  appendMember,
  applySplices,
  changeTexts,
  removeMembers,
  renameMember,
  type Splice,
} from "../../json/splice.ts";
import { GATEWAY_FIELDS } from "../gateway-fields.ts";
import { forwardMessages, removeEmptyCalls, renameReasoning } from "./forward-messages.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** What the chosen provider wants to be different from what the client sent. */
export interface ChatTarget {
  /** The model's name there. */
  readonly model: string;
  /** It takes no `stream_options`. */
  readonly noStreamOptions: boolean;
  /** Fields that it spells otherwise: from, to. */
  readonly renames: readonly (readonly [string, string])[];
  /** Fields that it refuses. */
  readonly refusedFields: ReadonlySet<string>;
  /** The most tokens that each answer may have; null: as the client says. */
  readonly maxTokens: number | null;
  /** It wants the reasoning of earlier turns back as `reasoning_content`. */
  readonly wantsReasoningContent: boolean;
  /** What it is told in place of the client's user. */
  readonly hashUser: (user: string) => string;
  /** What it is told of reasoning in place of what the client says; null: what the client says. */
  readonly reasoning: Fields | null;
}

/**
 * The body for an upstream of the same format: the client's bytes with the fewest edits. The model is named as it is
 * there, usage is asked for in streams, the gateway's own fields are taken out, repaired messages put in.
 */
export function forwardChatRequest(
  request: ScannedChatRequest,
  target: ChatTarget,
  repair: Repair | null,
): Buffer {
  const { text, root } = request;
  const splices: Splice[] = [replaceModel(root, target.model)];
  const keepsOptions = request.stream && !target.noStreamOptions;
  const known = fieldsToEdit(target.refusedFields);
  let removed = keepsOptions ? known.removed : known.removedWithOptions;
  if (keepsOptions && !request.wantsUsageChunk) splices.push(askForUsage(request));
  for (const [from, to] of target.renames) {
    const member = memberOf(root, from);
    if (member === undefined) continue;
    // Where it stands in both spellings, the vendor's stays.
    if (memberOf(root, to) !== undefined) removed = new Set(removed).add(from);
    else splices.push(renameMember(text, member, to));
  }
  if (target.maxTokens !== null) splices.push(...boundAnswer(root, target.maxTokens, target, removed));
  addToolParameters(request, splices);
  if (target.reasoning !== null) {
    removed = removed.union(REASONING_FIELDS);
    splices.push(...sayReasoning(root, target.reasoning));
  }
  if (repair !== null) splices.push(forwardMessages(request, repair, target.wantsReasoningContent));
  else {
    for (const message of memberOf(root, "messages")?.items ?? [])
      splices.push(...removeEmptyCalls(text, message));
    if (target.wantsReasoningContent) for (const splice of renameReasoning(text, root)) splices.push(splice);
  }
  splices.push(...changeTexts(text, root, known.users, target.hashUser));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(request.bytes, splices);
}

/** What of a request's fields a provider does not get, and whom it gets under another name. */
interface EditedFields {
  readonly removed: ReadonlySet<string>;
  /** The same where `stream_options` have no place either. */
  readonly removedWithOptions: ReadonlySet<string>;
  readonly users: ReadonlySet<string>;
}

/** By what a provider refuses, a set that is made once an offer. */
const edits = new WeakMap<ReadonlySet<string>, EditedFields>();

function fieldsToEdit(refused: ReadonlySet<string>): EditedFields {
  let known = edits.get(refused);
  if (known === undefined) {
    const removed = GATEWAY_FIELDS.union(refused);
    const removedWithOptions = new Set(removed).add("stream_options");
    known = { removed, removedWithOptions, users: USER_FIELDS.difference(removed) };
    edits.set(refused, known);
  }
  return known;
}

function replaceModel(root: JsonNode, model: string): Splice {
  const node = memberOf(root, "model") as JsonNode;
  return { start: node.start, end: node.end, insert: JSON.stringify(model) };
}

const ASK = '"include_usage":true';

/** Usage is asked for whether or not the client did (docs/contract.md, "Chat completions"). */
function askForUsage({ text, root }: ScannedChatRequest): Splice {
  const options = memberOf(root, "stream_options");
  if (options === undefined) return appendMember(root, "stream_options", `{${ASK}}`);
  if (options.kind !== "object") return { start: options.start, end: options.end, insert: `{${ASK}}` };
  const asked = memberOf(options, "include_usage");
  if (asked !== undefined) return { start: asked.start, end: asked.end, insert: "true" };
  const isEmpty = /^\{\s*\}$/.test(text.slice(options.start, options.end));
  return { start: options.start + 1, end: options.start + 1, insert: isEmpty ? ASK : `${ASK},` };
}

/** Fields that bound an answer. */
const BOUNDS = ["max_tokens", "max_completion_tokens"] as const;

/** Lowers the client's bound, or sets one in the provider's spelling. */
function boundAnswer(
  root: JsonNode,
  maxTokens: number,
  { renames, refusedFields }: ChatTarget,
  removed: ReadonlySet<string>,
): Splice[] {
  const insert = String(maxTokens);
  const said = BOUNDS.map((name) => memberOf(root, name)).filter((member) => member !== undefined);
  const kept = said.filter(({ key }) => !removed.has(key));
  if (kept.length > 0) return kept.map(({ start, end }) => ({ start, end, insert }));
  const name = renames.find(([from]) => from === BOUNDS[0])?.[1] ?? BOUNDS[0];
  return refusedFields.has(name) ? [] : [appendMember(root, name, insert)];
}

/** Fields in which clients of this format say how much to reason. */
export const REASONING_FIELDS: ReadonlySet<string> = new Set(["reasoning", "reasoning_effort"]);

/** The vendor's fields for reasoning, none of which the body has but those that are taken out. */
function sayReasoning(root: JsonNode, said: Fields): Splice[] {
  return Object.entries(said).map(([name, value]) => appendMember(root, name, JSON.stringify(value)));
}

/** A tool without `parameters` takes none: an empty object schema, which some vendors want to see. */
function addToolParameters(request: ScannedChatRequest, splices: Splice[]): void {
  for (const tool of memberOf(request.root, "tools")?.items ?? []) {
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
