import { allBut, eitherOf, type NameSet } from "../../../base/collections/name-sets.ts";
import type { Fields } from "../../../base/json/fields.ts";
import { type FieldsNode, isWord, type JsonNode, memberOf, type Shape } from "../../../base/json/scan.ts";
import {
  addAll,
  appendMember,
  changeTexts,
  LEFT_OUT_NOTHING,
  type LeftOut,
  removeMembers,
  replaceName,
  type Splice,
  setMember,
  spliceBody,
} from "../../../base/json/splice.ts";
import type { ComposedBytes } from "../../../base/text/composed-bytes.ts";
import type { ChatTraits } from "../../canonical/model/chat-traits.ts";
import type { ModelTarget } from "../../canonical/model/format.ts";
import type { Repair } from "../../conversation/calls/outline.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import { fitMessages, forwardMessages, removeToolMarks } from "./forward-messages.ts";
import type { ScannedChatRequest } from "./scan-request.ts";

/** How a provider of this format deviates from it. */
export interface ChatProvider {
  readonly model: Pick<ModelTarget, "name">;
  /** The provider does not accept `stream_options`. */
  readonly noStreamOptions: boolean;
  /** Fields that the provider names differently, as pairs of client name and provider name. */
  readonly renames: readonly (readonly [string, string])[];
  /** Fields that the provider rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** How its messages differ from OpenAI's. */
  readonly traits: ChatTraits;
  /** `store: false` is sent, whatever the client sent. Absent: not. */
  readonly sendsStoreFalse?: boolean;
}

/** How a request is sent to its provider. */
export interface ChatTarget {
  readonly provider: ChatProvider;
  /** The maximum number of tokens per answer; absent or null to keep the client's limit. */
  readonly maxTokens?: number | null;
  /** Returns the hash that the provider gets instead of the client's user. */
  hashUser(user: string): string;
}

/** The replacements for parts of a request. */
interface ChatChanges {
  /** The reasoning fields that replace the client's; null to keep the client's. */
  readonly reasoning: Fields | null;
  /** The repair of its tool calls; null if none is needed. */
  readonly repair: Repair | null;
  /** The parts that are omitted because they may cost; absent if there are none. */
  readonly leftOut?: LeftOut;
}

/**
 * Returns the body for an upstream of the same format: the client's bytes with as few edits as possible. The model gets the
 * provider's name, streams are requested with their usage, the gateway's own fields are removed, and repaired messages are put in.
 */
export function forwardChatRequest(
  request: ScannedChatRequest,
  target: ChatTarget,
  { reasoning, repair, leftOut = LEFT_OUT_NOTHING }: ChatChanges,
): Buffer | ComposedBytes {
  const { text, root } = request;
  const { provider } = target;
  const splices: Splice[] = [replaceModel(root, provider)];
  const keepsOptions = request.stream && !provider.noStreamOptions;
  let removed = listRemoved(provider, keepsOptions);
  removed = eitherOf(removed, leftOut.removed);
  addAll(splices, leftOut.splices);
  if (keepsOptions && !request.wantsUsageChunk) splices.push(requestUsage(request));
  removed = renameMembers(request, provider, { removed, splices });
  if (typeof target.maxTokens === "number") limitAnswer(root, target, { removed, splices });
  if (provider.sendsStoreFalse === true) splices.push(setMember(root, "store", "false"));
  addToolParameters(request, splices);
  if (reasoning !== null) {
    removed = eitherOf(removed, REASONING_FIELDS);
    for (const [name, value] of Object.entries(reasoning))
      splices.push(appendMember(root, name, JSON.stringify(value)));
  }
  if (repair !== null) splices.push(forwardMessages(request, repair, provider.traits));
  else addAll(splices, fitMessages(request, provider.traits));
  if (provider.traits.refusesCacheMarks) addAll(splices, removeToolMarks(request));
  if (request.hasHints) hideUsers(request, target, splices);
  addAll(splices, removeMembers(text, root, removed));
  return spliceBody(request.bytes, splices);
}

/** Replaces what names the client's user, except in fields that the provider does not get. A function of its own, because the one that it passes on costs its caller a scope. */
function hideUsers({ text, root }: ScannedBody, target: ChatTarget, splices: Splice[]): void {
  const { refusedFields } = target.provider;
  addAll(
    splices,
    changeTexts(text, root, allBut(USER_FIELDS, refusedFields), (user) => target.hashUser(user)),
  );
}

