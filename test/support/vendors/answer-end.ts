import type { AnswerEnd } from "../../../src/wire/canonical/model/format.ts";
import { NO_TOKENS, type TokenUsage } from "../../../src/wire/conversation/usage.ts";

/** Returns the end of an answer that cost 25 cents, and 50 at list price. */
export function endWith(usage: TokenUsage | null, metadata: AnswerEnd["metadata"] = null): AnswerEnd {
  const report = {
    usage: usage ?? NO_TOKENS,
    cost: 0.25,
    upstreamInferenceCost: 0.5,
    upstreamPromptCost: 0.2,
    upstreamCompletionCost: 0.3,
    isByok: false,
  };
  return { report, metadata };
}
