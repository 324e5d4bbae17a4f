import { memberOf } from "../../json/scan.ts";
import { applySplices, changeTexts, removeMembers, renameMember, type Splice } from "../../json/splice.ts";
import {
  type ChatTarget,
  fieldsToEdit,
  limitAnswer,
  replaceModel,
  requestUsage,
} from "../../openai-chat/passthrough/forward-request.ts";
import type { ScannedCompletion } from "./scan-request.ts";

/** How a request has to be changed for the chosen provider. */
export interface CompletionTarget
  extends Pick<
    ChatTarget,
    "model" | "noStreamOptions" | "renames" | "refusedFields" | "maxTokens" | "hashUser"
  > {
  /** Fields that the model does not accept. */
  readonly leftOut: ReadonlySet<string>;
}

/**
 * Returns the body for a provider with this endpoint: the client's bytes with as few edits as possible. The model gets the
 * provider's name, streams are requested with their usage, and the gateway's own fields are removed.
 */
export function forwardCompletionRequest(request: ScannedCompletion, target: CompletionTarget): Buffer {
  const { text, root } = request;
  const known = fieldsToEdit(target.refusedFields);
  const keepsOptions = request.stream && !target.noStreamOptions;
  const removed = new Set(keepsOptions ? known.removed : known.removedWithOptions).union(target.leftOut);
  const splices: Splice[] = [replaceModel(root, target.model)];
  if (keepsOptions && !request.wantsUsageChunk) splices.push(requestUsage(request));
  for (const [from, to] of target.renames) {
    const member = memberOf(root, from);
    if (member === undefined) continue;
    // If the client sent both names, the provider's own is kept.
    if (memberOf(root, to) !== undefined) removed.add(from);
    else splices.push(renameMember(text, member, to));
  }
  splices.push(...limitAnswer(root, target, removed));
  splices.push(...changeTexts(text, root, known.users.difference(removed), target.hashUser));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(request.bytes, splices);
}
