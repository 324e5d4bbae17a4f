import type { Client } from "../../fidelity/formats.ts";
import type { Fields } from "../sites/profile-site.ts";

/** The values of one parameter, or of some that belong together: parts of a body. The empty part leaves it away. */
export interface Axis {
  readonly name: string;
  readonly values: readonly Fields[];
}

const ABSENT: Fields = {};
const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const PICTURE = `data:image/png;base64,${"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}`;
const STRICT = {
  type: "object",
  properties: { answer: { type: "string" } },
  required: ["answer"],
  additionalProperties: false,
};

/** An axis of one parameter. */
function axis(name: string, ...values: readonly unknown[]): Axis {
  return { name, values: [ABSENT, ...values.map((value) => ({ [name]: value }))] };
}

/** An axis of several parameters. */
function joined(name: string, ...values: readonly Fields[]): Axis {
  return { name, values: [ABSENT, ...values] };
}

const CHAT_TOOL = {
  type: "function",
  function: { name: "look_up", description: "Looks.", parameters: PARAMETERS },
};
const STRICT_CHAT_TOOL = {
  type: "function",
  function: { name: "answer_it", parameters: STRICT, strict: true },
};
const CHAT_CALL = {
  id: "call_abc123XYZ",
  type: "function",
  function: { name: "look_up", arguments: '{"city":"Oslo"}' },
};
const CHAT_RESULT = { role: "tool", tool_call_id: "call_abc123XYZ", content: "Rain 17" };
const ask = (text: string) => ({ role: "user", content: text });

/** Parameters that OpenAI's chat and Responses APIs have by the same names. */
const OF_OPENAI: readonly Axis[] = [
  axis("temperature", 0.37, 0, 1.9, 1),
  axis("top_p", 0.83, 0.01, 1),
  axis("metadata", { key7: "value7" }),
  axis("store", false),
  axis("service_tier", "auto", "default", "flex", "priority"),
  axis("user", "user-17"),
  axis("safety_identifier", "person-19"),
  axis("prompt_cache_key", "cache-23"),
  axis("prompt_cache_retention", "24h", "in_memory"),
  axis("prompt_cache_options", { ttl: "30m" }),
];

const CHAT: readonly Axis[] = [
  ...OF_OPENAI,
  joined("max_tokens", { max_tokens: 77 }, { max_tokens: 4096 }, { max_completion_tokens: 78 }),
  axis("stop", "END7", ["one7", "two7"]),
  axis("n", 1),
  axis("seed", 41),
  axis("presence_penalty", 0.31, 0, -1.5),
  axis("frequency_penalty", 0.29, 0, 1.7),
  axis("logit_bias", { "1734": 3 }),
  joined("logprobs", { logprobs: false }, { logprobs: true }, { logprobs: true, top_logprobs: 3 }),
  axis("reasoning_effort", "none", "minimal", "low", "medium", "high", "xhigh", "max"),
  axis("verbosity", "low", "high"),
  axis("prediction", { type: "content", content: "predicted7" }),
  axis("modalities", ["text"]),
  axis("top_k", 40),
  axis("min_p", 0.05),
  axis("top_a", 0.2),
  axis("repetition_penalty", 1.1),
  axis(
    "response_format",
    { type: "text" },
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "verdict7", schema: STRICT, strict: true } },
  ),
  joined(
    "tools",
    { tools: [CHAT_TOOL] },
    { tools: [CHAT_TOOL, STRICT_CHAT_TOOL], tool_choice: "auto", parallel_tool_calls: true },
    { tools: [CHAT_TOOL], tool_choice: "none" },
    { tools: [CHAT_TOOL], tool_choice: "required", parallel_tool_calls: false },
    { tools: [CHAT_TOOL], tool_choice: { type: "function", function: { name: "look_up" } } },
  ),
  {
    name: "messages",
    values: [
      { messages: [ask("Question 1")] },
      { messages: [{ role: "system", content: "Be brief, 2." }, ask("Question 2")] },
      {
        messages: [
          { role: "developer", content: "Be brief, 3." },
          { ...ask("Question 3"), name: "ada" },
        ],
      },
      {
        messages: [
          ask("First 4"),
          { role: "assistant", content: "Answer 4", reasoning: "Thought 4" },
          ask("Next 4"),
        ],
      },
      {
        messages: [
          ask("First 5"),
          { role: "assistant", content: "Answer 5", reasoning_content: "Thought 5" },
          ask("Next 5"),
        ],
      },
      {
        messages: [
          ask("First 6"),
          { role: "assistant", content: null, tool_calls: [CHAT_CALL] },
          CHAT_RESULT,
        ],
        tools: [CHAT_TOOL],
      },
      {
        messages: [
          ask("First 7"),
          { role: "assistant", content: "", tool_calls: [CHAT_CALL], refusal: null, annotations: [] },
          CHAT_RESULT,
          ask("Next 7"),
        ],
        tools: [CHAT_TOOL],
      },
      {
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "Marked 8", cache_control: { type: "ephemeral" } }],
          },
        ],
      },
      {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is it? 9" },
              { type: "image_url", image_url: { url: PICTURE, detail: "low" } },
            ],
          },
        ],
      },
    ],
  },
];

const RESPONSES_TOOL = {
  type: "function",
  name: "look_up",
  description: "Looks.",
  parameters: PARAMETERS,
  strict: false,
};
const say = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const CALL_ITEM = {
  type: "function_call",
  call_id: "call_abc123XYZ",
  name: "look_up",
  arguments: '{"city":"Oslo"}',
};
const RESULT_ITEM = { type: "function_call_output", call_id: "call_abc123XYZ", output: "Rain 17" };
const answerItem = (text: string) => ({
  type: "message",
  id: "msg_7",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});

