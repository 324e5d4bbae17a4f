import type {
  InferenceAction,
  InferenceRequest,
} from "../../../wire/client-apis/request/inference-request.ts";
import { longestAnswer } from "../../catalog/records/endpoint-limits.ts";
import { mayReason } from "../../catalog/records/may-reason.ts";
import type { Deployment } from "../../deployments/served-models.ts";

/** Tokens that a slow vendor produces in the time in which it may be silent before the first one. */
const TOKENS_PER_WAIT = 4_096;
/** Tokens that are waited for if the request sets no limit: of a model that does not reason, and of one that may. */
const USUAL_TOKENS = 4_096;
const USUAL_REASONING_TOKENS = 16_384;
/** The same for answers that are not counted in tokens of text, by how long they take to make. Absent: they come at once. */
const OTHER_TOKENS: Readonly<Partial<Record<InferenceAction, number>>> = {
  images: 6_144,
  speech: 4_096,
  transcriptions: 6_144,
};
const CONVERSATIONS: ReadonlySet<InferenceAction> = new Set(["chat", "completions", "fim"]);

/**
 * Returns how long a vendor may be silent before it gives an answer that is not streamed, while another candidate may give it: the time to
 * the first token, and as much again for each 4,096 tokens that the answer may have (ADR 19). Milliseconds.
 */
export function silenceOf(
  request: Pick<InferenceRequest, "action" | "maxTokens">,
  deployment: Pick<Deployment, "model" | "endpoint">,
  firstTokenMs: number,
): number {
  return firstTokenMs * (1 + tokensOf(request, deployment) / TOKENS_PER_WAIT);
}

function tokensOf(
  { action, maxTokens }: Pick<InferenceRequest, "action" | "maxTokens">,
  { model, endpoint }: Pick<Deployment, "model" | "endpoint">,
): number {
  if (!CONVERSATIONS.has(action)) return OTHER_TOKENS[action] ?? 0;
  const usual = mayReason(model) ? USUAL_REASONING_TOKENS : USUAL_TOKENS;
  return Math.min(maxTokens ?? usual, longestAnswer(endpoint));
}
