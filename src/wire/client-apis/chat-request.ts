import { estimateTokens } from "../conversation/usage.ts";
import { parseFields } from "../json/check-fields.ts";
import { replaceLongStrings } from "../json/placeholders.ts";
import { decodeUtf8 } from "../json/scan.ts";
import { listChatCharges } from "../openai-chat/passthrough/list-charges.ts";
import { listChatNeeds } from "../openai-chat/passthrough/list-needs.ts";
import { listChatPrefix } from "../openai-chat/passthrough/list-prefix.ts";
import { listTexts } from "../openai-chat/passthrough/list-texts.ts";
import { relayChatAnswer } from "../openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../openai-chat/passthrough/relay-stream.ts";
import { type ScannedChatRequest, scanChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import { createChatForwarding } from "./chat-forwarding.ts";
import {
  type ClientRequest,
  type ClientRequestParts,
  createClientRequest,
  type OwnAnswers,
} from "./client-request.ts";
import type { Decoded } from "./hub-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./session-hints.ts";

/**
 * Parses a chat completion request. `rename` resolves the operator's aliases of model ids.
 * @throws GatewayError as `scanChatRequest`.
 */
export function parseChatRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): ClientRequest {
  return createClientRequest(() => readParts(bytes, rename, headers));
}

function readParts(bytes: Buffer, rename: (id: string) => string, headers: ReadHeader): ClientRequestParts {
  const chat = scanChatRequest(bytes);
  return {
    ...readHints(chat.text, chat.root, headers),
    api: "chat.completions",
    format: "openai-chat",
    scanned: chat,
    listNeeds: listChatNeeds,
    listPrefix: () => listChatPrefix(chat),
    listCharges: listChatCharges,
    rename,
    client: openaiChat,
    facts: {
      wantsUsageChunk: chat.wantsUsageChunk,
      usesFunctions: chat.usesFunctions,
      estimatedPromptTokens: estimateTokens(chat.promptTextBytes),
    },
    decoding: {
      whole: () => openaiChat.decodeRequest(parseFields(chat.bytes.toString("utf8"), chat.text)),
      short: () => decodeShort(chat),
    },
    forwarding: createChatForwarding(chat),
    answering: createAnswering(chat.wantsUsageChunk, chat.usesFunctions),
  };
}

function createAnswering(wantsUsageChunk: boolean, readsThroughHub: boolean): OwnAnswers {
  return {
    readsThroughHub,
    openRelay: (identity) => new ChatRelay(identity, wantsUsageChunk),
    readAnswer: relayChatAnswer,
  };
}

/** Decodes the request with placeholders for its long texts; encoders only test whether a text is blank. */
function decodeShort(chat: ScannedChatRequest): Decoded | null {
  const short = replaceLongStrings(chat.bytes, chat.text, listTexts(chat));
  if (short === null) return null;
  const body = parseFields(decodeUtf8(short.text), chat.text);
  return { request: openaiChat.decodeRequest(body), print: short.print };
}
