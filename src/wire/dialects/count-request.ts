import { scanMessagesRequest } from "../anthropic-messages/scan-request.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import { sliceTexts } from "../conversation/prompt-nodes.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { parseBody } from "../json/check-fields.ts";
import { omit } from "../json/fields.ts";

/** A conversation whose tokens a client wants to know. */
export interface CountRequest {
  readonly model: string;
  readonly preferences: ProviderPreferences;
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
export function openCountRequest(bytes: Buffer, rename: (id: string) => string): CountRequest {
  const scanned = scanMessagesRequest(bytes);
  return {
    model: rename(scanned.model),
    preferences: scanned.preferences,
    estimatedTokens: estimateTokens(scanned.promptTextBytes),
    otherBytes: scanned.prompt.otherBytes,
    listPromptText: () => sliceTexts(scanned.bytes, scanned.prompt),
    encode: (model) => Buffer.from(JSON.stringify({ ...omit(parseBody(bytes), NOT_COUNTED), model })),
  };
}
