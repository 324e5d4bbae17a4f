import { allBut, eitherOf } from "../../../base/collections/name-sets.ts";
import {
  applySplices,
  changeTexts,
  type LeftOut,
  removeMembers,
  type Splice,
} from "../../../base/json/splice.ts";
import { USER_FIELDS } from "../../conversation/user-fields.ts";
import {
  type ChatProvider,
  type ChatTarget,
  limitAnswer,
  listRemoved,
  renameMembers,
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
  const keepsOptions = request.stream && !provider.noStreamOptions;
  const splices: Splice[] = [replaceModel(root, provider), ...leftOut.splices];
  if (keepsOptions && !request.wantsUsageChunk) splices.push(requestUsage(request));
  const refused = eitherOf(listRemoved(provider, keepsOptions), leftOut.removed);
  const removed = renameMembers(request, provider, { removed: refused, splices });
  limitAnswer(root, target, { splices, removed });
  splices.push(...changeTexts(text, root, allBut(USER_FIELDS, removed), (user) => target.hashUser(user)));
  splices.push(...removeMembers(text, root, removed));
  return applySplices(request.bytes, splices);
}
