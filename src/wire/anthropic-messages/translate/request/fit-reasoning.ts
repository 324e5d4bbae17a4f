import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { EncodedThinking } from "./reasoning-parameters.ts";

/**
 * Omits a thinking budget if this API would reject it. It does if the last message has tool results, and the turn that called the tools
 * does not begin with thinking (another vendor made that turn, or its thinking was lost).
 */
export function fitReasoning(
  requested: EncodedThinking,
  messages: readonly Fields[],
  warn: Warn,
): EncodedThinking {
  if (requested.thinking?.["type"] !== "enabled" || !lacksThinking(messages)) return requested;
  warn(
    "reasoning",
    "The turn that called the tools has no thinking, so the answer to their results has none either.",
  );
  return { thinking: null, effort: requested.effort };
}

function lacksThinking(messages: readonly Fields[]): boolean {
  const last = listBlocks(messages.at(-1));
  if (!last.some((block) => block["type"] === "tool_result")) return false;
  const called = messages.findLast(({ role }) => role === "assistant");
  const [first] = listBlocks(called);
  return first !== undefined && !THINKING.has(first["type"]);
}

const THINKING: ReadonlySet<unknown> = new Set(["thinking", "redacted_thinking"]);

function listBlocks(message: Fields | undefined): Fields[] {
  const content = message?.["content"];
  return Array.isArray(content) ? content.map(asFields).filter((block) => block !== null) : [];
}
