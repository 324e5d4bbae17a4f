import type {
  InferenceAction,
  InferenceRequest,
} from "../../../wire/client-apis/request/inference-request.ts";
import { longestAnswer } from "../../catalog/records/endpoint-limits.ts";
import { mayReason } from "../../catalog/records/may-reason.ts";
import type { Deployment } from "../../deployments/served-models.ts";

/** Tokens that a slow vendor produces during the maximum wait for a first token. */
const TOKENS_PER_WAIT = 4_096;
/** Tokens to wait for if the request sets no limit: for a model that does not reason, and for one that may. */
const USUAL_TOKENS = 4_096;
const USUAL_REASONING_TOKENS = 16_384;
/** Equivalents in tokens for answers that are not text, by the time that they take to make. Absent for answers that take no extra time. */
const OTHER_TOKENS: Readonly<Partial<Record<InferenceAction, number>>> = {
  images: 6_144,
  speech: 4_096,
  transcriptions: 6_144,
};
const CONVERSATIONS: ReadonlySet<InferenceAction> = new Set(["chat", "completions", "fim"]);

/**
 * Returns how long a vendor may be silent before an unstreamed answer, if another candidate may follow: the first-token time, plus the same
 * time for each 4,096 tokens that the answer may have (ADR 19). Milliseconds.
 */
export function findMaxSilence(
  request: Pick<InferenceRequest, "action" | "maxTokens">,
  deployment: Pick<Deployment, "model" | "endpoint">,
  firstTokenMs: number,
): number {
  return firstTokenMs * (1 + estimateAnswerTokens(request, deployment) / TOKENS_PER_WAIT);
}

function estimateAnswerTokens(
  { action, maxTokens }: Pick<InferenceRequest, "action" | "maxTokens">,
  { model, endpoint }: Pick<Deployment, "model" | "endpoint">,
): number {
  if (!CONVERSATIONS.has(action)) return OTHER_TOKENS[action] ?? 0;
  const usual = mayReason(model) ? USUAL_REASONING_TOKENS : USUAL_TOKENS;
  return Math.min(maxTokens ?? usual, longestAnswer(endpoint));
}
