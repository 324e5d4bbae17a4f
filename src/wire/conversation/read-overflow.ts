/** A vendor's report of a prompt that is too long. In tokens; null where the vendor does not name the number. */
export interface Overflow {
  readonly limit: number | null;
  readonly requested: number | null;
}

/** Messages for a prompt that is too long; the groups are tokens. */
const OVERFLOWS: readonly RegExp[] = [
  // OpenAI, DeepSeek, vLLM and most hosts.
  /maximum context length is (?<limit>\d+)(?:.*?(?:requested|resulted in|contains?)[^\d]*(?<requested>\d+))?/is,
  // Anthropic.
  /prompt is too long: (?<requested>\d+) tokens > (?<limit>\d+)/i,
  // Fireworks.
  /prompt is too long: (?<requested>\d+), model maximum context length: (?<limit>\d+)/i,
  // Mistral.
  /prompt contains (?<requested>\d+) tokens.*?(?:model with|maximum)\D*(?<limit>\d+)/is,
  // Gemini, then Vertex.
  /token count(?: \(?(?<requested>\d+)\)?)? exceeds the maximum number of tokens allowed \(?(?<limit>\d+)/i,
  /token count is (?<requested>\d+) but model only supports up to (?<limit>\d+)/i,
  // xAI.
  /maximum prompt length is (?<limit>\d+).*?contains (?<requested>\d+)/is,
  // Moonshot.
  /exceeded model token limit: (?<limit>\d+)(?: \(requested: (?<requested>\d+)\))?/i,
  // llama.cpp.
  /request \((?<requested>\d+) tokens\) exceeds the available context size \((?<limit>\d+) tokens\)/i,
  // Cerebras.
  /current length is (?<requested>\d+) while limit is (?<limit>\d+)/i,
  // Cohere.
  /number of tokens \(?(?:in the prompt|prompt and prediction)\)? cannot exceed (?<limit>\d+) - received (?<requested>\d+)/i,
  // Text Generation Inference, Together.
  /`inputs` tokens \+ `max_new_tokens` must be <= (?<limit>\d+)\. Given: (?<requested>\d+)/i,
  // DashScope.
  /range of input length should be \[\d+, ?(?<limit>\d+)\]/i,
];

const OVERFLOW_CODES = /context_length_exceeded|exceed_context_size|context_window_exceeded/;
const OVERFLOW_WORDS =
  /(exceed|too long|larger|greater|over).{0,60}context (window|length|size)|context (window|length|size).{0,40}exceed|too long for requested model|prompt exceeds max length|string with maximum length \d{7}/i;

/** Recognises a prompt that is too long from a vendor's message and codes (lower-case); null for other errors. */
export function readOverflow(message: string, words: string): Overflow | null {
  const plain = message.replace(/(\d),(?=\d{3})/g, "$1");
  for (const pattern of OVERFLOWS) {
    const groups = pattern.exec(plain)?.groups;
    if (groups) return { limit: number(groups["limit"]), requested: number(groups["requested"]) };
  }
  const isOverflow = OVERFLOW_CODES.test(words) || OVERFLOW_WORDS.test(plain);
  return isOverflow ? { limit: null, requested: null } : null;
}

function number(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}
