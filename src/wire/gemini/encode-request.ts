import { listLostFields } from "../canonical/fit/list-lost-fields.ts";
import type { EncodedRequest, ModelTarget } from "../canonical/model/format.ts";
import type { ConversationRequest } from "../canonical/model/request.ts";
import { SchemaLowerer } from "../json-schema/lower-schema.ts";
import { encodeContents } from "./encode-contents.ts";
import { encodeGeneration } from "./encode-generation.ts";
import { encodeTools } from "./encode-tools.ts";
import { type GeminiEncoding, warn } from "./encoding.ts";
import { KnownCalls } from "./known-calls.ts";
import { TRAITS } from "./traits.ts";

/**
 * Encodes a request for `generateContent` and `streamGenerateContent`.
 * @throws GatewayError `invalid_request` for media that Gemini cannot read, for function names that are too long and for too many
 *   stop sequences.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const encoding: GeminiEncoding = {
    target,
    warnings: listLostFields(request, TRAITS),
    schemas: new SchemaLowerer(),
    calls: new KnownCalls(),
  };
  const { system, contents } = encodeContents(request.messages, encoding);
  const generationConfig = encodeGeneration(request, encoding);
  warnUnsupported(request, encoding);
  const body = {
    ...(request.extras?.format === "gemini" ? request.extras.fields : {}),
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...encodeTools(request.tools, request.toolChoice, encoding),
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
  };
  return { body, warnings: encoding.warnings };
}

/** Service tiers that mean Gemini's default. */
const PLAIN_TIERS: ReadonlySet<string | null> = new Set([null, "auto", "default", "standard_only"]);

/** Warns of settings that Gemini does not have. */
function warnUnsupported(request: ConversationRequest, encoding: GeminiEncoding): void {
  const { parallelToolCalls, logitBias, verbosity, serviceTier, user, metadata } = request;
  const settings: Readonly<Record<string, boolean>> = {
    parallel_tool_calls: parallelToolCalls === false && request.tools.length > 0,
    logit_bias: logitBias !== null && Object.keys(logitBias).length > 0,
    verbosity: verbosity !== null,
    service_tier: !PLAIN_TIERS.has(serviceTier),
    user: user !== null,
    metadata: metadata !== null,
  };
  for (const [field, isSet] of Object.entries(settings)) {
    if (isSet) warn(encoding, field, "The provider does not have this setting; it is left out.");
  }
}
