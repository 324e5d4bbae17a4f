import { memberOf } from "../../../base/json/scan.ts";
import {
  applySplices,
  changeTexts,
  type LeftOut,
  removeMembers,
  replaceName,
  type Splice,
} from "../../../base/json/splice.ts";
import {
  type ChatProvider,
  type ChatTarget,
  editsFor,
  limitAnswer,
  replaceModel,
  requestUsage,
} from "../../openai-chat/passthrough/forward-request.ts";
import type { ScannedCompletion } from "./scan-request.ts";

/** How a request is sent to its provider. */
interface CompletionTarget extends Pick<ChatTarget, "maxTokens" | "hashUser"> {
  readonly provider: Pick<ChatProvider, "model" | "noStreamOptions" | "renames" | "refusedFields">;
}

/**
 * Returns the body for a provider with this endpoint: the client's bytes with as few edits as possible. The model gets the
 * provider's name, streams are requested with their usage, and the gateway's own fields are removed. `leftOut` are fields that the
 * model does not accept, and those that may cost more than there are prices for.
 */
export function forwardCompletionRequest(
  request: ScannedCompletion,
  target: CompletionTarget,
  leftOut: LeftOut,
): Buffer {
  const { text, root } = request;
  const { provider } = target;
  const edits = editsFor(provider);
  const keepsOptions = request.stream && !provider.noStreamOptions;
  const removed = new Set(keepsOptions ? edits.removed : edits.removedWithOptions).union(leftOut.removed);
  const splices: Splice[] = [replaceModel(root, edits), ...leftOut.splices];
  if (keepsOptions && !request.wantsUsageChunk) splices.push(requestUsage(request));
  for (const { from, to, json } of edits.renames) {
    const member = memberOf(root, from);
    if (member === undefined || removed.has(from)) continue;
    // If the client sent both names, the provider's own is kept.
    if (memberOf(root, to) !== undefined) removed.add(from);
    else splices.push(replaceName(text, member, json));
  }
  limitAnswer(root, target, { splices, removed });
  const users = edits.users.difference(removed);
  splices.push(...changeTexts(text, root, users, (user) => target.hashUser(user)));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(request.bytes, splices);
}
