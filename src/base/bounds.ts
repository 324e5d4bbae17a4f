/**
 * Bounds that nobody configures. Those an operator may change stand in `app/config-schema.ts`.
 * Each name ends in its unit, or names what is counted. Bounds of requests leave at least an order of magnitude above
 * what real clients send: 2,000 messages, 200 tools, 13 levels of nesting.
 */
export const BOUNDS = {
  /** Levels of arrays and objects inside each other, in whatever the gateway parses. */
  jsonDepth: 256,
  /** Values of all kinds in one request body, members of objects and elements of arrays among them. */
  jsonValues: 500_000,
  /** Members of the body's own object. */
  bodyFields: 1_000,
  /** Members of `messages`, or items of `input`. */
  messages: 20_000,
  /** Answers to one request (`n`); OpenAI's own bound. */
  answers: 128,
  /** Content parts of all messages together, those inside tool results among them. */
  parts: 50_000,
  /** Tool calls of all messages together. */
  toolCalls: 20_000,
  /** Entries of `reasoning_details`, or blocks and summaries of reasoning, of all messages together. */
  reasoningDetails: 100_000,
  /** Members of `tools`. */
  tools: 2_000,
  /** Values in the schemas of all tools together, and in the schema of the answer. */
  schemaValues: 200_000,
  /** Branches of one `anyOf`, `oneOf` or `allOf`. */
  schemaBranches: 10_000,
  /** Warnings of one request that are named; the others are counted. */
  warnings: 100,
  /** Texts of one embeddings request; OpenAI's own bound. */
  embeddingInputs: 2_048,
  /** Body of an embeddings request: four times what OpenAI's 300,000 tokens a request come to. */
  embeddingsBodyBytes: 8 * 1024 * 1024,
  /** Body of a fill-in-the-middle request: four times what the largest window of a code model holds. */
  fimBodyBytes: 4 * 1024 * 1024,
  /** Body of a management request. */
  managementBodyBytes: 1024 * 1024,
  /** One event of an upstream's stream; images in answers need room. */
  eventBytes: 32 * 1024 * 1024,
  /** An upstream's whole answer, not streamed. */
  answerBytes: 64 * 1024 * 1024,
  /** Choices of one answer; OpenAI's own bound of `n`. */
  choices: 128,
  /** What is read of an upstream's error body. */
  errorBodyBytes: 64 * 1024,
  /** What an error passes on of an upstream's words. */
  upstreamMessageChars: 2_000,
  /** What an error passes on of what a model wrote and its vendor could not read. */
  failedGenerationChars: 16_000,
  /** The window of a zstd body, as a power of two: 8 MB, the maximum for a content coding by RFC 9659. */
  zstdWindowLog: 23,
  /** Events held back before the first token. */
  heldBytes: 1024 * 1024,
  /** Models in one request's `models`. */
  fallbackModels: 16,
  /** A model id. */
  modelIdChars: 256,
  /** Names or patterns of models or providers in one list of a key, a policy or a request. */
  patterns: 200,
} as const;
