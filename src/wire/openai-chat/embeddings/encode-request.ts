import { allBut } from "../../../base/collections/name-sets.ts";
import { type JsonNode, memberOf } from "../../../base/json/scan.ts";
import {
  applySplices,
  changeTexts,
  LEFT_OUT_NOTHING,
  type LeftOut,
  removeMembers,
  renameMember,
  type Splice,
} from "../../../base/json/splice.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import type { EmbeddingsRequest } from "./decode-request.ts";

/** How a request has to be changed for the chosen provider. */
export interface EmbeddingsTarget {
  /** The model's name at the provider. */
  readonly model: string;
  /** Fields that the provider names differently, as pairs of client name and provider name. */
  readonly renames: readonly (readonly [string, string])[];
  /** The only fields that the provider accepts; null if it ignores unknown ones. */
  readonly knownFields: ReadonlySet<string> | null;
  /** Fields that the provider rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** Fields that would ask the vendor to store something, which are left out under zero data retention. */
  readonly storingFields: ReadonlySet<string>;
  /** Returns the hash that the provider gets in place of the client's user. */
  readonly hashUser: (user: string) => string;
  /** The parts that may cost more than the prices cover; absent if there are none. */
  readonly leftOut?: LeftOut;
}

/** Fields that are dropped without a warning. */
const DISPENSABLE = ["user", "input_type"] as const;

/** Lists the fields that are removed because the vendor would reject the whole request. */
export function listLeftOut(
  { root }: EmbeddingsRequest,
  target: Pick<EmbeddingsTarget, "knownFields" | "refusedFields" | "storingFields">,
): readonly string[] {
  const { knownFields, refusedFields, storingFields } = target;
  return [...DISPENSABLE, ...storingFields].filter(
    (field) =>
      memberOf(root, field) !== undefined && (refusedFields.has(field) || knownFields?.has(field) === false),
  );
}

/** Returns the body for an upstream of the same format: the client's bytes with the provider's model name. */
export function encodeEmbeddingsRequest(request: EmbeddingsRequest, target: EmbeddingsTarget): Buffer {
  const { bytes, text, root, parameters } = request;
  const { leftOut = LEFT_OUT_NOTHING } = target;
  const model = memberOf(root, "model") as JsonNode;
  const splices: Splice[] = [{ start: model.start, end: model.end, insert: JSON.stringify(target.model) }];
  const removed = new Set([...GATEWAY_FIELDS, ...listLeftOut(request, target), ...leftOut.removed]);
  splices.push(...leftOut.splices);
  for (const [from, to] of target.renames) {
    const member = memberOf(root, from);
    if (member === undefined || removed.has(from)) continue;
    // If the client sent both names, the provider's own is kept.
    if (to in parameters.extras) removed.add(from);
    else splices.push(renameMember(text, member, to));
  }
  splices.push(...changeTexts(text, root, allBut(USER_FIELDS, removed), target.hashUser));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(bytes, splices);
}
