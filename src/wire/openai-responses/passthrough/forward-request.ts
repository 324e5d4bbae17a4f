import { allBut, eitherOf } from "../../../base/collections/name-sets.ts";
import { asFields, asText } from "../../../base/json/fields.ts";
import { isWord, type JsonNode, tryParseNode } from "../../../base/json/scan.ts";
import {
  appendMember,
  changeTexts,
  LEFT_OUT_NOTHING,
  type LeftOut,
  NO_SPLICES,
  removeMembers,
  type Splice,
  setMember,
  spliceBody,
} from "../../../base/json/splice.ts";
import type { ComposedBytes } from "../../../base/text/composed-bytes.ts";
import type { ModelTarget } from "../../canonical/model/format.ts";
import { isAbsent } from "../../conversation/check-nodes.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import { asksForEncrypted, ENCRYPTED_REASONING, takesPlainReasoning } from "../encrypted-reasoning.ts";
import { originOfModel } from "../reasoning-origin.ts";
import { takesEffort } from "../translate/request/reasoning-parameters.ts";
import type { ScannedResponsesRequest } from "./scan-request.ts";

/** Returns whether the bytes of a request may be forwarded to an upstream of this format. If not, the request is translated. */
export function canForwardResponses(request: ScannedResponsesRequest, model: ModelTarget): boolean {
  const { root, needsHub, hasPlainReasoning, reasoningOrigins } = request;
  if (needsHub || (hasPlainReasoning && !takesPlainReasoning(model))) return false;
  // Models that do not reason reject fields about reasoning.
  if (model.reasons === false && (!isAbsent(root.fields.reasoning) || includesEncrypted(request)))
    return false;
  if (!takesAskedEffort(request, model)) return false;
  const own = originOfModel(model.name);
  return [...reasoningOrigins].every((origin) => origin === own);
}

function takesAskedEffort({ text, root }: ScannedResponsesRequest, model: ModelTarget): boolean {
  const reasoning = root.fields.reasoning;
  if (reasoning === undefined) return true;
  const effort = asText(asFields(tryParseNode(text, reasoning))?.["effort"]);
  return effort === null || takesEffort(model, effort);
}

function includesEncrypted({ text, root }: ScannedResponsesRequest): boolean {
  return (root.fields.include?.items ?? []).some((name) => isWord(text, name, ENCRYPTED_REASONING));
}

/** How a request is sent to its provider. */
export interface ResponsesTarget {
  readonly provider: {
    readonly model: ModelTarget;
    /** Fields that it rejects. */
    readonly refusedFields: ReadonlySet<string>;
    /** Fields that ask it to store something, under zero data retention. Absent: it may store. */
    readonly storingFields?: ReadonlySet<string>;
  };
  /** The token limit of the answer; absent or null to keep the client's. */
  readonly maxTokens?: number | null;
  /** Returns the hash that is sent to the upstream in place of the client's user. */
  hashUser(user: string): string;
}

/**
 * Encodes the body for an upstream of this format: the client's bytes with the upstream's model name, and with `store: false` unless the
 * client asks for storing by this vendor. The gateway's own fields, and parts that may cost, are omitted.
 */
export function forwardResponsesRequest(
  request: ScannedResponsesRequest,
  target: ResponsesTarget,
  leftOut: LeftOut = LEFT_OUT_NOTHING,
): Buffer | ComposedBytes {
  const { bytes, text, root } = request;
  const { provider, maxTokens = null } = target;
  const { model, refusedFields } = provider;
  const { start, end } = root.fields.model as JsonNode;
  const removed = eitherOf(eitherOf(GATEWAY_FIELDS, refusedFields), leftOut.removed);
  const users = allBut(USER_FIELDS, refusedFields);
  const splices: Splice[] = [{ start, end, insert: JSON.stringify(model.name) }, setStore(request, provider)];
  if (!refusedFields.has("include")) splices.push(...requestEncrypted(request, model));
  if (maxTokens !== null && !refusedFields.has("max_output_tokens"))
    splices.push(setMember(root, "max_output_tokens", String(maxTokens)));
  addToolParameters(request, splices);
  splices.push(...changeTexts(text, root, users, (user) => target.hashUser(user)));
  splices.push(...leftOut.splices, ...removeMembers(text, root, removed));
  return spliceBody(bytes, splices);
}

/** Says whether the vendor stores the response: OpenAI does by default. Under zero data retention it never does. */
function setStore(
  { root, preferences }: ScannedResponsesRequest,
  { storingFields }: ResponsesTarget["provider"],
): Splice {
  const stores = preferences.storesAtVendor && storingFields === undefined;
  return setMember(root, "store", String(stores));
}

/** Requests encrypted reasoning: without stored responses, the next turn needs the reasoning of this one. */
function requestEncrypted(request: ScannedResponsesRequest, model: ModelTarget): readonly Splice[] {
  const { root, reasoningOrigins, hasPlainReasoning } = request;
  const mentionsReasoning =
    !isAbsent(root.fields.reasoning) || hasPlainReasoning || reasoningOrigins.size > 0;
  if (!asksForEncrypted(model, mentionsReasoning) || includesEncrypted(request)) return NO_SPLICES;
  const included = root.fields.include;
  const name = JSON.stringify(ENCRYPTED_REASONING);
  if (included === undefined) return [appendMember(root, "include", `[${name}]`)];
  const last = included.items?.at(-1);
  if (last === undefined) return [{ start: included.start, end: included.end, insert: `[${name}]` }];
  return [{ start: last.end, end: last.end, insert: `,${name}` }];
}

/** Adds an empty schema to functions without `parameters`, which upstreams demand. */
function addToolParameters({ text, root }: ScannedResponsesRequest, splices: Splice[]): void {
  for (const tool of root.fields.tools?.items ?? []) {
    if (!isWord(text, tool.fields.type, "function")) continue;
    const parameters = tool.fields.parameters;
    if (parameters === undefined) splices.push(appendMember(tool, "parameters", NO_ARGUMENTS));
    else if (parameters.kind === "null") {
      splices.push({ start: parameters.start, end: parameters.end, insert: NO_ARGUMENTS });
    }
  }
}

const NO_ARGUMENTS = '{"type":"object","properties":{}}';
