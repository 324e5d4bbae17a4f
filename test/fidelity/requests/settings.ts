import { everywhere, lookTool, type RequestCase } from "./request-case.ts";

const look = lookTool();
const MARKED = { cache_control: { type: "ephemeral" } };
const MARKED_1H = { cache_control: { type: "ephemeral", ttl: "1h" } };
const FOR_OPENAI = "the key only helps OpenAI to find its cache";
const CACHES_BY_ITSELF = "the vendor caches repeated prefixes automatically";
const SELF_CACHING = {
  "openai-chat": CACHES_BY_ITSELF,
  "openai-responses": CACHES_BY_ITSELF,
  gemini: CACHES_BY_ITSELF,
  "cohere-chat": "the vendor has no cache",
} as const;

function cached(mark: Record<string, unknown>): RequestCase["bodies"] {
  const long = { type: "text", text: "MARKER-long", ...mark };
  return {
    chat: { messages: [{ role: "user", content: [long, { type: "text", text: "And now?" }] }] },
    messages: { messages: [{ role: "user", content: [long, { type: "text", text: "And now?" }] }] },
  };
}

const SCHEMA = {
  type: "object",
  properties: { answer: { type: "string", enum: ["MARKER-yes", "MARKER-no"] } },
  required: ["answer"],
  additionalProperties: false,
};
const LOOSE_SCHEMA = {
  type: "object",
  properties: { answer: { type: "string", minLength: 4_711 }, note: { type: "string" } },
  required: ["answer"],
};

function structured(schema: Record<string, unknown>): RequestCase["bodies"] {
  return {
    chat: {
      response_format: { type: "json_schema", json_schema: { name: "verdict", schema, strict: true } },
    },
    responses: { text: { format: { type: "json_schema", name: "verdict", schema, strict: true } } },
    messages: { output_config: { format: { type: "json_schema", schema } } },
  };
}

/** Returns a case of one field with one value, which has the same name in all client APIs that have it. */
function setting(
  field: string,
  value: unknown,
  clients: readonly ("chat" | "responses" | "messages")[],
  kept: RequestCase["kept"],
  needless: RequestCase["needless"] = {},
): RequestCase {
  return {
    name: field,
    bodies: Object.fromEntries(clients.map((client) => [client, { [field]: value }])),
    kept,
    field: new RegExp(field),
    needless,
  };
}

/** Prompt caching. */
export const CACHE: readonly RequestCase[] = [
  {
    name: "cache mark on a text",
    bodies: cached(MARKED),
    kept: {
      "openai-chat": { "messages[0].content[0].cache_control.type": "ephemeral" },
      "anthropic-messages": { "messages[0].content[0]": { text: "MARKER-long", ...MARKED } },
      "bedrock-converse": {
        "messages[0].content": [{ text: "MARKER-long" }, { cachePoint: { type: "default" } }, {}],
      },
    },
    field: /cache/,
    needless: SELF_CACHING,
  },
  {
    name: "cache mark for an hour",
    bodies: cached(MARKED_1H),
    kept: {
      "openai-chat": { "messages[0].content[0].cache_control.ttl": "1h" },
      "anthropic-messages": { "messages[0].content[0]": { text: "MARKER-long", ...MARKED_1H } },
      "bedrock-converse": { "messages[0].content[1].cachePoint.ttl": "1h" },
    },
    field: /cache/,
    needless: SELF_CACHING,
  },
  {
    name: "cache mark on a tool",
    bodies: {
      chat: { tools: [{ ...look.chat, ...MARKED }] },
      messages: { tools: [{ ...look.messages, ...MARKED }] },
    },
    kept: {
      "openai-chat": { "tools[0].cache_control.type": "ephemeral" },
      "anthropic-messages": { "tools[0].cache_control.type": "ephemeral" },
      "bedrock-converse": { "toolConfig.tools[1].cachePoint.type": "default" },
    },
    field: /cache/,
    needless: SELF_CACHING,
  },
  {
    name: "cache mark on a system message",
    bodies: {
      chat: {
        messages: [
          { role: "system", content: [{ type: "text", text: "MARKER", ...MARKED }] },
          { role: "user", content: "Hello" },
        ],
      },
      messages: { system: [{ type: "text", text: "MARKER", ...MARKED }] },
    },
    kept: {
      "openai-chat": { "messages[0].content[0].cache_control.type": "ephemeral" },
      "anthropic-messages": { "system[0].cache_control.type": "ephemeral" },
      "bedrock-converse": { "system[1].cachePoint.type": "default" },
    },
    field: /cache/,
    needless: SELF_CACHING,
  },
  {
    name: "cache mark on a whole request",
    bodies: { chat: MARKED, messages: MARKED },
    kept: {
      "openai-chat": { "cache_control.type": "ephemeral" },
      "anthropic-messages": { "cache_control.type": "ephemeral" },
      "bedrock-converse": { "messages[0].content[1].cachePoint.type": "default" },
    },
    field: /cache/,
    needless: SELF_CACHING,
  },
  setting(
    "prompt_cache_key",
    "MARKER",
    ["chat", "responses"],
    {
      "openai-chat": { prompt_cache_key: "MARKER" },
      "openai-responses": { prompt_cache_key: "MARKER" },
    },
    {
      "anthropic-messages": FOR_OPENAI,
      gemini: FOR_OPENAI,
      "bedrock-converse": FOR_OPENAI,
      "cohere-chat": FOR_OPENAI,
    },
  ),
];

