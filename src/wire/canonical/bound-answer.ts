import type { ConversationRequest } from "./request.ts";

/**
 * The request with a lower bound for its answer; as it is where it has none that is higher. A budget for reasoning that does not
 * fit below the bound is lowered with it, and is then no longer as the client spelled it.
 */
export function boundAnswer(request: ConversationRequest, maxTokens: number | null): ConversationRequest {
  if (maxTokens === null || (request.maxTokens !== null && request.maxTokens <= maxTokens)) return request;
  const { reasoning } = request;
  if (reasoning === null || (reasoning.budgetTokens ?? 0) < maxTokens) return { ...request, maxTokens };
  const { extras: _spelling, ...wish } = reasoning;
  return { ...request, maxTokens, reasoning: { ...wish, budgetTokens: maxTokens - 1 } };
}
