import { estimateTokens } from "../conversation/usage.ts";
import { isValidHistory } from "../conversation/valid-history.ts";
import { parseFields } from "../json/check-fields.ts";
import { wordTable } from "../json/scan.ts";
import {
  canForwardResponses,
  forwardResponsesRequest,
} from "../openai-responses/passthrough/forward-request.ts";
import { listResponsesCharges } from "../openai-responses/passthrough/list-charges.ts";
import { listResponsesNeeds } from "../openai-responses/passthrough/list-needs.ts";
import { listResponsesPrefix } from "../openai-responses/passthrough/list-prefix.ts";
import { relayResponsesAnswer } from "../openai-responses/passthrough/relay-response.ts";
import { ResponsesRelay } from "../openai-responses/passthrough/relay-stream.ts";
import { scanResponsesRequest } from "../openai-responses/passthrough/scan-request.ts";
import { openaiResponses } from "../openai-responses/translate/codec.ts";
import {
  type ClientRequest,
  type ClientRequestParts,
  createClientRequest,
  type OwnAnswers,
} from "./client-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./session-hints.ts";

/** Tools of the Responses format that other formats have as well. */
const COMMON_TOOLS = wordTable<true>({ function: true, custom: true, namespace: true });

/**
 * Parses a Responses request (docs/api/responses.md).
 * @throws GatewayError as `scanResponsesRequest`.
 */
export function parseResponsesRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): ClientRequest {
  return createClientRequest(() => readParts(bytes, rename, headers));
}

const ANSWERING: OwnAnswers = {
  openRelay: (identity) => new ResponsesRelay(identity),
  readAnswer: relayResponsesAnswer,
};

function readParts(bytes: Buffer, rename: (id: string) => string, headers: ReadHeader): ClientRequestParts {
  const scanned = scanResponsesRequest(bytes);
  return {
    ...readHints(scanned.text, scanned.root, headers),
    api: "responses",
    format: "openai-responses",
    scanned,
    listNeeds: listResponsesNeeds,
    commonTools: COMMON_TOOLS,
    listPrefix: () => listResponsesPrefix(scanned),
    listCharges: listResponsesCharges,
    rename,
    client: openaiResponses,
    facts: { wantsUsageChunk: false, estimatedPromptTokens: estimateTokens(scanned.promptTextBytes) },
    decoding: {
      whole: () => openaiResponses.decodeRequest(parseFields(bytes.toString("utf8"), scanned.text)),
    },
    forwarding: {
      mayForward: (target) =>
        canForwardResponses(scanned, target.model) && isValidHistory(scanned.outline, target.toolCalls),
      forward: (target) => forwardResponsesRequest(scanned, target),
      mayCarryReasoning: true,
    },
    answering: ANSWERING,
  };
}
