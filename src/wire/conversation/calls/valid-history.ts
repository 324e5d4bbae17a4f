import type { OutlineAssistant, OutlineMessage, ToolCallRules } from "./outline.ts";
import { fitsToolCallId } from "./tool-call-ids.ts";

/** Whether a target accepts a conversation's tool calls and results unchanged. One pass. */
export function isValidHistory(messages: readonly OutlineMessage[], rules: ToolCallRules): boolean {
  if (!hasCalls(messages)) return true;
  const calls = new OpenCalls(rules);
  return rules.results === "anywhere" ? isPaired(messages, calls) : isInOrder(messages, calls, rules);
}

/** Whether a conversation has any tool calls or results; many have none. */
export function hasCalls(messages: readonly OutlineMessage[]): boolean {
  for (const message of messages)
    if (message.kind === "result" || (message.kind === "assistant" && message.callIds.length > 0))
      return true;
  return false;
}

/** Whether each result follows its call, and each call has a result. */
function isPaired(messages: readonly OutlineMessage[], calls: OpenCalls): boolean {
  for (const message of messages) {
    if (message.kind === "assistant" && !calls.open(message)) return false;
    if (message.kind === "result" && !calls.close(message.callId)) return false;
  }
  return calls.areClosed;
}

/** Whether the results of each turn directly follow it. */
function isInOrder(
  messages: readonly OutlineMessage[],
  calls: OpenCalls,
  { results }: ToolCallRules,
): boolean {
  let before: OutlineMessage["kind"] = "other";
  for (const message of messages) {
    const isAdjacent = before === "assistant" && message.kind === "assistant";
    const continuesTurn = isAdjacent && results === "after-turn" && message.callIds.length > 0;
    if (message.kind === "result") {
      if (before === "other" || !calls.close(message.callId)) return false;
    } else if (!continuesTurn) {
      if (!calls.areClosed) return false;
      calls.forgetHosted();
    }
    if (message.kind === "assistant" && !calls.open(message)) return false;
    before = message.kind;
  }
  return calls.areClosed;
}

/** The open calls of a conversation. */
class OpenCalls {
  private readonly ids = new Set<string>();
  private readonly hostedIds = new Set<string>();
  /** All ids so far, if ids must be unique. */
  private readonly used: Set<string> | null;
  private readonly idFormat: ToolCallRules["ids"];

  constructor({ ids, hasUniqueIds }: ToolCallRules) {
    this.idFormat = ids;
    this.used = hasUniqueIds ? new Set() : null;
  }

  get areClosed(): boolean {
    return this.ids.size === 0;
  }

  /** Returns false if an id is invalid or already used. */
  open({ callIds, hostedIds }: OutlineAssistant): boolean {
    for (const id of callIds) {
      const isTaken = this.ids.has(id) || this.used?.has(id) === true;
      if (isTaken || !fitsToolCallId(id, this.idFormat)) return false;
      this.ids.add(id);
      this.used?.add(id);
    }
    if (hostedIds !== undefined) for (const id of hostedIds) this.hostedIds.add(id);
    return true;
  }

  /** Returns false if there is no open call for it. */
  close(id: string): boolean {
    return this.ids.delete(id) || this.hostedIds.delete(id);
  }

  forgetHosted(): void {
    if (this.hostedIds.size > 0) this.hostedIds.clear();
  }
}
