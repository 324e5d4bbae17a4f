import { eitherOf } from "../../../base/collections/name-sets.ts";
import type { JsonNode } from "../../../base/json/scan.ts";
import {
  changeTexts,
  LEFT_OUT_NOTHING,
  type LeftOut,
  removeMembers,
  type Splice,
  setMember,
  spliceBody,
} from "../../../base/json/splice.ts";
import type { ComposedBytes } from "../../../base/text/composed-bytes.ts";
import type { ModelTarget } from "../../canonical/model/format.ts";
import type { CacheMarking } from "../../conversation/cache-marking.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { splitUserId } from "../split-user-id.ts";
import { markPrompt } from "./mark-prompt.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** How a request is sent to its provider. */
interface MessagesTarget {
  readonly provider: {
    readonly model: Pick<ModelTarget, "name">;
    /** Fields that it rejects. */
    readonly refusedFields: ReadonlySet<string>;
  };
  /** The token limit of the answer; absent or null to keep the client's. */
  readonly maxTokens?: number | null;
  /** Where the gateway marks the prompt for the vendor's cache; absent or null for no marks. */
  readonly cacheMarking?: CacheMarking | null;
  /** Returns the hash that is sent to the upstream in place of the client's user. */
  hashUser(user: string): string;
}

const USER_ID: ReadonlySet<string> = new Set(["user_id"]);

/**
 * Encodes the body for an upstream of this format: the client's bytes with the upstream's model name. Fields that address the gateway, and
 * parts that may cost, are omitted.
 */
export function forwardMessagesRequest(
  request: ScannedMessagesRequest,
  target: MessagesTarget,
  leftOut: LeftOut = LEFT_OUT_NOTHING,
): Buffer | ComposedBytes {
  const { bytes, text, root } = request;
  const { provider, maxTokens = null, cacheMarking = null } = target;
  const { model, refusedFields } = provider;
  const { start, end } = root.fields.model as JsonNode;
  const removed = eitherOf(eitherOf(GATEWAY_FIELDS, refusedFields), leftOut.removed);
  const hideUser = (userId: string): string => target.hashUser(splitUserId(userId).user);
  const splices: Splice[] = [{ start, end, insert: JSON.stringify(model.name) }];
  if (maxTokens !== null) splices.push(setMember(root, "max_tokens", String(maxTokens)));
  splices.push(...changeTexts(text, root.fields.metadata, USER_ID, hideUser));
  if (cacheMarking !== null) splices.push(...markPrompt(request, cacheMarking));
  splices.push(...leftOut.splices, ...removeMembers(text, root, removed));
  return spliceBody(bytes, splices);
}