const RESPONSES: readonly Axis[] = [
  ...OF_OPENAI,
  axis("max_output_tokens", 77, 1, 4096),
  axis("top_logprobs", 3),
  axis("include", ["reasoning.encrypted_content"], ["message.output_text.logprobs"]),
  axis("instructions", "Be brief, 7."),
  axis("truncation", "disabled", "auto"),
  axis("background", false),
  axis("max_tool_calls", 5),
  joined(
    "text",
    { text: { format: { type: "text" } } },
    { text: { verbosity: "low" } },
    { text: { format: { type: "json_object" } } },
    { text: { format: { type: "json_schema", name: "verdict7", schema: STRICT, strict: true } } },
  ),
  axis(
    "reasoning",
    { effort: "none" },
    { effort: "minimal" },
    { effort: "low", summary: "auto" },
    { effort: "high" },
    { effort: "xhigh" },
    { effort: "max" },
    { summary: "detailed" },
  ),
  joined(
    "tools",
    { tools: [RESPONSES_TOOL] },
    { tools: [RESPONSES_TOOL], tool_choice: "auto", parallel_tool_calls: true },
    { tools: [RESPONSES_TOOL], tool_choice: "required", parallel_tool_calls: false },
    { tools: [RESPONSES_TOOL], tool_choice: { type: "function", name: "look_up" } },
    { tools: [{ type: "custom", name: "patch_it", description: "Patches." }] },
  ),
  {
    name: "input",
    values: [
      { input: "Question 1" },
      { input: [{ role: "developer", content: "Be brief, 2." }, say("Question 2")] },
      { input: [say("First 3"), answerItem("Answer 3"), say("Next 3")] },
      { input: [say("First 4"), CALL_ITEM, RESULT_ITEM], tools: [RESPONSES_TOOL] },
      {
        input: [
          say("First 5"),
          {
            type: "reasoning",
            id: "rs_7",
            summary: [{ type: "summary_text", text: "Thought 5" }],
            encrypted_content: null,
          },
          answerItem("Answer 5"),
          say("Next 5"),
        ],
      },
      {
        input: [
          {
            type: "message",
            role: "user",
            content: [
              { type: "input_text", text: "What is it? 6" },
              { type: "input_image", image_url: PICTURE, detail: "low" },
            ],
          },
        ],
      },
    ],
  },
];

const MESSAGES_TOOL = { name: "look_up", description: "Looks.", input_schema: PARAMETERS };
const THOUGHT = { type: "thinking", thinking: "Thought 4", signature: "c2lnbmF0dXJl" };
const USE = { type: "tool_use", id: "toolu_abc123XYZ", name: "look_up", input: { city: "Oslo" } };
const RESULT = { type: "tool_result", tool_use_id: "toolu_abc123XYZ", content: "Rain 17" };
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

const MESSAGES: readonly Axis[] = [
  axis("max_tokens", 77, 9000),
  axis("temperature", 0.37, 0, 1),
  axis("top_p", 0.83, 1),
  axis("top_k", 40),
  axis("stop_sequences", ["one7"], ["one7", "two7"]),
  axis("metadata", { user_id: "user-17" }),
  axis("service_tier", "auto", "standard_only"),
  axis("thinking", { type: "enabled", budget_tokens: 2000 }, { type: "adaptive" }, { type: "disabled" }),
  joined(
    "output_config",
    { output_config: { effort: "low" } },
    { output_config: { effort: "max" } },
    { output_config: { format: { type: "json_schema", schema: STRICT } } },
  ),
  joined(
    "system",
    { system: "Be brief, 7." },
    { system: [{ type: "text", text: "Be brief, 8.", ...EPHEMERAL }] },
  ),
  joined(
    "tools",
    { tools: [MESSAGES_TOOL] },
    { tools: [{ ...MESSAGES_TOOL, ...EPHEMERAL }], tool_choice: { type: "auto" } },
    { tools: [MESSAGES_TOOL], tool_choice: { type: "any", disable_parallel_tool_use: true } },
    { tools: [MESSAGES_TOOL], tool_choice: { type: "tool", name: "look_up" } },
    { tools: [MESSAGES_TOOL], tool_choice: { type: "none" } },
  ),
  {
    name: "messages",
    values: [
      { messages: [ask("Question 1")] },
      { messages: [{ role: "user", content: [{ type: "text", text: "Marked 2", ...EPHEMERAL }] }] },
      {
        messages: [
          ask("First 3"),
          { role: "assistant", content: [{ type: "text", text: "Answer 3" }] },
          ask("Next 3"),
        ],
      },
      {
        messages: [
          ask("First 4"),
          { role: "assistant", content: [THOUGHT, USE] },
          { role: "user", content: [RESULT] },
        ],
        tools: [MESSAGES_TOOL],
      },
      {
        messages: [
          ask("First 5"),
          { role: "assistant", content: [USE] },
          {
            role: "user",
            content: [
              { ...RESULT, is_error: true },
              { type: "text", text: "Next 5" },
            ],
          },
        ],
        tools: [MESSAGES_TOOL],
      },
      {
        messages: [
          {
            role: "user",
            content: [
              {
                type: "image",
                source: {
                  type: "base64",
                  media_type: "image/png",
                  data: PICTURE.slice(PICTURE.indexOf(",") + 1),
                },
              },
              { type: "text", text: "What is it? 6" },
            ],
          },
        ],
      },
    ],
  },
];

/** The parameters of each client API, with usual values and those at the ends of their ranges. */
export const AXES: Readonly<Record<Client, readonly Axis[]>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
};

/** What every body of an API has unless a part says otherwise. */
export const BASES: Readonly<Record<Client, Fields>> = {
  chat: {},
  responses: {},
  messages: { max_tokens: 50 },
};