/** The format and length of the answer. */
export const OUTPUT: readonly RequestCase[] = [
  {
    name: "JSON output",
    bodies: {
      chat: { response_format: { type: "json_object" } },
      responses: { text: { format: { type: "json_object" } } },
    },
    kept: {
      "openai-chat": { "response_format.type": "json_object" },
      "openai-responses": { "text.format.type": "json_object" },
      gemini: { "generationConfig.responseMimeType": "application/json" },
      "cohere-chat": { "response_format.type": "json_object" },
    },
    field: /response_format/,
  },
  {
    name: "JSON Schema output",
    bodies: structured(SCHEMA),
    kept: {
      "openai-chat": { "response_format.json_schema.schema": SCHEMA },
      "openai-responses": { "text.format": { type: "json_schema", schema: SCHEMA } },
      "anthropic-messages": { "output_config.format": { type: "json_schema", schema: SCHEMA } },
      gemini: {
        "generationConfig.responseJsonSchema.properties.answer.enum": ["MARKER-yes", "MARKER-no"],
      },
      "bedrock-converse": {
        "outputConfig.textFormat.structure.jsonSchema.schema": /"enum":\["MARKER-yes","MARKER-no"\]/,
      },
      "cohere-chat": { "response_format.json_schema": SCHEMA },
    },
    field: /response_format/,
  },
  {
    name: "JSON Schema output that strict vendors reject",
    bodies: structured(LOOSE_SCHEMA),
    kept: {
      "openai-chat": { "response_format.json_schema.schema": LOOSE_SCHEMA },
      "openai-responses": { "text.format.schema": LOOSE_SCHEMA },
      "anthropic-messages": { "output_config.format.schema": LOOSE_SCHEMA },
      gemini: { "generationConfig.responseJsonSchema.properties.answer.minLength": 4_711 },
    },
    field: /response_format/,
  },
  {
    name: "schema name",
    bodies: {
      chat: structured(SCHEMA)["chat"] ?? {},
      responses: structured(SCHEMA)["responses"] ?? {},
    },
    kept: {
      "openai-chat": { "response_format.json_schema.name": "verdict" },
      "openai-responses": { "text.format.name": "verdict" },
      "bedrock-converse": { "outputConfig.textFormat.structure.jsonSchema.name": "verdict" },
    },
    field: /response_format/,
    needless: {
      "anthropic-messages": "the name is only a label; the schema is sent",
      gemini: "the name is only a label; the schema is sent",
      "cohere-chat": "the name is only a label; the schema is sent",
    },
  },
  {
    name: "verbosity",
    bodies: { chat: { verbosity: "low" }, responses: { text: { verbosity: "low" } } },
    kept: { "openai-chat": { verbosity: "low" }, "openai-responses": { "text.verbosity": "low" } },
    field: /verbosity/,
  },
  {
    name: "max_tokens",
    bodies: {
      chat: { max_tokens: 471 },
      responses: { max_output_tokens: 471 },
      messages: { max_tokens: 471 },
    },
    kept: {
      "openai-chat": { max_tokens: 471 },
      "openai-responses": { max_output_tokens: 471 },
      "anthropic-messages": { max_tokens: 471 },
      gemini: { "generationConfig.maxOutputTokens": 471 },
      "bedrock-converse": { "inferenceConfig.maxTokens": 471 },
      "cohere-chat": { max_tokens: 471 },
    },
    field: /max_tokens/,
  },
  {
    name: "max_completion_tokens",
    bodies: { chat: { max_completion_tokens: 471 } },
    kept: {
      "openai-chat": { max_completion_tokens: 471 },
      "openai-responses": { max_output_tokens: 471 },
      "anthropic-messages": { max_tokens: 471 },
      gemini: { "generationConfig.maxOutputTokens": 471 },
      "bedrock-converse": { "inferenceConfig.maxTokens": 471 },
      "cohere-chat": { max_tokens: 471 },
    },
    field: /max_completion_tokens/,
  },
  {
    name: "stop sequences",
    bodies: { chat: { stop: ["MARKER"] }, messages: { stop_sequences: ["MARKER"] } },
    kept: {
      "openai-chat": { stop: ["MARKER"] },
      "anthropic-messages": { stop_sequences: ["MARKER"] },
      gemini: { "generationConfig.stopSequences": ["MARKER"] },
      "bedrock-converse": { "inferenceConfig.stopSequences": ["MARKER"] },
      "cohere-chat": { stop_sequences: ["MARKER"] },
    },
    field: /stop/,
  },
];

