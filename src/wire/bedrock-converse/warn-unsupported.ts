import type { ConversationRequest } from "../canonical/model/request.ts";
import type { BedrockEncoding } from "./encoding.ts";

/** Warns of parameters that Converse does not have. */
export function warnUnsupported(request: ConversationRequest, { warn }: BedrockEncoding): void {
  const parameters: readonly (readonly [string, boolean])[] = [
    ["frequency_penalty", Boolean(request.frequencyPenalty)],
    ["presence_penalty", Boolean(request.presencePenalty)],
    ["seed", request.seed !== null],
    ["logit_bias", request.logitBias !== null && Object.keys(request.logitBias).length > 0],
    ["logprobs", request.logprobs !== null],
    ["verbosity", request.verbosity !== null],
    ["user", request.user !== null],
  ];
  for (const [field, isSet] of parameters)
    if (isSet) warn(field, "This provider does not support it; it was left out.");
}
