import type { JsonNode } from "../../base/json/scan.ts";
import { applySplices, removeMembers } from "../../base/json/splice.ts";
import {
  type ScannedMessagesRequest,
  scanMessagesRequest,
} from "../anthropic-messages/passthrough/scan-request.ts";
import { TRAITS } from "../anthropic-messages/traits.ts";
import type { ProviderPreferences } from "../conversation/preferences.ts";
import { sliceTexts } from "../conversation/prompt-nodes.ts";
import type { ProviderFormat } from "../conversation/traits/format-name.ts";
import { estimateTokens } from "../conversation/usage.ts";
import type { ClientApi } from "./request/inference-request.ts";
import { heldBytesOf } from "./request/request-size.ts";

/** A request to count the tokens of a conversation. */
export interface CountRequest {
  readonly api: ClientApi;
  /** The format of its body. Translating it to count it elsewhere is not worth the effort. */
  readonly format: ProviderFormat;
  readonly model: string;
  readonly preferences: ProviderPreferences;
  readonly preset: string | null;
  /** See `ReadingMemory.heldBytes`. */
  readonly heldBytes: number;
  /** Bytes of its text, for models whose vendor does not count tokens. */
  readonly estimatedTokens: number;
  /** Bytes of tools and reasoning, which are not part of the texts. */
  readonly otherBytes: number;
  /** Its texts, as `RequestPrompt.listTexts`. */
  listTexts(): readonly Uint8Array[];
  /** Returns the body for an upstream that counts tokens; `model` is the model's name there. */
  encode(model: string): Buffer;
}

/** Fields of a Messages request that a token count does not accept. */
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
  "preset",
  "provider",
  "session_id",
  "tags",
]);

/**
 * Parses a request of `messages/count_tokens`: a Messages request of which only the counted fields are read.
 * @throws GatewayError as `scanMessagesRequest`.
 */
export function parseCountRequest(bytes: Buffer, rename: (id: string) => string): CountRequest {
  const scanned = scanMessagesRequest(bytes);
  return {
    api: "messages",
    format: TRAITS.name,
    model: rename(scanned.model),
    preferences: scanned.preferences,
    preset: scanned.preset,
    heldBytes: heldBytesOf(scanned),
    estimatedTokens: estimateTokens(scanned.promptTextBytes),
    otherBytes: scanned.prompt.otherBytes,
    listTexts: () => sliceTexts(scanned.bytes, scanned.prompt),
    encode: (model) => encodeCounted(scanned, model),
  };
}

/** Returns the client's bytes with the provider's model name and without fields that a count does not need. */
function encodeCounted({ bytes, text, root }: ScannedMessagesRequest, model: string): Buffer {
  const { start, end } = root.fields.model as JsonNode;
  const named = { start, end, insert: JSON.stringify(model) };
  return applySplices(bytes, [named, ...removeMembers(text, root, NOT_COUNTED)]);
}
