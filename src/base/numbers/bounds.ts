/**
 * Bounds that are not configurable. The configurable ones are in `app/config/config-schema.ts`. Each name ends in its unit, or names what
 * is counted. Bounds of requests are at least ten times what real clients send: 2,000 messages, 200 tools, 13 levels of nesting.
 */
export const BOUNDS = {
  /** Nesting of arrays and objects in any JSON. */
  jsonDepth: 256,
  /** Values in one request body, including members of objects and elements of arrays. */
  jsonValues: 500_000,
  /** Members of the body's top-level object. */
  bodyFields: 1_000,
  /** Members of `messages`, or items of `input`. */
  messages: 20_000,
  /** Answers to one request (`n`), as at OpenAI. */
  answers: 128,
  /** Content parts of all messages together, including those in tool results. */
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
  /** Warnings of one request that are listed. Further ones are only counted. */
  warnings: 100,
  /** Texts of one embeddings request, as at OpenAI. */
  embeddingInputs: 2_048,
  /** Choices of one text completion: its prompts times `n` or `best_of`. */
  completionChoices: 1_024,
  /** Body of an embeddings request: four times the size of OpenAI's maximum of 300,000 tokens. */
  embeddingsBodyBytes: 8 * 1024 * 1024,
  /** Body of a fill-in-the-middle request: four times the size of the largest context window of a code model. */
  fimBodyBytes: 4 * 1024 * 1024,
  /** JSON body of a request that is forwarded, such as an image to check: OpenAI accepts 20 MB. */
  forwardedBodyBytes: 32 * 1024 * 1024,
  /** Parts of a form, bytes of the head of a part, and bytes of a field that the gateway reads. */
  formParts: 64,
  formHeadBytes: 8 * 1024,
  formTextBytes: 64 * 1024,
  /** Documents of one rerank request, as at Cohere. */
  rerankDocuments: 10_000,
  /** Body of a management request. */
  managementBodyBytes: 1024 * 1024,
  /** One event of an upstream's stream, which may contain an image. */
  eventBytes: 32 * 1024 * 1024,
  /** An upstream's answer that is not streamed. */
  answerBytes: 64 * 1024 * 1024,
  /** Choices of one answer, as at OpenAI. */
  choices: 128,
  /** Bytes of an upstream's error body that are read. */
  errorBodyBytes: 64 * 1024,
  /** Characters of an upstream's message in an error. */
  upstreamMessageChars: 2_000,
  /** Characters of a failed generation in an error: output that the vendor could not parse. */
  failedGenerationChars: 16_000,
  /** The window of a zstd body, as a power of two: 8 MB, the maximum for a content coding by RFC 9659. */
  zstdWindowLog: 23,
  /** Events that are held back before the first token. */
  heldBytes: 1024 * 1024,
  /** Members of `models` in one request. */
  fallbackModels: 16,
  /** Tags of one request. */
  requestTags: 10,
  /** Tags that a key, a team or an account adds to its requests. */
  defaultTags: 5,
  /** Characters of a tag. */
  tagChars: 64,
  /** A model id. */
  modelIdChars: 256,
  /** Names or patterns of models or providers in one list of a key, a policy or a request. */
  patterns: 200,
} as const;