/** Sampling parameters. */
export const SAMPLING: readonly RequestCase[] = [
  setting("temperature", 0.25, ["chat", "responses", "messages"], {
    "openai-chat": { temperature: 0.25 },
    "openai-responses": { temperature: 0.25 },
    "anthropic-messages": { temperature: 0.25 },
    gemini: { "generationConfig.temperature": 0.25 },
    "bedrock-converse": { "inferenceConfig.temperature": 0.25 },
    "cohere-chat": { temperature: 0.25 },
  }),
  {
    name: "temperature above 1",
    bodies: { chat: { temperature: 1.5 }, responses: { temperature: 1.5 } },
    kept: {
      "openai-chat": { temperature: 1.5 },
      "openai-responses": { temperature: 1.5 },
      gemini: { "generationConfig.temperature": 1.5 },
    },
    field: /temperature/,
  },
  setting("top_p", 0.25, ["chat", "responses", "messages"], {
    "openai-chat": { top_p: 0.25 },
    "openai-responses": { top_p: 0.25 },
    "anthropic-messages": { top_p: 0.25 },
    gemini: { "generationConfig.topP": 0.25 },
    "bedrock-converse": { "inferenceConfig.topP": 0.25 },
    "cohere-chat": { p: 0.25 },
  }),
  setting("top_k", 47, ["chat", "messages"], {
    "openai-chat": { top_k: 47 },
    "anthropic-messages": { top_k: 47 },
    gemini: { "generationConfig.topK": 47 },
    "bedrock-converse": { "additionalModelRequestFields.top_k": 47 },
    "cohere-chat": { k: 47 },
  }),
  setting("frequency_penalty", 0.25, ["chat"], {
    "openai-chat": { frequency_penalty: 0.25 },
    gemini: { "generationConfig.frequencyPenalty": 0.25 },
    "cohere-chat": { frequency_penalty: 0.25 },
  }),
  setting("presence_penalty", 0.25, ["chat"], {
    "openai-chat": { presence_penalty: 0.25 },
    gemini: { "generationConfig.presencePenalty": 0.25 },
    "cohere-chat": { presence_penalty: 0.25 },
  }),
  setting("seed", 4_711, ["chat"], {
    "openai-chat": { seed: 4_711 },
    gemini: { "generationConfig.seed": 4_711 },
    "cohere-chat": { seed: 4_711 },
  }),
  {
    name: "several choices",
    bodies: { chat: { n: 3 } },
    kept: { "openai-chat": { n: 3 }, gemini: { "generationConfig.candidateCount": 3 } },
    field: /\bn\b/,
  },
  setting("logit_bias", { "4711": -5 }, ["chat"], { "openai-chat": { "logit_bias.4711": -5 } }),
  {
    name: "log probabilities",
    bodies: {
      chat: { logprobs: true, top_logprobs: 4 },
      responses: { top_logprobs: 4, include: ["message.output_text.logprobs"] },
    },
    kept: {
      "openai-chat": { logprobs: true, top_logprobs: 4 },
      "openai-responses": { top_logprobs: 4, "include[]": "message.output_text.logprobs" },
      gemini: { "generationConfig.responseLogprobs": true, "generationConfig.logprobs": 4 },
    },
    field: /logprobs/,
  },
];

