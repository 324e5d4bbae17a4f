import type { JsonNode } from "../../base/json/scan.ts";
import { TRAITS as MESSAGES } from "../anthropic-messages/traits.ts";
import type { AnswerRelay, RelayIdentity, WholeAnswer } from "../canonical/answer/relay.ts";
import type { AskedFor } from "../canonical/model/format.ts";
import type { RequestCharges } from "../conversation/charges.ts";
import type { RequestNeeds } from "../conversation/needs.ts";
import type { SentConversation } from "../conversation/sent-turns.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { listChatCharges } from "../openai-chat/passthrough/list-charges.ts";
import { listChatNeeds } from "../openai-chat/passthrough/list-needs.ts";
import { listChatPrefix, listChatShared } from "../openai-chat/passthrough/list-prefix.ts";
import { listTexts } from "../openai-chat/passthrough/list-texts.ts";
import { relayChatAnswer } from "../openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../openai-chat/passthrough/relay-stream.ts";
import { type ScannedChatRequest, scanChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import { readSentChat } from "../openai-chat/passthrough/sent-turns.ts";
import { TRAITS } from "../openai-chat/traits.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { ChatForwarding } from "./chat-forwarding.ts";
import { toChatBody } from "./chat-from-responses.ts";
import { type ClientApiDeclaration, SAMPLING } from "./client-api.ts";
import { writeAsMessages } from "./fast/chat-as-messages.ts";
import { decodeShortened } from "./fast/decode-shortened.ts";
import { type ClientRequest, createClientRequest } from "./hub/client-request.ts";
import type { ClientRequestParts, OwnAnswers, RequestSource } from "./hub/conversation-reading.ts";
import type { Decoded } from "./hub/hub-request.ts";
import type { UpstreamTarget } from "./request/inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHeaderHints, readHints } from "./request/session-hints.ts";

/**
 * Parses a chat completion request. `rename` resolves the operator's aliases of model ids.
 * @throws GatewayError as `scanChatRequest`.
 */
export function parseChatRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): ClientRequest {
  return createClientRequest({ bytes, headers }, readParts, rename);
}

/** OpenAI's chat completions (specification 4.1). */
export const CHAT_COMPLETIONS: ClientApiDeclaration = {
  name: "chat.completions",
  access: "open_inference",
  operations: [{ method: "POST", path: "/chat/completions", readBody: toChatBody }],
  parse: parseChatRequest,
  parameters: {
    ...SAMPLING,
    max_tokens: { field: "max_tokens", others: ["max_completion_tokens"] },
    stop: { field: "stop" },
    seed: { field: "seed" },
    frequency_penalty: { field: "frequency_penalty" },
    presence_penalty: { field: "presence_penalty" },
    reasoning_effort: { field: "reasoning_effort", others: ["reasoning"] },
  },
  system: { field: "messages", toItem: (content) => ({ role: "system", content }) },
};

function readParts({ bytes, headers }: RequestSource): ClientRequestParts {
  return new ChatParts(scanChatRequest(bytes), headers);
}

/** What the chat API makes of one request. */
class ChatParts extends ChatForwarding implements ClientRequestParts {
  readonly api = "chat.completions";
  readonly traits = TRAITS;
  readonly commonTools = null;
  readonly client = openaiChat;
  readonly upstreamHeaders = null;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  readonly answering: OwnAnswers;

  constructor(scanned: ScannedChatRequest, headers: ReadHeader) {
    super(scanned);
    const { wantsUsageChunk, usesFunctions } = scanned;
    const hints = scanned.hasHints
      ? readHints(scanned.text, scanned.root, headers)
      : readHeaderHints(headers);
    this.session = hints.session;
    this.user = hints.user;
    this.tags = hints.tags;
    this.answering = new ChatAnswers(wantsUsageChunk, usesFunctions);
  }

  get facts(): Omit<AskedFor, "request"> {
    const { wantsUsageChunk, usesFunctions, promptTextBytes } = this.scanned;
    return { wantsUsageChunk, usesFunctions, estimatedPromptTokens: estimateTokens(promptTextBytes) };
  }

  listNeeds(): RequestNeeds {
    return listChatNeeds(this.scanned);
  }

  readConversation(): SentConversation {
    return readSentChat(this.scanned);
  }

  listPrefix(): readonly JsonNode[] {
    return listChatPrefix(this.scanned);
  }

  listShared(): readonly JsonNode[] {
    return listChatShared(this.scanned);
  }

  listCharges(): RequestCharges {
    return listChatCharges(this.scanned);
  }

  decodeFor({ provider, cacheMarking = null }: UpstreamTarget): Decoded | null {
    // A provider that takes only certain fields may not take what would be written.
    const isWritten = provider.format === MESSAGES.name && provider.knownFields === null;
    return isWritten ? writeAsMessages(this.scanned, cacheMarking) : null;
  }

  /** Decodes the request with placeholders for its long texts. */
  decodeShort(): Decoded | null {
    const texts = listTexts(this.scanned);
    return decodeShortened(this.scanned, { codec: openaiChat, texts });
  }
}

class ChatAnswers implements OwnAnswers {
  constructor(
    private readonly wantsUsageChunk: boolean,
    readonly readsThroughHub: boolean,
  ) {}

  openRelay(identity: RelayIdentity): AnswerRelay {
    return new ChatRelay(identity, this.wantsUsageChunk);
  }

  readAnswer(body: string, identity: RelayIdentity): WholeAnswer {
    return relayChatAnswer(body, identity);
  }
}
