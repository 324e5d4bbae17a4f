import type { ModelEndpoint } from "./records.ts";

/** Returns the maximum tokens of a prompt at an endpoint. */
export function windowOf({
  contextLength,
  maxPromptTokens,
}: Pick<ModelEndpoint, "contextLength" | "maxPromptTokens">): number {
  return Math.min(contextLength, maxPromptTokens ?? contextLength);
}

/** Returns the longest answer of a model endpoint. Tokens. */
export function longestAnswer({
  maxOutputTokens,
  contextLength,
}: Pick<ModelEndpoint, "contextLength" | "maxOutputTokens">): number {
  return Math.min(maxOutputTokens ?? contextLength, contextLength);
}
