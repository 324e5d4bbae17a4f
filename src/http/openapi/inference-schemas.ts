import { z } from "zod";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { describeModelId, GATEWAY_FIELDS, GatewayMetadata, STREAM, Usage } from "./inference-fields.ts";
import { namedBody } from "./named-body.ts";

export const EXAMPLE_MODEL = "sandbox/echo:free";
export const HELLO = [{ role: "user", content: "Hello!" }];
const object = z.looseObject({});
const maxTokens = z.int().min(1).nullish();

const ToolCall = namedBody("ToolCall", {
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({
    name: z.string(),
    arguments: z.string().describe("The arguments as a JSON text; `{}` if there are none."),
  }),
});

const ContentPart = z
  .union([
    z.looseObject({ type: z.literal("text"), text: z.string() }),
    z.looseObject({
      type: z.literal("image_url"),
      image_url: z.looseObject({ url: z.string(), detail: z.string().nullish() }),
    }),
    z.looseObject({ type: z.string() }),
  ])
  .meta({
    id: "ContentPart",
    description: "A part of a message: text, an image, or another type, which is passed on.",
  });

const Message = namedBody("Message", {
  role: z
    .enum(["system", "developer", "user", "assistant", "tool", "function"])
    .describe(
      "Role of the author. `function` is the deprecated form of `tool`, with the function's name in `name`.",
    ),
  content: z
    .union([z.string(), z.array(ContentPart)])
    .nullish()
    .describe("Content of the message. May be `null` or omitted if an assistant message has tool calls."),
  tool_calls: z.array(ToolCall).nullish().describe("Tool calls of an assistant message."),
  tool_call_id: z
    .string()
    .nullish()
    .describe(
      "For a tool message: id of the tool call that it answers. Optional if only one call has no result yet.",
    ),
  function_call: object.nullish().describe("Deprecated form of a single tool call of an assistant message."),
});

const Tool = namedBody("Tool", {
  type: z.string().nullish().describe("Type of the tool: `function` (default) or `custom`."),
  function: z
    .looseObject({
      name: z.string().min(1),
      description: z.string().nullish(),
      parameters: object
        .nullish()
        .describe("Parameters of the function as a JSON Schema. Default: an object without properties."),
    })
    .optional(),
});

export const ChatRequest = namedBody("ChatCompletionRequest", {
  model: describeModelId(EXAMPLE_MODEL),
  messages: z
    .array(Message)
    .min(1)
    .max(BOUNDS.messages)
    .meta({ examples: [HELLO] }),
  ...STREAM,
  stream_options: object
    .nullish()
    .describe("`include_usage: true` sends the usage in a separate last chunk, as OpenAI does."),
  max_tokens: maxTokens.describe("Maximum number of tokens to generate."),
  max_completion_tokens: maxTokens.describe(
    "Maximum number of tokens to generate. OpenAI's newer name of `max_tokens`.",
  ),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe("Sequences at which generation stops."),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  tools: z.array(Tool).max(BOUNDS.tools).nullish(),
  tool_choice: z
    .union([z.enum(["none", "auto", "required", "any"]), z.looseObject({ type: z.string().nullish() })])
    .nullish()
    .describe(
      'Which tool to call: `none`, `auto`, `required`, or `{"type": "function", "function": {"name": "…"}}`. `any` is a synonym of `required`.',
    ),
  functions: z
    .array(object)
    .nullish()
    .describe("Deprecated form of `tools`. The response then has `function_call`."),
  function_call: z
    .union([z.string(), object])
    .nullish()
    .describe('Deprecated form of `tool_choice`: `none`, `auto` or `{"name": "…"}`.'),
  response_format: z
    .looseObject({ type: z.string() })
    .nullish()
    .describe(
      "Format of the output: `text`, `json_object`, or `json_schema` with `json_schema {name, schema, strict}`.",
    ),
  n: z.int().min(1).nullish().describe("Number of choices to generate. Default: 1."),
  user: z.string().nullish().describe("Your identifier of the end user, for the provider's abuse detection."),
  safety_identifier: z
    .string()
    .nullish()
    .describe("Your identifier of the end user. OpenAI's newer name of `user`."),
  prompt_cache_key: z
    .string()
    .nullish()
    .describe("Identifies requests that share a prefix, for the provider's prompt cache."),
  seed: z.number().nullish().describe("Seed for reproducible sampling, where the provider supports it."),
  ...GATEWAY_FIELDS,
});

const finishReason = z
  .string()
  .describe(
    "Why generation ended: `stop`, `length`, `tool_calls` or `content_filter`; `function_call` for a request with `functions`.",
  );
const completion = {
  id: z.string().describe("Id of the generation, `gen_…`."),
  created: z.int().describe("Creation time in Unix seconds."),
  model: z.string().describe("Id of the model that answered."),
  gateway_metadata: GatewayMetadata.optional(),
};

