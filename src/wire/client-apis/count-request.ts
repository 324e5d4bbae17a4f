import {
  type ScannedMessagesRequest,
  scanMessagesRequest,
} from "../anthropic-messages/passthrough/scan-request.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import { sliceTexts } from "../conversation/prompt-nodes.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { type JsonNode, memberOf } from "../json/scan.ts";
import { applySplices, removeMembers } from "../json/splice.ts";
import { heldBytesOf } from "./client-request.ts";

/** A conversation whose tokens a client wants to know. */
export interface CountRequest {
  readonly model: string;
  readonly preferences: ProviderPreferences;
  /** See `InferenceRequest.heldBytes`. */
  readonly heldBytes: number;
  /** Counted by its text, for models whose vendor counts for nobody. */
  readonly estimatedTokens: number;
  /** Bytes of tools and reasoning in it, which are not among its texts. */
  readonly otherBytes: number;
  /** Its texts, as `InferenceRequest.listPromptText`. */
  listPromptText(): readonly Uint8Array[];
  /** The body for an upstream that counts; `model` is the model's name there. */
  encode(model: string): Buffer;
}

/** What a Messages request may say and a count of it may not. */
const NOT_COUNTED: ReadonlySet<string> = new Set([
  "max_tokens",
  "stream",
  "temperature",
  "top_p",
  "top_k",
  "stop_sequences",
  "metadata",
  "service_tier",
  "models",
  "provider",
  "session_id",
]);

/**
 * A request of `messages/count_tokens`: a Messages request, of which only what counts is looked at.
 * @throws GatewayError as `scanMessagesRequest`.
 */
export function parseCountRequest(bytes: Buffer, rename: (id: string) => string): CountRequest {
  const scanned = scanMessagesRequest(bytes);
  return {
    model: rename(scanned.model),
    preferences: scanned.preferences,
    heldBytes: heldBytesOf(scanned),
    estimatedTokens: estimateTokens(scanned.promptTextBytes),
    otherBytes: scanned.prompt.otherBytes,
    listPromptText: () => sliceTexts(scanned.bytes, scanned.prompt),
    encode: (model) => encodeCounted(scanned, model),
  };
}

/** The client's bytes with the model named as it is there, and without what a count takes no interest in. */
function encodeCounted({ bytes, text, root }: ScannedMessagesRequest, model: string): Buffer {
  const { start, end } = memberOf(root, "model") as JsonNode;
  const named = { start, end, insert: JSON.stringify(model) };
  return applySplices(bytes, [named, ...removeMembers(text, root, NOT_COUNTED)]);
}
