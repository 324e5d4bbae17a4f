import type { ConversationRequest } from "../model/request.ts";

/**
 * Returns the request with its token limit lowered to `maxTokens`; unchanged if its limit is not higher. A reasoning budget above the limit
 * is lowered, too, and loses the client's spelling.
 */
export function boundAnswer(request: ConversationRequest, maxTokens: number | null): ConversationRequest {
  if (maxTokens === null || (request.maxTokens !== null && request.maxTokens <= maxTokens)) return request;
  const { reasoning } = request;
  if (reasoning === null || (reasoning.budgetTokens ?? 0) < maxTokens) return { ...request, maxTokens };
  const { extras: _spelling, ...parameters } = reasoning;
  return { ...request, maxTokens, reasoning: { ...parameters, budgetTokens: maxTokens - 1 } };
}
