import { GATEWAY_FIELDS } from "../../conversation/gateway-fields.ts";
import { type JsonNode, memberOf } from "../../json/scan.ts";
import { applySplices, changeTexts, removeMembers, setMember } from "../../json/splice.ts";
import { splitUserId } from "../split-user-id.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** What an upstream wants to be different from what the client sent. */
export interface MessagesTarget {
  /** The model's name there. */
  readonly model: string;
  /** Fields that it refuses. */
  readonly refusedFields: ReadonlySet<string>;
  /** The most tokens that the answer may have; absent or null: as the client says. */
  readonly maxTokens?: number | null;
  /** What it is told in place of the client's user. */
  readonly hashUser: (user: string) => string;
}

const USER_ID: ReadonlySet<string> = new Set(["user_id"]);

/**
 * The body for an upstream of this format: the client's bytes with the model's name there and without what speaks to the
 * gateway.
 */
export function forwardMessagesRequest(
  { bytes, text, root }: ScannedMessagesRequest,
  { model, refusedFields, maxTokens = null, hashUser }: MessagesTarget,
): Buffer {
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
  return applySplices(bytes, splices);
}
