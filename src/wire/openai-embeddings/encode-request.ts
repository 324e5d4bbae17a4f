import { USER_FIELDS } from "../conversation/user-fields.ts";
import { type JsonNode, memberOf } from "../json/scan.ts";
import { applySplices, changeTexts, removeMembers, renameMember, type Splice } from "../json/splice.ts";
import { type EmbeddingsRequest, GATEWAY_FIELDS } from "./decode-request.ts";

/** What the chosen provider wants to be different from what the client sent. */
export interface EmbeddingsTarget {
  /** The model's name there. */
  readonly model: string;
  /** Fields that it spells otherwise: from, to. */
  readonly renames: readonly (readonly [string, string])[];
  /** All that a request's fields may be there; null where nobody minds. */
  readonly knownFields: ReadonlySet<string> | null;
  /** Fields that it refuses. */
  readonly refusedFields: ReadonlySet<string>;
  /** What it is told in place of the client's user. */
  readonly hashUser: (user: string) => string;
}

/** Fields that a vendor does well without. */
const DISPENSABLE = ["user", "input_type"] as const;

/** Those of the request's fields that are kept from a vendor because it would refuse the whole request. */
export function listLeftOut(
  { root }: EmbeddingsRequest,
  target: Pick<EmbeddingsTarget, "knownFields" | "refusedFields">,
): readonly string[] {
  const { knownFields, refusedFields } = target;
  return DISPENSABLE.filter(
    (field) =>
      memberOf(root, field) !== undefined && (refusedFields.has(field) || knownFields?.has(field) === false),
  );
}

/** The body for an upstream of the same format: the client's bytes, the model named as it is there. */
export function encodeEmbeddingsRequest(request: EmbeddingsRequest, target: EmbeddingsTarget): Buffer {
  const { bytes, text, root, wish } = request;
  const model = memberOf(root, "model") as JsonNode;
  const splices: Splice[] = [{ start: model.start, end: model.end, insert: JSON.stringify(target.model) }];
  const removed = new Set([...GATEWAY_FIELDS, ...listLeftOut(request, target)]);
  for (const [from, to] of target.renames) {
    const member = memberOf(root, from);
    if (member === undefined) continue;
    // Where it stands in both spellings, the vendor's stays.
    if (to in wish.extras) removed.add(from);
    else splices.push(renameMember(text, member, to));
  }
  splices.push(...changeTexts(text, root, USER_FIELDS.difference(removed), target.hashUser));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(bytes, splices);
}
