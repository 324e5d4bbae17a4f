import type { EncodedRequest, ModelTarget } from "../canonical/format.ts";
import { nameLeftOut } from "../canonical/name-left-out.ts";
import type { ConversationRequest } from "../canonical/request.ts";
import { createSchemaBudget } from "../json-schema/lowering.ts";
import { encodeContents } from "./encode-contents.ts";
import { encodeGeneration } from "./encode-generation.ts";
import { encodeTools } from "./encode-tools.ts";
import { type Encoding, warn } from "./encoding.ts";

/**
 * A request for generateContent and streamGenerateContent.
 * @throws GatewayError `invalid_request` for media Gemini cannot read, names that are too long, too many stop
 *   sequences.
 */
export function encodeRequest(request: ConversationRequest, target: ModelTarget): EncodedRequest {
  const encoding: Encoding = {
    target,
    warnings: nameLeftOut(request, "gemini"),
    schemas: createSchemaBudget(),
  };
  const { system, contents } = encodeContents(request.messages, encoding);
  const generationConfig = encodeGeneration(request, encoding);
  nameUnknown(request, encoding);
  const body = {
    ...(request.extras?.format === "gemini" ? request.extras.fields : {}),
    contents,
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    ...encodeTools(request.tools, request.toolChoice, encoding),
    ...(Object.keys(generationConfig).length > 0 ? { generationConfig } : {}),
  };
  return { body, warnings: encoding.warnings };
}

/** Tiers that come to what Gemini has by itself. */
const PLAIN_TIERS: ReadonlySet<string | null> = new Set([null, "auto", "default", "standard_only"]);

/** Settings for which Gemini has none. */
function nameUnknown(request: ConversationRequest, encoding: Encoding): void {
  const { parallelToolCalls, logitBias, verbosity, serviceTier, user, metadata } = request;
  const leftOut: Readonly<Record<string, boolean>> = {
    parallel_tool_calls: parallelToolCalls === false && request.tools.length > 0,
    logit_bias: logitBias !== null && Object.keys(logitBias).length > 0,
    verbosity: verbosity !== null,
    service_tier: !PLAIN_TIERS.has(serviceTier),
    user: user !== null,
    metadata: metadata !== null,
  };
  for (const [field, isSaid] of Object.entries(leftOut)) {
    if (isSaid) warn(encoding, field, "The provider has no such setting; it is left out.");
  }
}
