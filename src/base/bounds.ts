/**
 * Bounds that nobody configures. Those an operator may change stand in `app/config-schema.ts`.
 * Each name ends in its unit.
 */
export const BOUNDS = {
  /** Members of `messages`. */
  messages: 20_000,
  /** Answers to one request (`n`); OpenAI's own bound. */
  answers: 128,
  /** Members of `tools`. */
  tools: 2_000,
  /** Texts of one embeddings request; OpenAI's own bound. */
  embeddingInputs: 2_048,
  /** One event of an upstream's stream; images in answers need room. */
  eventBytes: 32 * 1024 * 1024,
  /** An upstream's whole answer, not streamed. */
  answerBytes: 64 * 1024 * 1024,
  /** What is read of an upstream's error body. */
  errorBodyBytes: 64 * 1024,
  /** What an error passes on of an upstream's words. */
  upstreamMessageChars: 2_000,
  /** What an error passes on of what a model wrote and its vendor could not read. */
  failedGenerationChars: 16_000,
  /** Events held back before the first token. */
  heldBytes: 1024 * 1024,
  /** Models in one request's `models`. */
  fallbackModels: 16,
  /** A model id. */
  modelIdChars: 256,
  /** Names or patterns of models or providers in one list of a key, a policy or a request. */
  patterns: 200,
} as const;