/** A scanned body. `text` is the body, bytes as Latin-1. */
interface ScannedBody {
  readonly text: string;
  readonly root: OpenaiBody;
}

/** A body of a chat or of text completions. */
type OpenaiBody = FieldsNode<{
  readonly model: Shape;
  readonly stream_options: Shape<FieldsNode<{ readonly include_usage: Shape }>>;
}>;

/** The fields that no provider gets, with `stream_options`. */
const GATEWAY_AND_OPTIONS: ReadonlySet<string> = new Set([...GATEWAY_FIELDS, "stream_options"]);

/** Returns the fields that a provider does not get. `keepsOptions`: it gets `stream_options`. */
export function listRemoved(
  { refusedFields }: Pick<ChatProvider, "refusedFields">,
  keepsOptions: boolean,
): NameSet {
  const always = keepsOptions ? GATEWAY_FIELDS : GATEWAY_AND_OPTIONS;
  return eitherOf(always, refusedFields);
}

/** Returns the splice that replaces the client's name of the model by the provider's. */
export function replaceModel(root: OpenaiBody, { model }: Pick<ChatProvider, "model">): Splice {
  const { start, end } = root.fields.model as JsonNode;
  return { start, end, insert: JSON.stringify(model.name) };
}

/**
 * Adds the splices that rename members as the provider names them. Returns the fields to remove: those of `removed`, and members that the
 * client sent under both names, of which the provider's own is kept.
 */
export function renameMembers(
  { text, root }: ScannedBody,
  { renames }: Pick<ChatProvider, "renames">,
  { removed, splices }: Edits,
): NameSet {
  let all = removed;
  for (const [from, to] of renames) {
    const member = memberOf(root, from);
    if (member === undefined || all.has(from)) continue;
    if (memberOf(root, to) !== undefined) all = eitherOf(all, new Set([from]));
    else splices.push(replaceName(text, member, JSON.stringify(to)));
  }
  return all;
}

const INCLUDE_USAGE = '"include_usage":true';

/** Returns the splice that requests the usage of a stream, whether or not the client did (docs/api/chat.md, "Usage"). */
export function requestUsage({ text, root }: ScannedBody): Splice {
  const options = root.fields.stream_options;
  if (options === undefined) return appendMember(root, "stream_options", `{${INCLUDE_USAGE}}`);
  if (options.kind !== "object")
    return { start: options.start, end: options.end, insert: `{${INCLUDE_USAGE}}` };
  const included = options.fields.include_usage;
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

/** The splices of a request so far, and the fields that are removed from it. */
interface Edits {
  readonly splices: Splice[];
  readonly removed: NameSet;
}

/** Replaces the client's limit by the target's, or adds it in the provider's spelling. */
export function limitAnswer(
  root: JsonNode,
  {
    maxTokens = null,
    provider,
  }: Pick<ChatTarget, "maxTokens"> & {
    readonly provider: Pick<ChatProvider, "renames" | "refusedFields">;
  },
  { splices, removed }: Edits,
): void {
  if (maxTokens === null) return;
  const insert = String(maxTokens);
  const given = LIMITS.map((name) => memberOf(root, name)).filter((member) => member !== undefined);
  const kept = given.filter(({ key }) => !removed.has(key));
  for (const { start, end } of kept) splices.push({ start, end, insert });
  const name = provider.renames.find(([from]) => from === LIMITS[0])?.[1] ?? LIMITS[0];
  if (kept.length === 0 && !provider.refusedFields.has(name)) splices.push(appendMember(root, name, insert));
}

/** Fields in which clients of this format set the amount of reasoning. */
export const REASONING_FIELDS: ReadonlySet<string> = new Set(["reasoning", "reasoning_effort"]);

/** Adds an empty object schema to functions without `parameters`, because some vendors require one. */
function addToolParameters(request: ScannedChatRequest, splices: Splice[]): void {
  for (const { fields } of request.tools) {
    const fn = fields.function;
    const parameters = fn?.fields.parameters;
    if (fn === undefined || !isWord(request.text, fields.type, "function")) continue;
    if (parameters === undefined) splices.push(appendMember(fn, "parameters", EMPTY_SCHEMA));
    else if (parameters.kind === "null") {
      splices.push({ start: parameters.start, end: parameters.end, insert: EMPTY_SCHEMA });
    }
  }
}

const EMPTY_SCHEMA = '{"type":"object","properties":{}}';