export const ChatCompletion = namedBody("ChatCompletion", {
  object: z.literal("chat.completion"),
  ...completion,
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        tool_calls: z.array(ToolCall).optional(),
        reasoning: z.string().nullish().describe("The model's reasoning, where the provider returns it."),
      }),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: Usage,
});

/** The data of one server-sent event. */
export const ChatChunk = namedBody("ChatCompletionChunk", {
  object: z.literal("chat.completion.chunk"),
  ...completion,
  choices: z.array(
    z.looseObject({
      index: z.int(),
      delta: z.looseObject({
        role: z.literal("assistant").optional(),
        content: z.string().nullish(),
        tool_calls: z.array(object).optional(),
        reasoning: z.string().nullish(),
      }),
      finish_reason: finishReason.nullish(),
    }),
  ),
  usage: Usage.nullish().describe("Token usage and cost. Only in the last chunk."),
});

export const ResponsesRequest = namedBody("ResponsesRequest", {
  model: describeModelId(EXAMPLE_MODEL),
  input: z.union([z.string(), z.array(object).max(BOUNDS.messages)]).meta({
    description: "A text, or a list of items: messages, tool calls and tool results.",
    examples: ["Hello!"],
  }),
  instructions: z.string().nullish().describe("System prompt."),
  ...STREAM,
  max_output_tokens: maxTokens.describe("Maximum number of tokens to generate, including reasoning."),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_logprobs: z.number().min(0).max(20).nullish(),
  tools: z.array(object).max(BOUNDS.tools).nullish(),
  tool_choice: z.union([z.string(), object]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: object.nullish().describe('Reasoning parameters, such as `{"effort": "low"}`.'),
  text: object
    .nullish()
    .describe("Text output parameters; `format` is the format of the text, such as a JSON schema."),
  include: z.array(z.string()).nullish(),
  metadata: object.nullish(),
  user: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  store: z
    .boolean()
    .nullish()
    .describe(
      "Whether the response is kept, so that it can be read and continued. Default: `responses.store` of the configuration.",
    ),
  previous_response_id: z
    .string()
    .nullish()
    .describe("Id of a kept response to continue. `input` then has only new items."),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string() })])
    .nullish()
    .describe("Id of a conversation to continue. The response is added to it."),
  background: z
    .boolean()
    .nullish()
    .describe("Whether the response is made without the client waiting for it. It is read by its id."),
  ...GATEWAY_FIELDS,
});

export const ResponsesResponse = namedBody("Response", {
  id: z.string(),
  object: z.literal("response"),
  created_at: z.number().describe("Creation time in Unix seconds."),
  status: z
    .string()
    .describe(
      "Status of the response: `completed`, `incomplete`, `failed`; of background responses also `in_progress` and `cancelled`.",
    ),
  model: z.string(),
  output: z.array(object).describe("Output items: messages, reasoning and tool calls."),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullish(),
  gateway_metadata: GatewayMetadata.optional(),
});

export const CompactRequest = namedBody("CompactRequest", {
  model: describeModelId(EXAMPLE_MODEL),
  input: z
    .union([z.string(), z.array(object).max(BOUNDS.messages)])
    .nullish()
    .meta({ description: "The conversation to compact.", examples: ["Hello!"] }),
  instructions: z.string().nullish().describe("System prompt."),
  previous_response_id: z
    .string()
    .nullish()
    .describe("Id of a kept response, whose conversation is compacted."),
  prompt_cache_key: z.string().nullish(),
  ...GATEWAY_FIELDS,
});

export const CompactResponse = namedBody("CompactedResponse", {
  id: z.string(),
  object: z.literal("response.compaction"),
  created_at: z.number().describe("Creation time in Unix seconds."),
  output: z
    .array(object)
    .describe(
      "The items to continue with, in place of those that were sent: a `compaction` item among them.",
    ),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
});

/** The fields that MessagesRequest and CountTokensRequest share. */
const conversation = {
  model: describeModelId(EXAMPLE_MODEL),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(["user", "assistant", "system"]),
        content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
      }),
    )
    .min(1)
    .max(BOUNDS.messages)
    .meta({ examples: [HELLO] }),
  system: z
    .union([z.string(), z.array(object)])
    .nullish()
    .describe("System prompt."),
  tools: z.array(object).nullish(),
  tool_choice: object.nullish(),
  thinking: object.nullish().describe('Extended thinking parameters, such as `{"type": "adaptive"}`.'),
  provider: GATEWAY_FIELDS.provider,
};

