import type { BytePieces } from "../../../base/byte-pieces.ts";
import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { type JsonNode, memberOf } from "../../json/scan.ts";
import { changeTexts, removeMembers, setMember, spliceBody } from "../../json/splice.ts";
import { splitUserId } from "../split-user-id.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** How the request of an upstream differs from the client's. */
export interface MessagesTarget {
  /** The upstream's name of the model. */
  readonly model: string;
  /** Fields that it rejects. */
  readonly refusedFields: ReadonlySet<string>;
  /** The token limit of the answer; absent or null to keep the client's. */
  readonly maxTokens?: number | null;
  /** Returns what the upstream is sent instead of the client's user. */
  readonly hashUser: (user: string) => string;
}

const USER_ID: ReadonlySet<string> = new Set(["user_id"]);

/**
 * Encodes the body for an upstream of this format: the client's bytes with the upstream's model name and without the fields that
 * address the gateway.
 */
export function forwardMessagesRequest(
  { bytes, text, root }: ScannedMessagesRequest,
  { model, refusedFields, maxTokens = null, hashUser }: MessagesTarget,
): Buffer | BytePieces {
  const { start, end } = memberOf(root, "model") as JsonNode;
  const hideUser = (userId: string): string => hashUser(splitUserId(userId).user);
  const splices = [
    { start, end, insert: JSON.stringify(model) },
    ...(maxTokens === null ? [] : [setMember(root, "max_tokens", String(maxTokens))]),
    ...changeTexts(text, memberOf(root, "metadata"), USER_ID, hideUser),
    ...removeMembers(
      text,
      root,
      refusedFields.size === 0 ? GATEWAY_FIELDS : GATEWAY_FIELDS.union(refusedFields),
    ),
  ];
  return spliceBody(bytes, splices);
}
