import type { Warning } from "../canonical/format.ts";
import type { Repair, ToolCallRules } from "../conversation/outline.ts";
import { repairToolCalls } from "../conversation/repair-tool-calls.ts";
import { estimateTokens } from "../conversation/usage.ts";
import { parseBody, parseFields } from "../json/check-fields.ts";
import { decodeUtf8 } from "../json/scan.ts";
import { setAside } from "../json/set-aside.ts";
import { createChatRelay, readChatAnswer } from "../openai-chat/chat-relay.ts";
import { openaiChat } from "../openai-chat/codec.ts";
import { type ChatRequest, decodeChatRequest } from "../openai-chat/decode-request.ts";
import { encodeChatRequest } from "../openai-chat/encode-request.ts";
import { listChatCharges } from "../openai-chat/list-charges.ts";
import { listChatNeeds } from "../openai-chat/list-needs.ts";
import { listChatPrefix } from "../openai-chat/list-prefix.ts";
import { listTexts } from "../openai-chat/list-texts.ts";
import { createDialect } from "./dialect.ts";
import type { Decoded } from "./hub-request.ts";
import type { EncodedForUpstream, InferenceRequest, UpstreamTarget } from "./inference-request.ts";
import { NO_HEADERS, type ReadHeader, readHints } from "./session-hints.ts";

/**
 * A chat completion request. Model ids go through `rename`, which knows the operator's aliases.
 * @throws GatewayError as `decodeChatRequest`.
 */
export function openChatRequest(
  bytes: Buffer,
  rename: (id: string) => string,
  headers: ReadHeader = NO_HEADERS,
): InferenceRequest {
  const chat = decodeChatRequest(bytes);
  const repairs = createRepairs(chat);
  return createDialect({
    api: "chat.completions",
    format: "openai-chat",
    scanned: chat,
    listNeeds: listChatNeeds,
    ...readHints(chat.text, chat.root, headers),
    listPrefix: () => listChatPrefix(chat),
    listCharges: listChatCharges,
    rename,
    client: openaiChat,
    facts: {
      wantsUsageChunk: chat.wantsUsageChunk,
      usesFunctions: chat.usesFunctions,
      estimatedPromptTokens: estimateTokens(chat.promptTextBytes),
    },
    readsThroughHub: chat.usesFunctions,
    decoding: {
      whole: () => openaiChat.decodeRequest(parseBody(chat.bytes)),
      short: () => decodeShort(chat),
    },
    forward: (target) =>
      chat.usesFunctions || (chat.hasCustomTools && !target.takesCustomTools)
        ? null
        : encodeSameFormat(chat, target, repairs(target.toolCalls)),
    openRelay: (identity) => createChatRelay(identity, chat.wantsUsageChunk),
    readAnswer: readChatAnswer,
  });
}

/** Without the long texts of those who speak to the model; writers look at no more than whether they are blank. */
function decodeShort(chat: ChatRequest): Decoded | null {
  const short = setAside(chat.bytes, chat.text, listTexts(chat));
  if (short === null) return null;
  const body = parseFields(decodeUtf8(short.text));
  return { request: openaiChat.decodeRequest(body), print: short.print };
}

function encodeSameFormat(
  chat: ChatRequest,
  target: UpstreamTarget,
  repair: Repair | null,
): EncodedForUpstream {
  const { maxTokens = null } = target;
  const body = encodeChatRequest(chat, { ...target, maxTokens, model: target.model.name }, repair);
  return { body, repair, carriesReasoning: false, warnings: nameRefused(chat, target) };
}

/** The fields that were left out because the provider refuses them. */
function nameRefused({ root }: ChatRequest, { refusedFields }: UpstreamTarget): readonly Warning[] {
  if (refusedFields.size === 0) return NO_WARNINGS;
  const refused = root.members?.filter(({ key }) => refusedFields.has(key)) ?? [];
  return refused.map(({ key: field }) => ({ field, message: REFUSED }));
}

const NO_WARNINGS: readonly Warning[] = [];
const REFUSED = "The provider refuses it; it was left out.";

/** The tool-call history as targets take it; worked out once for all that have the same rules. */
function createRepairs({ outline }: ChatRequest): (rules: ToolCallRules) => Repair | null {
  const known = new Map<string, Repair | null>();
  return (rules) => {
    const key = `${rules.ids}/${rules.results}/${rules.hasUniqueIds}`;
    let repair = known.get(key);
    if (repair === undefined) {
      repair = repairToolCalls(outline, rules);
      known.set(key, repair);
    }
    return repair;
  };
}
