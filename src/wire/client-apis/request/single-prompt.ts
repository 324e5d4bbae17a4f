import { NO_CHARGES } from "../../conversation/charges.ts";
import type { InferenceRequest, RequestDemands, RequestPrompt } from "./inference-request.ts";

/** What requests with one prompt instead of a conversation have in common. */
export const SINGLE_PROMPT = {
  format: null,
  answers: 1,
  isText: { body: true, answer: true },
} as const satisfies Partial<InferenceRequest>;

/** A prompt without tools and media. */
export const PLAIN_PROMPT = {
  mayHaveMedia: false,
  hasSchemas: false,
} as const satisfies Partial<RequestPrompt>;

/** A request that has no tools and costs only its tokens. */
export const PLAIN_DEMANDS = {
  formatOfTools: () => null,
  listCharges: () => NO_CHARGES,
} as const satisfies Partial<RequestDemands>;
