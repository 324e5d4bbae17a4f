/**
 * A vendor's report that a request exceeds a context window. In tokens; null if the vendor does not name the number.
 */
export interface Overflow {
  readonly limit: number | null;
  /** The prompt. */
  readonly prompt: number | null;
  /** The prompt and the answer that the request allows. */
  readonly total: number | null;
  /** The vendor counted the prompt only as far as it fits, so that it may be longer. */
  readonly isPartial: boolean;
}

/**
 * Messages for a request that exceeds a context window. The groups are tokens: `prompt`, `answer` (the bound of the answer), `total` (both)
 * and `limit`.
 */
const OVERFLOWS: readonly RegExp[] = [
  // Bedrock Mantle. github.com/gsd-build/gsd-2/pull/5409 (May 2026)
  /maximum context length is (?<limit>\d+) tokens.*?requested (?<answer>\d+) output tokens and your prompt contains(?: at least)? (?<prompt>\d+) input tokens/is,
  // OpenAI, DeepSeek, vLLM before 0.11. github.com/vllm-project/vllm/issues/20409 (2025)
  /maximum context length is (?<limit>\d+) tokens.*?requested (?<total>\d+) tokens \((?<prompt>\d+) in (?:the messages|your prompt)[,;] (?<answer>\d+) (?:in|for) the completion/is,
  // SGLang. github.com/anomalyco/opencode/pull/25230 (May 2026)
  /maximum context length of (?<limit>\d+) tokens\. You requested a total of (?<total>\d+) tokens: (?<prompt>\d+) tokens from the input messages and (?<answer>\d+) tokens for the completion/i,
  // vLLM for `max_tokens` alone, then from 0.11 on. github.com/vllm-project/vllm/pull/33425 (January 2026)
  /is too large: (?<answer>\d+)\. This model's maximum context length is (?<limit>\d+) tokens and your request has (?<prompt>\d+) input tokens/i,
  /maximum context length is (?<limit>\d+) tokens\. However, your request has (?<prompt>\d+) input tokens plus (?<answer>\d+) /i,
  // vLLM from 0.16 on, which reads one token more of the prompt than fits. github.com/vllm-project/vllm/pull/32863 (2026)
  /You passed (?<prompt>\d+) input (?:tokens|characters) and requested (?<answer>\d+) output tokens\. However, the model's context length is only (?<limit>\d+) tokens/i,
  // OpenAI, DeepSeek, vLLM and most hosts, about the prompt alone.
  /maximum context length is (?<limit>\d+)(?:.*?(?:requested|resulted in|contains?|request has)[^\d]*(?<prompt>\d+))?/is,
  // OpenAI since GPT-5. github.com/cline/cline/issues/5474 (August 2025)
  /input tokens exceed the configured limit of (?<limit>\d+) tokens\. Your messages resulted in (?<prompt>\d+)/i,
  // SiliconFlow. github.com/langgenius/dify/issues/19394, github.com/continuedev/continue/issues/10993 (2025, 2026)
  /length of prompt_tokens \((?<prompt>\d+)\) must be less than max_seq_len \((?<limit>\d+)\)/i,
  /max_total_tokens \((?<total>\d+)\) must be less than or equal to max_seq_len \((?<limit>\d+)\)/i,
  // Anthropic, with the answer. github.com/docker/docker-agent/issues/569 (2025)
  /input length and `?max_tokens`? exceed context limit: (?<prompt>\d+) \+\s+(?<answer>\d+) > (?<limit>\d+)/i,
  // Anthropic.
  /prompt is too long: (?<prompt>\d+) tokens > (?<limit>\d+)/i,
  // Fireworks.
  /prompt is too long: (?<prompt>\d+), model maximum context length: (?<limit>\d+)/i,
  // Mistral.
  /prompt contains (?<prompt>\d+) tokens.*?(?:model with|maximum)\D*(?<limit>\d+)/is,
  // Gemini, then Vertex.
  /token count(?: \(?(?<prompt>\d+)\)?)? exceeds the maximum number of tokens allowed \(?(?<limit>\d+)/i,
  /token count is (?<prompt>\d+) but model only supports up to (?<limit>\d+)/i,
  // xAI.
  /maximum prompt length is (?<limit>\d+).*?contains (?<prompt>\d+)/is,
  // Moonshot.
  /exceeded model token limit: (?<limit>\d+)(?: \(requested: (?<prompt>\d+)\))?/i,
  // llama.cpp.
  /request \((?<prompt>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  // Cerebras.
  /current length is (?<prompt>\d+) while limit is (?<limit>\d+)/i,
  // Cohere.
  /number of tokens \(?(?:in the prompt|prompt and prediction)\)? cannot exceed (?<limit>\d+) - received (?<prompt>\d+)/i,
  // Text Generation Inference, Together.
  /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d+)\. Given: (?<prompt>\d+) `inputs` tokens(?: and (?<answer>\d+) `max_new_tokens`)?/i,
  // DashScope.
  /range of input length should be \[\d+, ?(?<limit>\d+)\]/i,
];

const OVERFLOW_CODES = /context_length_exceeded|exceed_context_size|context_window_exceeded/;
const OVERFLOW_WORDS =
  /(exceed|too long|larger|greater|over).{0,60}context (window|length|size)|context (window|length|size).{0,40}exceed|too long for requested model|prompt exceeds max length|string with maximum length \d{7}/i;

/** Recognises a request that exceeds a context window from a vendor's message and codes (lower-case); null for other errors. */
export function readOverflow(message: string, words: string): Overflow | null {
  const plain = message.replace(/(\d),(?=\d{3})/g, "$1");
  for (const pattern of OVERFLOWS) {
    const groups = pattern.exec(plain)?.groups;
    if (groups) return makeOverflow(groups);
  }
  const isOverflow = OVERFLOW_CODES.test(words) || OVERFLOW_WORDS.test(plain);
  return isOverflow ? { limit: null, prompt: null, total: null, isPartial: false } : null;
}

function makeOverflow(groups: Readonly<Record<string, string | undefined>>): Overflow {
  const limit = number(groups["limit"]);
  const prompt = number(groups["prompt"]);
  const answer = number(groups["answer"]);
  const total = number(groups["total"]) ?? (prompt === null || answer === null ? null : prompt + answer);
  const isPartial = answer !== null && prompt !== null && limit !== null && prompt + answer === limit + 1;
  return { limit, prompt, total, isPartial };
}

/** An answer of fewer tokens is not worth asking for; some hosts reject a lower bound. */
const LEAST_ROOM = 16;

/**
 * Returns the tokens that are left for the answer to a prompt that fits the context window; null if the prompt does not fit, or if it is
 * unknown whether it does. `maxTokens` is the bound of the answer that was sent; null if it is unknown. `aboutTokens` is an estimate of the
 * prompt, for vendors that count it only in part.
 */
export function roomForAnswer(
  { limit, prompt, total, isPartial }: Overflow,
  maxTokens: number | null,
  aboutTokens: number,
): number | null {
  if (limit === null || total === null) return null;
  const counted = prompt ?? (maxTokens === null ? null : total - maxTokens);
  if (counted === null) return null;
  const room = limit - (isPartial ? Math.max(counted, Math.ceil(aboutTokens * ESTIMATE_MARGIN)) : counted);
  return room < LEAST_ROOM ? null : room;
}

/** Estimates of a prompt are low by up to this factor. */
const ESTIMATE_MARGIN = 1.25;

function number(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}