export const MessagesRequest = namedBody("MessagesRequest", {
  ...conversation,
  max_tokens: maxTokens.describe(
    "Maximum number of tokens to generate. Optional, unlike in Anthropic's API.",
  ),
  ...STREAM,
  temperature: z.number().min(0).max(1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  ...GATEWAY_FIELDS,
});

export const MessagesResponse = namedBody("MessagesResponse", {
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: z.string(),
  content: z
    .array(z.looseObject({ type: z.string() }))
    .describe("Content blocks: text, thinking and tool use."),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullish(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
  gateway_metadata: GatewayMetadata.optional(),
});

export const CountRequest = z.looseObject(conversation).meta({ id: "CountTokensRequest" });
export const CountResponse = z
  .object({
    input_tokens: z
      .int()
      .min(0)
      .describe(
        "Number of input tokens: counted by the vendor if it offers the Messages API, otherwise estimated.",
      ),
    estimated: z.literal(true).optional().describe("`true` if the number is an estimate by the gateway."),
  })
  .meta({ id: "CountTokensResponse" });

const tokenIds = z.array(z.int().min(0));

export const CompletionRequest = namedBody("CompletionRequest", {
  model: describeModelId(EXAMPLE_MODEL),
  prompt: z
    .union([z.string(), z.array(z.string()).max(BOUNDS.completionChoices), tokenIds, z.array(tokenIds)])
    .meta({
      description:
        "A text to continue, a list of token ids, or a list of either. Providers without a text completions endpoint get one text, as a user message.",
      examples: ["Once upon a time"],
    }),
  suffix: z.string().nullish().describe("The text after the completion."),
  echo: z.boolean().nullish().describe("Repeat the prompt before the completion."),
  logprobs: z
    .union([z.int().min(0), z.boolean()])
    .nullish()
    .describe("Number of alternatives per token whose log probabilities are returned."),
  best_of: z
    .int()
    .min(1)
    .max(BOUNDS.answers)
    .nullish()
    .describe(
      "Number of completions that the provider generates for each prompt. It returns the best `n` of them.",
    ),
  n: z
    .int()
    .min(1)
    .max(BOUNDS.answers)
    .nullish()
    .describe("Number of completions of each prompt. Default: 1."),
  max_tokens: z
    .int()
    .min(0)
    .nullish()
    .describe("Maximum number of tokens to generate. The default is the provider's, 16 at OpenAI."),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  seed: z.number().nullish(),
  user: z.string().nullish(),
  ...STREAM,
  stream_options: object
    .nullish()
    .describe("`include_usage: true` sends the usage in a separate last chunk, as OpenAI does."),
  ...GATEWAY_FIELDS,
});

const textChoice = z.looseObject({
  text: z.string(),
  index: z.int(),
  logprobs: object.nullable().describe("As the provider returned them."),
  reasoning: z.string().optional().describe("Reasoning of a model that answered in a chat."),
  finish_reason: finishReason.nullable(),
});

export const CompletionResponse = namedBody("CompletionResponse", {
  object: z.literal("text_completion"),
  ...completion,
  choices: z.array(textChoice),
  usage: Usage,
});

export const CompletionChunk = namedBody("CompletionChunk", {
  object: z.literal("text_completion"),
  ...completion,
  choices: z.array(textChoice),
  usage: Usage.nullish().describe("Token usage and cost. Only in the last chunk."),
});

export const FimRequest = namedBody("FimRequest", {
  model: describeModelId("mistralai/sandbox-fim").describe("Model id that begins with `mistralai/`."),
  prompt: z.string().meta({ description: "The code before the cursor.", examples: ["def add(a, b):\n    "] }),
  suffix: z.string().nullish().describe("The code after the cursor."),
  max_tokens: maxTokens.describe(
    "Maximum number of tokens to generate. A value above 1000 is lowered to 1000, which the x-gateway-warning header reports. Default: 1000.",
  ),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  ...STREAM,
  ...GATEWAY_FIELDS,
});

export const EmbeddingsRequest = namedBody("EmbeddingsRequest", {
  model: describeModelId("sandbox/embed:free"),
  input: z
    .union([z.string(), z.array(z.string()).max(BOUNDS.embeddingInputs), tokenIds, z.array(tokenIds)])
    .meta({
      description: `A text, a list of token ids, or a list of up to ${BOUNDS.embeddingInputs} of either. None may be empty.`,
      examples: ["Hello!"],
    }),
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe("Number of dimensions of each vector, where the model supports it."),
  encoding_format: z
    .enum(["float", "base64"])
    .nullish()
    .describe(
      "Encoding of the vectors: arrays of numbers (`float`), or base64 of little-endian 32-bit floats (`base64`). Default: `float`.",
    ),
  input_type: z
    .string()
    .nullish()
    .describe("Purpose of the vectors, as in Cohere's API, such as `search_query`."),
  user: z.string().nullish(),
  ...GATEWAY_FIELDS,
});

export const EmbeddingsResponse = namedBody("EmbeddingsResponse", {
  object: z.literal("list"),
  data: z.array(
    z.looseObject({
      object: z.literal("embedding"),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage: Usage,
});
