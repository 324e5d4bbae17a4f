import type { ComposedBytes } from "../../base/text/composed-bytes.ts";
import { warnInto } from "../canonical/fit/warn.ts";
import type { ModelTarget } from "../canonical/model/format.ts";
import { type BlankTexts, holdsBlank, listsBlank } from "../conversation/blank-texts.ts";
import type { Repair, ToolCallRules } from "../conversation/calls/outline.ts";
import { rejectEmptied, repairToolCalls } from "../conversation/calls/repair-tool-calls.ts";
import { hasCalls } from "../conversation/calls/valid-history.ts";
import type { Warning } from "../conversation/warning.ts";
import { asText, type Fields } from "../json/fields.ts";
import { isFalse, isWord, memberOf, parseMember } from "../json/scan.ts";
import type { LeftOut } from "../json/splice.ts";
import { listMessageLosses } from "../openai-chat/fit-messages.ts";
import { forwardChatRequest, REASONING_FIELDS } from "../openai-chat/passthrough/forward-request.ts";
import type { ChatMessage } from "../openai-chat/passthrough/request-shape.ts";
import { readRole } from "../openai-chat/passthrough/role.ts";
import type { ScannedChatRequest } from "../openai-chat/passthrough/scan-request.ts";
import {
  decodeReasoningParameters,
  encodeReasoningParameters,
  mustRespell,
} from "../openai-chat/translate/request/reasoning-parameters.ts";
import { LOST_REASONING, listRejectedFields } from "./fit/apply-provider.ts";
import type { Forwarding } from "./hub/client-request.ts";
import type { ProviderTarget, UpstreamTarget } from "./request/inference-request.ts";

/** Forwards a chat request to chat hosts: with its tool calls repaired, and its reasoning in the host's spelling. */
export class ChatForwarding implements Forwarding {
  readonly mayCarryReasoning = false;
  /** The repairs so far, by the rules of their targets. */
  private repairs: Map<string, Repair | null> | null = null;
  /** The model that `respelled` is for; null before the first one. */
  private respelledFor: ModelTarget | null = null;
  private respelled: RespelledReasoning | null = null;

  constructor(readonly scanned: ScannedChatRequest) {}

  mayForward(target: UpstreamTarget): boolean {
    const { scanned } = this;
    const { provider } = target;
    if (scanned.usesFunctions || scanned.hasLongNames) return false;
    if (scanned.hasCustomTools && !provider.takesCustomTools) return false;
    if (provider.model.blankTexts !== undefined && hasBlanks(scanned, provider.model.blankTexts))
      return false;
    return mayForward(scanned, provider, this.respellFor(provider.model));
  }

  listWarnings({ provider }: UpstreamTarget): readonly Warning[] {
    const { scanned } = this;
    const respelled = this.respellFor(provider.model);
    const refused = listRejectedFields(scanned.root, provider);
    const losses = listMessageLosses(scanned, provider.traits);
    const rejected = losses.length === 0 ? refused : [...refused, ...losses];
    return respelled === null
      ? rejected
      : [...rejected.filter(({ field }) => field !== "reasoning"), ...respelled.warnings];
  }

  listOwnLosses({ provider }: UpstreamTarget): readonly Warning[] {
    const isKept = provider.takesReasoningDetails || !hasEncryptedReasoning(this.scanned);
    return isKept ? NO_LOSSES : ENCRYPTED_LOST;
  }

  repairFor(rules: ToolCallRules): Repair | null {
    const { scanned } = this;
    if (scanned.hasCallsInOrder && rules.ids === "openai" && !rules.hasUniqueIds) return null;
    const outline = scanned.outline.read();
    if (!hasCalls(outline)) return null;
    this.repairs ??= new Map();
    const key = `${rules.ids}/${rules.results}/${rules.hasUniqueIds}`;
    let repair = this.repairs.get(key);
    if (repair === undefined) {
      repair = repairToolCalls(outline, rules);
      if (repair !== null) this.rejectEmptied(repair);
      this.repairs.set(key, repair);
    }
    return repair;
  }

  private rejectEmptied(repair: Repair): void {
    const { text, messages } = this.scanned;
    rejectEmptied(repair, (from) => readRole(text, messages[from] as ChatMessage));
  }

  forward(target: UpstreamTarget, repair: Repair | null, leftOut: LeftOut): Buffer | ComposedBytes {
    const reasoning = this.respellFor(target.provider.model)?.fields ?? null;
    return forwardChatRequest(this.scanned, target, { reasoning, repair, leftOut });
  }

  /** Respells the reasoning once for each model: it is needed to decide how the request is sent, and to send it. */
  private respellFor(model: ModelTarget): RespelledReasoning | null {
    if (this.respelledFor !== model) {
      this.respelled = respellReasoning(this.scanned, model);
      this.respelledFor = model;
    }
    return this.respelled;
  }
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

const NO_LOSSES: readonly Warning[] = [];
const ENCRYPTED_LOST: readonly Warning[] = [LOST_REASONING];

/** The type of an entry of `reasoning_details`. */
const ENCRYPTED = '"reasoning.encrypted"';
