import { anthropicMessages } from "../anthropic-messages/codec.ts";
import { forwardMessagesRequest } from "../anthropic-messages/forward-request.ts";
import { readMessagesAnswer } from "../anthropic-messages/read-answer.ts";
import { createMessagesRelay } from "../anthropic-messages/relay-stream.ts";
import { type ScannedMessagesRequest, scanMessagesRequest } from "../anthropic-messages/scan-request.ts";
import { repairToolCalls } from "../conversation/repair-tool-calls.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { parseBody } from "../json/check-fields.ts";
import { asTheyCame, createDialect } from "./dialect.ts";
import type { InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/**
 * A Messages request (docs/contract.md, "Responses and Messages").
 * @throws GatewayError as `scanMessagesRequest`.
 */
export function openMessagesRequest(bytes: Buffer, rename: (id: string) => string): InferenceRequest {
  const scanned = scanMessagesRequest(bytes);
  const estimatedPromptTokens = estimateTokens(scanned.promptTextBytes);
  return createDialect({
    api: "messages",
    format: "anthropic-messages",
    scanned,
    rename,
    client: anthropicMessages,
    facts: { wantsUsageChunk: false, estimatedPromptTokens },
    decoding: { whole: () => anthropicMessages.decodeRequest(parseBody(bytes)) },
    forward: (target) =>
      mayForward(scanned, target)
        ? asTheyCame(forwardMessagesRequest(scanned, target.model.name, target.isLast))
        : null,
    openRelay: (identity) => createMessagesRelay(identity, { estimatedPromptTokens }),
    readAnswer: readMessagesAnswer,
  });
}

/** Whether the client's own bytes may go out. */
function mayForward(scanned: ScannedMessagesRequest, target: UpstreamTarget): boolean {
  if (scanned.mayCarryReasoning || scanned.maxTokens === null) return false;
  return repairToolCalls(scanned.outline, target.toolCalls) === null;
}
