import type { ProviderFormat } from "../../../src/wire/conversation/traits/format-name.ts";
import type { Fields } from "../sites/profile-site.ts";

type Path = readonly string[];

/** Where formats other than OpenAI's have the parameters of its chat API. */
const PATHS: Readonly<Partial<Record<ProviderFormat, Readonly<Record<string, Path>>>>> = {
  "openai-responses": {
    max_tokens: ["max_output_tokens"],
    reasoning_effort: ["reasoning", "effort"],
    verbosity: ["text", "verbosity"],
    response_format: ["text", "format"],
  },
  "anthropic-messages": { stop: ["stop_sequences"] },
  gemini: {
    temperature: ["generationConfig", "temperature"],
    top_p: ["generationConfig", "topP"],
    top_k: ["generationConfig", "topK"],
    max_tokens: ["generationConfig", "maxOutputTokens"],
    stop: ["generationConfig", "stopSequences"],
    seed: ["generationConfig", "seed"],
    n: ["generationConfig", "candidateCount"],
    presence_penalty: ["generationConfig", "presencePenalty"],
    frequency_penalty: ["generationConfig", "frequencyPenalty"],
    logprobs: ["generationConfig", "responseLogprobs"],
    top_logprobs: ["generationConfig", "logprobs"],
  },
  "bedrock-converse": {
    temperature: ["inferenceConfig", "temperature"],
    top_p: ["inferenceConfig", "topP"],
    max_tokens: ["inferenceConfig", "maxTokens"],
    stop: ["inferenceConfig", "stopSequences"],
    top_k: ["additionalModelRequestFields", "top_k"],
    thinking: ["additionalModelRequestFields", "thinking"],
  },
  "cohere-chat": { top_p: ["p"], top_k: ["k"], stop: ["stop_sequences"] },
};

/** Returns a parameter of a body by its name in OpenAI's chat API; undefined if the body does not have it. */
export function readParameter(body: Fields, format: ProviderFormat, name: string): unknown {
  const ofVenice = body["venice_parameters"] as Fields | undefined;
  if (name === "reasoning_effort" && ofVenice?.["disable_thinking"] === true) return "none";
  let at: unknown = body;
  for (const one of PATHS[format]?.[name] ?? [name]) at = (at as Fields | null | undefined)?.[one];
  return at;
}
