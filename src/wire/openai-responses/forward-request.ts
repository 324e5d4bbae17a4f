import { USER_FIELDS } from "../conversation/user-fields.ts";
import { isWord, type JsonNode, memberOf } from "../json/scan.ts";
import {
  appendMember,
  applySplices,
  changeTexts,
  overwriteSplices,
  removeMembers,
  type Splice,
  setMember,
} from "../json/splice.ts";
import { originOfModel } from "./reasoning.ts";
import { GATEWAY_FIELDS } from "./request-shape.ts";
import type { ResponsesRequest } from "./scan-request.ts";

/** Whether a request's own bytes may go to an upstream of this format that calls the model `model`; else the hub's do. */
export function canForwardResponses(request: ResponsesRequest, model: string): boolean {
  if (request.needsHub) return false;
  const own = originOfModel(model);
  return [...request.reasoningOrigins].every((origin) => origin === own);
}

/** What an upstream wants to be different from what the client sent. */
export interface ResponsesTarget {
  /** The model's name there. */
  readonly model: string;
  /** Nobody else will be asked, so the client's bytes may be overwritten instead of copied. */
  readonly isLast: boolean;
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
  { model, isLast, maxTokens = null, hashUser }: ResponsesTarget,
): Buffer {
  const { bytes, text, root } = request;
  const named = memberOf(root, "model") as JsonNode;
  const splices: Splice[] = [
    { start: named.start, end: named.end, insert: JSON.stringify(model) },
    storeNothing(root),
    ...(maxTokens === null ? [] : [setMember(root, "max_output_tokens", String(maxTokens))]),
    ...addToolParameters(request),
    ...changeTexts(text, root, USER_FIELDS, hashUser),
    ...removeMembers(text, root, GATEWAY_FIELDS),
  ];
  return isLast ? overwriteSplices(bytes, splices) : applySplices(bytes, splices);
}

/** Where nothing is said, OpenAI stores. */
function storeNothing(root: JsonNode): Splice {
  return setMember(root, "store", "false");
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
