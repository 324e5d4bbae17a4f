import type { ModelTarget } from "../../canonical/format.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import { isWord, type JsonNode, memberOf } from "../../json/scan.ts";
import {
  appendMember,
  applySplices,
  changeTexts,
  removeMembers,
  type Splice,
  setMember,
} from "../../json/splice.ts";
import { asksForEncrypted, ENCRYPTED_REASONING, takesPlainReasoning } from "../encrypted-reasoning.ts";
import { originOfModel } from "../reasoning-origin.ts";
import type { ResponsesRequest } from "./scan-request.ts";

/** Whether a request's own bytes may go to an upstream of this format; else the hub's do. */
export function canForwardResponses(request: ResponsesRequest, model: ModelTarget): boolean {
  const { root, needsHub, hasPlainReasoning, reasoningOrigins } = request;
  if (needsHub || (hasPlainReasoning && !takesPlainReasoning(model))) return false;
  if (model.noInstructions === true && isSaid(memberOf(root, "instructions"))) return false;
  // What is said of reasoning to a model that does not reason is refused.
  if (model.reasons === false && (isSaid(memberOf(root, "reasoning")) || includesEncrypted(request)))
    return false;
  const own = originOfModel(model.name);
  return [...reasoningOrigins].every((origin) => origin === own);
}

function isSaid(node: JsonNode | undefined): boolean {
  return node !== undefined && node.kind !== "null";
}

function includesEncrypted({ text, root }: ResponsesRequest): boolean {
  return (memberOf(root, "include")?.items ?? []).some((name) => isWord(text, name, ENCRYPTED_REASONING));
}

/** What an upstream wants to be different from what the client sent. */
export interface ResponsesTarget {
  readonly model: ModelTarget;
  /** Fields that it refuses. */
  readonly refusedFields: ReadonlySet<string>;
  /** The most tokens that the answer may have; absent or null: as the client says. */
  readonly maxTokens?: number | null;
  /** What it is told in place of the client's user. */
  readonly hashUser: (user: string) => string;
}

/**
 * The body for an upstream of the same format: the client's bytes with the model named as it is there, nothing stored,
 * and the gateway's own fields taken out.
 */
export function forwardResponsesRequest(
  request: ResponsesRequest,
  { model, refusedFields, maxTokens = null, hashUser }: ResponsesTarget,
): Buffer {
  const { bytes, text, root } = request;
  const named = memberOf(root, "model") as JsonNode;
  const removed = refusedFields.size === 0 ? GATEWAY_FIELDS : GATEWAY_FIELDS.union(refusedFields);
  const users = refusedFields.size === 0 ? USER_FIELDS : USER_FIELDS.difference(refusedFields);
  const splices: Splice[] = [
    { start: named.start, end: named.end, insert: JSON.stringify(model.name) },
    storeNothing(root),
    ...(refusedFields.has("include") ? [] : askForEncrypted(request, model)),
    ...(maxTokens === null || refusedFields.has("max_output_tokens")
      ? []
      : [setMember(root, "max_output_tokens", String(maxTokens))]),
    ...addToolParameters(request),
    ...changeTexts(text, root, users, hashUser),
    ...removeMembers(text, root, removed),
  ];
  return applySplices(bytes, splices);
}

/** Where nothing is said, OpenAI stores. */
function storeNothing(root: JsonNode): Splice {
  return setMember(root, "store", "false");
}

/** Where nothing is stored, the next turn needs the reasoning of this one. */
function askForEncrypted(request: ResponsesRequest, model: ModelTarget): Splice[] {
  const { root, reasoningOrigins, hasPlainReasoning } = request;
  const mentionsReasoning =
    isSaid(memberOf(root, "reasoning")) || hasPlainReasoning || reasoningOrigins.size > 0;
  if (!asksForEncrypted(model, mentionsReasoning) || includesEncrypted(request)) return [];
  const included = memberOf(root, "include");
  const name = JSON.stringify(ENCRYPTED_REASONING);
  if (included === undefined) return [appendMember(root, "include", `[${name}]`)];
  const last = included.items?.at(-1);
  if (last === undefined) return [{ start: included.start, end: included.end, insert: `[${name}]` }];
  return [{ start: last.end, end: last.end, insert: `,${name}` }];
}

/** A function without `parameters` takes none, which upstreams want to see as a schema. */
function addToolParameters({ text, root }: ResponsesRequest): Splice[] {
  const splices: Splice[] = [];
  for (const tool of memberOf(root, "tools")?.items ?? []) {
    if (!isWord(text, memberOf(tool, "type"), "function")) continue;
    const parameters = memberOf(tool, "parameters");
    if (parameters === undefined) splices.push(appendMember(tool, "parameters", NO_ARGUMENTS));
    else if (parameters.kind === "null") {
      splices.push({ start: parameters.start, end: parameters.end, insert: NO_ARGUMENTS });
    }
  }
  return splices;
}

const NO_ARGUMENTS = '{"type":"object","properties":{}}';
