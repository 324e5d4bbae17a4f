/**
 * Messages of hosts that lack a feature of a model for every request: tools, formats of answers, or images. Another host of the model may
 * have it.
 */
const WORDINGS: readonly RegExp[] = [
  // DeepSeek. github.com/BerriAI/litellm/issues/42245 (2026)
  /response_format type is unavailable/,
  // xAI. github.com/BerriAI/litellm/issues/6610 (2024)
  /response_format parameter is unsupported/,
  // OpenAI, Azure. github.com/MicrosoftDocs/azure-docs/issues/120112 (2024)
  /'response_format' of type '\w+' is not supported with this model/,
  // Groq. github.com/TypeWhisper/typewhisper-win/issues/26 (2026), github.com/dzhng/deep-research/issues/127 (2025)
  /only supports response formats:/,
  /'response_format\.type' : value is not one of the allowed values/,
  // DeepInfra. github.com/truefoundry/models/pull/913 (2026)
  /\w+ response format is not supported for model/,
  // SiliconFlow. github.com/egoist/chatwise-releases/issues/141 (2025)
  /json mode is not supported for this model/i,
  // Together. github.com/togethercomputer/together-python/issues/196 (2024)
  /is not supported for json mode\/function calling/i,
  // OpenAI, DeepInfra, Ollama. github.com/sbintuitions/flexeval/pull/242 (2025), github.com/truefoundry/models/pull/944 (2026),
  // github.com/empower-ai/empower-functions/issues/8 (2024)
  /\b(?:tools is|tool calling is|functions are) not supported (?:in|for|with) (?:this |model)/i,
  /\bdoes not support (?:tools|image input)/i,
  // Servers of models that read only text. github.com/FlashML-org/FreeToken/issues/272 (2026), github.com/BerriAI/litellm/issues/7908 (2025)
  /unsupported content part type for text-only server/i,
  /is not a vision model/i,
];

/** Returns whether a vendor rejected a request because this host lacks a feature of the model. `message` is truncated. */
export function lacksFeature(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}
