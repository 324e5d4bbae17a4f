import { z } from "zod";
import { BOUNDS } from "../../base/bounds.ts";
import { describeModelId, GATEWAY_FIELDS, GatewayMetadata, STREAM, Usage } from "./inference-fields.ts";

export const EXAMPLE_MODEL = "sandbox/echo:free";
export const HELLO = [{ role: "user", content: "Hello!" }];
const object = z.looseObject({});
const maxTokens = z.int().min(1).nullish();

const ToolCall = z
  .looseObject({
    id: z.string(),
    type: z.literal("function"),
    function: z.looseObject({
      name: z.string(),
      arguments: z.string().describe("JSON-encoded; `{}` for none"),
    }),
  })
  .meta({ id: "ToolCall" });

const ContentPart = z
  .union([
    z.looseObject({ type: z.literal("text"), text: z.string() }),
    z.looseObject({
      type: z.literal("image_url"),
      image_url: z.looseObject({ url: z.string(), detail: z.string().nullish() }),
    }),
    z.looseObject({ type: z.string() }),
  ])
  .meta({ id: "ContentPart", description: "Text, an image, or a part that the gateway passes on" });

const Message = z
  .looseObject({
    role: z
      .enum(["system", "developer", "user", "assistant", "tool", "function"])
      .describe("`function` is the older form of `tool`: it names the function in `name`"),
    content: z
      .union([z.string(), z.array(ContentPart)])
      .nullish()
      .describe("Null or left out for an assistant that calls tools"),
    tool_calls: z.array(ToolCall).nullish().describe("Of an assistant: the tools that it called"),
    tool_call_id: z
      .string()
      .nullish()
      .describe("Of a tool: the call that this is the result of. Optional where only one call has no result"),
    function_call: object.nullish().describe("Of an assistant: the older form of one tool call"),
  })
  .meta({ id: "Message" });

const Tool = z
  .looseObject({
    type: z.string().nullish().describe("`function`, also when left out, or `custom`"),
    function: z
      .looseObject({
        name: z.string().min(1),
        description: z.string().nullish(),
        parameters: object.nullish().describe("A JSON Schema; an empty object schema when left out"),
      })
      .optional(),
  })
  .meta({ id: "Tool" });

export const ChatRequest = z
  .looseObject({
    model: describeModelId(EXAMPLE_MODEL),
    messages: z
      .array(Message)
      .min(1)
      .max(BOUNDS.messages)
      .meta({ examples: [HELLO] }),
    ...STREAM,
    stream_options: object
      .nullish()
      .describe("`include_usage: true`: usage in a last chunk of its own, as OpenAI sends it"),
    max_tokens: maxTokens.describe("The most tokens to answer with"),
    max_completion_tokens: maxTokens.describe("The same, in OpenAI's newer word"),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    stop: z
      .union([z.string(), z.array(z.string())])
      .nullish()
      .describe("Sequences at which the answer ends"),
    frequency_penalty: z.number().min(-2).max(2).nullish(),
    presence_penalty: z.number().min(-2).max(2).nullish(),
    tools: z.array(Tool).max(BOUNDS.tools).nullish(),
    tool_choice: z
      .union([z.enum(["none", "auto", "required", "any"]), z.looseObject({ type: z.string().nullish() })])
      .nullish()
      .describe('A word, or `{"type": "function", "function": {"name": "…"}}`. `any` means `required`'),
    functions: z
      .array(object)
      .nullish()
      .describe("The older form of `tools`; the answer has `function_call` then"),
    function_call: z
      .union([z.string(), object])
      .nullish()
      .describe('The older form of `tool_choice`: `none`, `auto` or `{"name": "…"}`'),
    response_format: z
      .looseObject({ type: z.string() })
      .nullish()
      .describe("`text`, `json_object`, or `json_schema` with `json_schema {name, schema, strict}`"),
    n: z.int().min(1).nullish().describe("How many answers. Default: 1"),
    user: z.string().nullish().describe("Your name for the end user, for the provider's safety checks"),
    safety_identifier: z.string().nullish().describe("The same, in OpenAI's newer word"),
    prompt_cache_key: z.string().nullish().describe("Which requests have a beginning in common"),
    seed: z.number().nullish().describe("For answers that repeat, where the provider can"),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "ChatCompletionRequest" });

const finishReason = z
  .string()
  .describe(
    "`stop`, `length`, `tool_calls` or `content_filter`; `function_call` for a request with `functions`",
  );
const completion = {
  id: z.string().describe("The generation's id"),
  created: z.int().describe("Unix seconds"),
  model: z.string().describe("The model that answered"),
  gateway_metadata: GatewayMetadata.optional(),
};

