import type { ModelTarget } from "../canonical/format.ts";
import { warnInto } from "../canonical/warn.ts";
import type { Repair, ToolCallRules } from "../conversation/outline.ts";
import { repairToolCalls } from "../conversation/repair-tool-calls.ts";
import type { Warning } from "../conversation/warning.ts";
import { asText, type Fields } from "../json/fields.ts";
import { isFalse, isWord, itemsOf, memberOf, parseMember } from "../json/scan.ts";
import { forwardChatRequest, REASONING_FIELDS } from "../openai-chat/passthrough/forward-request.ts";
import type { ScannedChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import {
  decodeReasoningParameters,
  encodeReasoningParameters,
  mustRespell,
} from "../openai-chat/translate/reasoning-parameters.ts";
import { LOST_REASONING, listRejectedFields } from "./apply-provider.ts";
import type { Forwarding } from "./client-request.ts";
import type { UpstreamTarget } from "./inference-request.ts";

/** Returns how a chat request is forwarded to a chat host: with its tool calls repaired, and its reasoning in the host's spelling. */
export function createChatForwarding(chat: ScannedChatRequest): Forwarding {
  const respell = (target: UpstreamTarget) => respellReasoning(chat, target.model);
  return {
    mayForward: (target) =>
      !chat.usesFunctions &&
      !(chat.hasCustomTools && !target.takesCustomTools) &&
      mayForward(chat, target, respell(target)),
    listWarnings(target) {
      const respelled = respell(target);
      const rejected = listRejectedFields(chat.root, target);
      return respelled === null
        ? rejected
        : [...rejected.filter(({ field }) => field !== "reasoning"), ...respelled.warnings];
    },
    listOwnLosses: (target) =>
      target.takesReasoningDetails || !hasEncryptedReasoning(chat) ? [] : [LOST_REASONING],
    repairFor: createRepairs(chat),
    forward(target, repair) {
      const { maxTokens = null, model } = target;
      const reasoning = respell(target)?.fields ?? null;
      return forwardChatRequest(chat, { ...target, maxTokens, model: model.name, reasoning }, repair);
    },
    mayCarryReasoning: false,
  };
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
  const reasoning = memberOf(root, "reasoning");
  const effort = memberOf(reasoning, "effort") ?? memberOf(root, "reasoning_effort");
  return !isWord(text, effort, "none") && !isFalse(text, memberOf(reasoning, "enabled"));
}

/** Whether a message holds encrypted reasoning of an earlier turn. */
function hasEncryptedReasoning({ text, root }: ScannedChatRequest): boolean {
  return itemsOf(root, "messages").some((message) => {
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
