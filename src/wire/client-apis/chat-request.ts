import type { ModelTarget } from "../canonical/format.ts";
import type { Repair, ToolCallRules } from "../conversation/outline.ts";
import { repairToolCalls } from "../conversation/repair-tool-calls.ts";
import { estimateTokens } from "../conversation/usage.ts";
import type { Warning } from "../conversation/warning.ts";
import { parseFields } from "../json/check-fields.ts";
import { asText, type Fields } from "../json/fields.ts";
import { replaceLongStrings } from "../json/placeholders.ts";
import { decodeUtf8, isFalse, isWord, memberOf, parseMember } from "../json/scan.ts";
import { forwardChatRequest, REASONING_FIELDS } from "../openai-chat/passthrough/forward-request.ts";
import { listChatCharges } from "../openai-chat/passthrough/list-charges.ts";
import { listChatNeeds } from "../openai-chat/passthrough/list-needs.ts";
import { listChatPrefix } from "../openai-chat/passthrough/list-prefix.ts";
import { listTexts } from "../openai-chat/passthrough/list-texts.ts";
import { relayResponse } from "../openai-chat/passthrough/relay-response.ts";
import { ChatRelay } from "../openai-chat/passthrough/relay-stream.ts";
import { type ScannedChatRequest, scanChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import { openaiChat } from "../openai-chat/translate/codec.ts";
import type { Warn } from "../openai-chat/translate/encode-part.ts";
import {
  encodeReasoningParameters,
  mustRespell,
  readReasoningParameters,
} from "../openai-chat/translate/reasoning-parameters.ts";
import { LOST_REASONING, listRejectedFields } from "./apply-provider.ts";
import { type ClientRequest, createClientRequest } from "./client-request.ts";
import type { Decoded } from "./hub-request.ts";
import type { UpstreamTarget } from "./inference-request.ts";
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
  const chat = scanChatRequest(bytes);
  const respell = (target: UpstreamTarget) => respellReasoning(chat, target.model);
  return createClientRequest({
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
      whole: () => openaiChat.decodeRequest(parseFields(chat.bytes.toString("utf8"), chat.text)),
      short: () => decodeShort(chat),
    },
    mayForward: (target) =>
      !chat.usesFunctions &&
      !(chat.hasCustomTools && !target.takesCustomTools) &&
      mayForward(chat, target, respell(target)),
    listWarnings: (target) => {
      const respelled = respell(target);
      const refused = listRejectedFields(chat.root, target);
      return respelled === null
        ? refused
        : [...refused.filter(({ field }) => field !== "reasoning"), ...respelled.warnings];
    },
    listOwnLosses: (target) =>
      target.takesReasoningDetails || !hasEncryptedReasoning(chat) ? [] : [LOST_REASONING],
    repairFor: createRepairs(chat),
    forward: (target, repair) => {
      const { maxTokens = null, model } = target;
      const reasoning = respell(target)?.fields ?? null;
      return forwardChatRequest(chat, { ...target, maxTokens, model: model.name, reasoning }, repair);
    },
    mayCarryReasoning: false,
    openRelay: (identity) => new ChatRelay(identity, chat.wantsUsageChunk),
    readAnswer: relayResponse,
  });
}

/** Decodes the request with placeholders for its long texts; encoders only test whether a text is blank. */
function decodeShort(chat: ScannedChatRequest): Decoded | null {
  const short = replaceLongStrings(chat.bytes, chat.text, listTexts(chat));
  if (short === null) return null;
  const body = parseFields(decodeUtf8(short.text), chat.text);
  return { request: openaiChat.decodeRequest(body), print: short.print };
}

/** The client's reasoning fields in the vendor's spelling; `warnings` name what the vendor does not accept. */
interface RespelledReasoning {
  readonly fields: Fields;
  readonly warnings: readonly Warning[];
}

/** Returns null if the vendor accepts the client's fields, or if there are none. */
function respellReasoning({ text, root }: ScannedChatRequest, model: ModelTarget): RespelledReasoning | null {
  if (memberOf(root, "reasoning") === undefined && memberOf(root, "reasoning_effort") === undefined)
    return null;
  const raw = {
    reasoning: parseMember(text, root, "reasoning"),
    reasoning_effort: parseMember(text, root, "reasoning_effort"),
  };
  if (!mustRespell(raw, model)) return null;
  const warnings: Warning[] = [];
  const warn: Warn = (field, message, isGrave) =>
    void warnings.push({ field, message, ...(isGrave ? { isGrave } : {}) });
  const { reasoning } = readReasoningParameters(raw);
  // The vendor's own field takes precedence over the object.
  const effort = asText(raw.reasoning_effort);
  const wish = reasoning === null || effort === null ? reasoning : { ...reasoning, effort };
  return { fields: encodeReasoningParameters({ reasoning: wish }, model, warn), warnings };
}

/**
 * Whether the client's bytes may be forwarded. They are not if the client already uses a field that the vendor needs for reasoning.
 */
function mayForward(
  chat: ScannedChatRequest,
  { noToolsWhileReasoning }: UpstreamTarget,
  respelled: RespelledReasoning | null,
): boolean {
  if (noToolsWhileReasoning === true && mayReasonWithTools(chat)) return false;
  const names = Object.keys(respelled?.fields ?? {});
  return names.every((name) => REASONING_FIELDS.has(name) || memberOf(chat.root, name) === undefined);
}

/** Whether the request has tools and does not switch reasoning off. */
function mayReasonWithTools({ text, root }: ScannedChatRequest): boolean {
  if ((memberOf(root, "tools")?.items?.length ?? 0) === 0) return false;
  const wish = memberOf(root, "reasoning");
  const effort = memberOf(wish, "effort") ?? memberOf(root, "reasoning_effort");
  return !isWord(text, effort, "none") && !isFalse(text, memberOf(wish, "enabled"));
}

/** Whether a message holds encrypted reasoning of an earlier turn. */
function hasEncryptedReasoning({ text, root }: ScannedChatRequest): boolean {
  return (memberOf(root, "messages")?.items ?? []).some((message) => {
    const details = memberOf(message, "reasoning_details");
    return details !== undefined && text.slice(details.start, details.end).includes(ENCRYPTED);
  });
}

/** Returns a function that repairs the tool calls; computed once for all targets with the same rules. */
function createRepairs({ outline }: ScannedChatRequest): (rules: ToolCallRules) => Repair | null {
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

/** The type of an entry of `reasoning_details`. */
const ENCRYPTED = '"reasoning.encrypted"';