/** User, metadata, service tier and unknown fields. */
export const BOOKKEEPING: readonly RequestCase[] = [
  {
    name: "user",
    bodies: {
      chat: { user: "MARKER" },
      responses: { user: "MARKER" },
      messages: { metadata: { user_id: "MARKER" } },
    },
    kept: {
      "openai-chat": { user: "hashed(MARKER)" },
      "openai-responses": { user: "hashed(MARKER)" },
      "anthropic-messages": { "metadata.user_id": "hashed(MARKER)" },
    },
    field: /user/,
  },
  setting("safety_identifier", "MARKER", ["chat", "responses"], {
    "openai-chat": { safety_identifier: "hashed(MARKER)" },
    "openai-responses": { safety_identifier: "hashed(MARKER)" },
  }),
  setting("metadata", { topic: "MARKER" }, ["chat", "responses"], {
    "openai-chat": { "metadata.topic": "MARKER" },
    "openai-responses": { "metadata.topic": "MARKER" },
    "bedrock-converse": { "requestMetadata.topic": "MARKER" },
  }),
  {
    name: "service tier: faster",
    bodies: { chat: { service_tier: "priority" }, responses: { service_tier: "priority" } },
    kept: {
      "openai-chat": { service_tier: "priority" },
      "openai-responses": { service_tier: "priority" },
      "bedrock-converse": { "serviceTier.type": "priority" },
    },
    field: /service_tier/,
  },
  {
    name: "service tier: default",
    bodies: {
      chat: { service_tier: "default" },
      responses: { service_tier: "default" },
      messages: { service_tier: "standard_only" },
    },
    kept: {
      "openai-chat": { service_tier: /default|standard_only/ },
      "openai-responses": { service_tier: "default" },
      "anthropic-messages": { service_tier: "standard_only" },
      "bedrock-converse": { "serviceTier.type": "default" },
    },
    field: /service_tier/,
    needless: {
      gemini: "the vendor has no other tier",
      "cohere-chat": "the vendor has no other tier",
    },
  },
  {
    name: "unknown field",
    bodies: everywhere(() => ({ unheard_of: "MARKER" })),
    kept: {
      "openai-chat": { unheard_of: "MARKER" },
      "openai-responses": { unheard_of: "MARKER" },
      "anthropic-messages": { unheard_of: "MARKER" },
    },
    field: /unheard_of/,
  },
  {
    name: "unknown field of a message",
    bodies: {
      chat: { messages: [{ role: "user", content: "Hello", unheard_of: "MARKER" }] },
      responses: { input: [{ role: "user", content: "Hello", unheard_of: "MARKER" }] },
      messages: { messages: [{ role: "user", content: "Hello", unheard_of: "MARKER" }] },
    },
    kept: {
      "openai-chat": { "messages[0].unheard_of": "MARKER" },
      "openai-responses": { "input[0].unheard_of": "MARKER" },
      "anthropic-messages": { "messages[0].unheard_of": "MARKER" },
    },
    field: /unheard_of/,
  },
  {
    name: "unknown field of a content part",
    bodies: {
      chat: {
        messages: [{ role: "user", content: [{ type: "text", text: "Hello", unheard_of: "MARKER" }] }],
      },
      responses: {
        input: [{ role: "user", content: [{ type: "input_text", text: "Hello", unheard_of: "MARKER" }] }],
      },
      messages: {
        messages: [{ role: "user", content: [{ type: "text", text: "Hello", unheard_of: "MARKER" }] }],
      },
    },
    kept: {
      "openai-chat": { "messages[0].content[0].unheard_of": "MARKER" },
      "openai-responses": { "input[0].content[0].unheard_of": "MARKER" },
      "anthropic-messages": { "messages[0].content[0].unheard_of": "MARKER" },
    },
    field: /unheard_of/,
  },
  {
    name: "hosted tool",
    bodies: {
      chat: { tools: [look.chat, { type: "web_search", web_search: { size: "MARKER" } }] },
      responses: { tools: [look.responses, { type: "web_search", search_context_size: "MARKER" }] },
      messages: {
        tools: [look.messages, { type: "web_search_20250305", name: "web_search", max_uses: 4_711 }],
      },
    },
    kept: {
      "openai-chat": { "tools[1].type": "web_search" },
      "openai-responses": { "tools[1].type": "web_search" },
      "anthropic-messages": { "tools[1]": { type: "web_search_20250305", max_uses: 4_711 } },
    },
    field: /web_search/,
  },
  {
    name: "hosted tool call in an earlier turn",
    bodies: {
      responses: {
        input: [
          { role: "user", content: "Hello" },
          {
            type: "web_search_call",
            id: "ws_MARKER",
            status: "completed",
            action: { type: "search", query: "MARKER" },
          },
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "It rains." }] },
          { role: "user", content: "Sure?" },
        ],
      },
      messages: {
        messages: [
          { role: "user", content: "Hello" },
          {
            role: "assistant",
            content: [
              { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "MARKER" } },
              { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
              { type: "text", text: "It rains." },
            ],
          },
          { role: "user", content: "Sure?" },
        ],
      },
    },
    kept: {
      "openai-responses": { "input[1]": { type: "web_search_call", id: "ws_MARKER" } },
      "anthropic-messages": { "messages[1].content[0].input.query": "MARKER" },
    },
    field: /web_search_call|server_tool_use/,
  },
];
