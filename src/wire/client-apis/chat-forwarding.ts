import { asText, type Fields } from "../../base/json/fields.ts";
import { isFalse, isWord, memberOf, parseMember } from "../../base/json/scan.ts";
import { warnInto } from "../canonical/fit/warn.ts";
import type { ModelTarget } from "../canonical/model/format.ts";
import { type BlankTexts, holdsBlank, listsBlank } from "../conversation/blank-texts.ts";
import type { Repair, ToolCallRules } from "../conversation/calls/outline.ts";
import { rejectEmptied, repairToolCalls } from "../conversation/calls/repair-tool-calls.ts";
import { hasCalls } from "../conversation/calls/valid-history.ts";
import type { Warning } from "../conversation/warning.ts";
import { listMessageLosses } from "../openai-chat/passthrough/fit-scanned.ts";
import { forwardChatRequest, REASONING_FIELDS } from "../openai-chat/passthrough/forward-request.ts";
import type { ChatMessage } from "../openai-chat/passthrough/request-shape.ts";
import { readRole } from "../openai-chat/passthrough/role.ts";
import type { ScannedChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import {
  decodeReasoningParameters,
  encodeReasoningParameters,
  needsRespelling,
} from "../openai-chat/translate/request/reasoning-parameters.ts";
import { LOST_REASONING, listRejectedFields } from "./fit/apply-provider.ts";
import type { OwnFit } from "./hub/forward-fit.ts";
import type { ProviderTarget, UpstreamTarget } from "./request/inference-request.ts";

/** Forwards a chat request to chat hosts: with its tool calls repaired, and its reasoning in the host's spelling. */
export class ChatForwarding {
  /** The repairs so far, by the rules of their targets. */
  private repairs: Map<string, Repair | null> | null = null;

  constructor(readonly scanned: ScannedChatRequest) {}

  fit(target: UpstreamTarget): OwnFit | null {
    const { scanned } = this;
    const { provider } = target;
    const { model } = provider;
    if (scanned.usesFunctions || scanned.hasLongNames) return null;
    if (scanned.hasCustomTools && !provider.takesCustomTools) return null;
    if (model.blankTexts !== undefined && hasBlanks(scanned, model.blankTexts)) return null;
    const respelled = respellReasoning(scanned, model);
    if (!mayForward(scanned, provider, respelled)) return null;
    const reasoning = respelled?.fields ?? null;
    return {
      listWarnings: () => listWarnings(scanned, provider, respelled),
      listLosses: () =>
        provider.takesReasoningDetails || !hasEncryptedReasoning(scanned) ? [] : [LOST_REASONING],
      forward: (leftOut) => {
        const repair = this.repairFor(provider.toolCalls);
        const body = forwardChatRequest(scanned, target, { reasoning, repair, leftOut });
        return { body, repair, carriesReasoning: false };
      },
    };
  }

  private repairFor(rules: ToolCallRules): Repair | null {
    const { scanned } = this;
    if (scanned.hasCallsInOrder && rules.ids === "openai" && !rules.hasUniqueIds) return null;
    const outline = scanned.outline.read();
    if (!hasCalls(outline)) return null;
    this.repairs ??= new Map();
    const key = `${rules.ids}/${rules.results}/${rules.hasUniqueIds}`;
    let repair = this.repairs.get(key);
    if (repair === undefined) {
      const { text, messages } = scanned;
      repair = repairToolCalls(outline, rules);
      if (repair !== null) rejectEmptied(repair, (from) => readRole(text, messages[from] as ChatMessage));
      this.repairs.set(key, repair);
    }
    return repair;
  }
}

function listWarnings(
  scanned: ScannedChatRequest,
  provider: ProviderTarget,
  respelled: RespelledReasoning | null,
): readonly Warning[] {
  const refused = listRejectedFields(scanned.root, provider);
  const losses = listMessageLosses(scanned, provider.traits);
  const rejected = losses.length === 0 ? refused : [...refused, ...losses];
  return respelled === null
    ? rejected
    : [...rejected.filter(({ field }) => field !== "reasoning"), ...respelled.warnings];
}

/** The client's reasoning fields in the vendor's spelling; `warnings` name what the vendor does not accept. */
interface RespelledReasoning {
  readonly fields: Fields;
  readonly warnings: readonly Warning[];
}

/** Returns null if the vendor accepts the client's fields, or if there are none. */
function respellReasoning({ text, root }: ScannedChatRequest, model: ModelTarget): RespelledReasoning | null {
  if (root.fields.reasoning === undefined && root.fields.reasoning_effort === undefined) return null;
  const raw = {
    reasoning: parseMember(text, root, "reasoning"),
    reasoning_effort: parseMember(text, root, "reasoning_effort"),
  };
  if (!needsRespelling(raw, model)) return null;
  const warnings: Warning[] = [];
  const { reasoning } = decodeReasoningParameters(raw);
  // The vendor's own field takes precedence over the object.
  const effort = asText(raw.reasoning_effort);
  const requested = reasoning === null || effort === null ? reasoning : { ...reasoning, effort };
  return { fields: encodeReasoningParameters({ reasoning: requested }, model, warnInto(warnings)), warnings };
}

/**
 * Whether the client's bytes may be forwarded. They are not if the client already uses a field that the vendor needs for reasoning.
 */
function mayForward(
  chat: ScannedChatRequest,
  { noToolsWhileReasoning }: ProviderTarget,
  respelled: RespelledReasoning | null,
): boolean {
  if (noToolsWhileReasoning === true && mayReasonWithTools(chat)) return false;
  if (respelled === null) return true;
  return Object.keys(respelled.fields).every(
    (name) => REASONING_FIELDS.has(name) || memberOf(chat.root, name) === undefined,
  );
}

/** Whether the request has tools and does not switch reasoning off. */
function mayReasonWithTools({ text, root }: ScannedChatRequest): boolean {
  if ((root.fields.tools?.items?.length ?? 0) === 0) return false;
  const reasoning = root.fields.reasoning;
  const effort = reasoning?.fields.effort ?? root.fields.reasoning_effort;
  return !isWord(text, effort, "none") && !isFalse(text, reasoning?.fields.enabled);
}

/** Whether a message has a blank text, as calls and results may have one in place of a content. */
function hasBlanks({ text, messages }: ScannedChatRequest, rejected: BlankTexts): boolean {
  return messages.some((message) => {
    const content = message.fields.content;
    const isSilent = message.fields.tool_calls !== undefined || message.fields.tool_call_id !== undefined;
    return isSilent ? listsBlank(text, content, rejected) : holdsBlank(text, content, rejected);
  });
}

/** Whether a message holds encrypted reasoning of an earlier turn. */
function hasEncryptedReasoning({ text, messages, facts }: ScannedChatRequest): boolean {
  if (!facts.hasOthers) return false;
  for (const message of messages) {
    const details = message.fields.reasoning_details;
    if (details !== undefined && text.slice(details.start, details.end).includes(ENCRYPTED)) return true;
  }
  return false;
}

/** The type of an entry of `reasoning_details`. */
const ENCRYPTED = '"reasoning.encrypted"';