export const ChatCompletion = z
  .looseObject({
    object: z.literal("chat.completion"),
    ...completion,
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({
          role: z.literal("assistant"),
          content: z.string().nullable(),
          tool_calls: z.array(ToolCall).optional(),
          reasoning: z.string().nullish().describe("What the model thought, where it says so"),
        }),
        finish_reason: finishReason.nullable(),
      }),
    ),
    usage: Usage,
  })
  .meta({ id: "ChatCompletion" });

/** The data of one event of a stream. */
export const ChatChunk = z
  .looseObject({
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
    usage: Usage.nullish().describe("In the last chunk alone"),
  })
  .meta({ id: "ChatCompletionChunk" });

export const ResponsesRequest = z
  .looseObject({
    model: describeModelId(EXAMPLE_MODEL),
    input: z.union([z.string(), z.array(object).max(BOUNDS.messages)]).meta({
      description: "A text, or messages, tool calls and their results as items",
      examples: ["Hello!"],
    }),
    instructions: z.string().nullish().describe("The system's text"),
    ...STREAM,
    max_output_tokens: maxTokens.describe("The most tokens to answer with, reasoning among them"),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_logprobs: z.number().min(0).max(20).nullish(),
    tools: z.array(object).max(BOUNDS.tools).nullish(),
    tool_choice: z.union([z.string(), object]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    reasoning: object.nullish().describe('How much to think, such as `{"effort": "low"}`'),
    text: object.nullish().describe("`format` of the text, such as a JSON schema"),
    include: z.array(z.string()).nullish(),
    metadata: object.nullish(),
    user: z.string().nullish(),
    prompt_cache_key: z.string().nullish(),
    store: z.literal(false).nullish().describe("true is refused: nothing is stored"),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "ResponsesRequest" });

export const ResponsesAnswer = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.number().describe("Unix seconds"),
    status: z.string().describe("`completed`, `incomplete` or `failed`"),
    model: z.string(),
    output: z.array(object).describe("Messages, reasoning and tool calls"),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }).nullish(),
    gateway_metadata: GatewayMetadata.optional(),
  })
  .meta({ id: "Response" });

/** What asking and counting have in common. */
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
    .describe("The system's text"),
  tools: z.array(object).nullish(),
  tool_choice: object.nullish(),
  thinking: object.nullish().describe('Whether to think, such as `{"type": "adaptive"}`'),
  provider: GATEWAY_FIELDS.provider,
};

export const MessagesRequest = z
  .looseObject({
    ...conversation,
    max_tokens: maxTokens.describe("The most tokens to answer with; may be left out"),
    ...STREAM,
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "MessagesRequest" });

export const MessagesAnswer = z
  .looseObject({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })).describe("Texts, thinking and tool calls"),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullish(),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
    gateway_metadata: GatewayMetadata.optional(),
  })
  .meta({ id: "MessagesResponse" });

export const CountRequest = z.looseObject(conversation).meta({ id: "CountTokensRequest" });
export const CountAnswer = z
  .object({
    input_tokens: z.int().min(0).describe("Counted by the vendor where it speaks Messages, else estimated"),
    estimated: z.literal(true).optional().describe("No vendor has counted them"),
  })
  .meta({ id: "CountTokensResponse" });

export const FimRequest = z
  .looseObject({
    model: describeModelId("mistralai/sandbox-fim").describe("Begins with `mistralai/`"),
    prompt: z
      .string()
      .meta({ description: "The code before the cursor", examples: ["def add(a, b):\n    "] }),
    suffix: z.string().nullish().describe("The code behind the cursor"),
    max_tokens: maxTokens.describe(
      "At most 1000; more is lowered, which x-gateway-warning says. Default: 1000",
    ),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    stop: z.union([z.string(), z.array(z.string())]).nullish(),
    ...STREAM,
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "FimRequest" });

const tokenIds = z.array(z.int().min(0));

export const EmbeddingsRequest = z
  .looseObject({
    model: describeModelId("sandbox/embed:free"),
    input: z
      .union([z.string(), z.array(z.string()).max(BOUNDS.embeddingInputs), tokenIds, z.array(tokenIds)])
      .meta({
        description: `A text, token ids, or up to ${BOUNDS.embeddingInputs} of either; none empty`,
        examples: ["Hello!"],
      }),
    dimensions: z
      .int()
      .min(1)
      .nullish()
      .describe("How long each vector is to be, where the model can choose"),
    encoding_format: z
      .enum(["float", "base64"])
      .nullish()
      .describe("Arrays of numbers, or base64 of 32-bit floats. Default: float"),
    input_type: z.string().nullish().describe("What the vectors are for, in Cohere's words"),
    user: z.string().nullish(),
    ...GATEWAY_FIELDS,
  })
  .meta({ id: "EmbeddingsRequest" });

export const EmbeddingsAnswer = z
  .looseObject({
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
  })
  .meta({ id: "EmbeddingsResponse" });
