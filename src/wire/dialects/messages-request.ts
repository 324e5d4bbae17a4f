import { anthropicMessages } from "../anthropic-messages/codec.ts";
import { forwardMessagesRequest } from "../anthropic-messages/forward-request.ts";
import { listMessagesNeeds } from "../anthropic-messages/list-needs.ts";
import { readMessagesAnswer } from "../anthropic-messages/read-answer.ts";
import { createMessagesRelay } from "../anthropic-messages/relay-stream.ts";
import { type ScannedMessagesRequest, scanMessagesRequest } from "../anthropic-messages/scan-request.ts";
import { repairToolCalls } from "../conversation/repair-tool-calls.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { parseBody } from "../json/check-fields.ts";
import { asTheyCame, createDialect } from "./dialect.ts";
import type { InferenceRequest, UpstreamTarget } from "./inference-request.ts";

/**
 * A Messages request (docs/contract.md, "Responses and Messages"). `betas` is its `anthropic-beta` header: what it
 * switches on stands in the body, so it goes on to a vendor of this format, and to no other.
 * @throws GatewayError as `scanMessagesRequest`.
 */
export function openMessagesRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  betas: string | null,
): InferenceRequest {
  const request = openWithoutBetas(bytes, rename);
  if (betas === null || !BETAS.test(betas)) return request;
  const headers = { "anthropic-beta": betas };
  return {
    ...request,
    encode(target) {
      const encoded = request.encode(target);
      return target.format === "anthropic-messages" ? { ...encoded, headers } : encoded;
    },
  };
}

/** Names with commas between them. */
const BETAS = /^[\w.-]+(, ?[\w.-]+)*$/;

function openWithoutBetas(bytes: Buffer, rename: (id: string) => string): InferenceRequest {
  const scanned = scanMessagesRequest(bytes);
  const estimatedPromptTokens = estimateTokens(scanned.promptTextBytes);
  return createDialect({
    api: "messages",
    format: "anthropic-messages",
    scanned,
    listNeeds: listMessagesNeeds,
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
