import { z } from "zod";

/**
 * What client libraries validate of whole answers, in a compact form. Only required fields and closed lists are here; further fields are
 * allowed, as these libraries allow them.
 */

const count = z.int().min(0);
const text = z.string();
const tier = z.enum(["auto", "default", "flex", "scale", "priority"]).nullable();

/**
 * Chat completions: openai-node 6.49.0 (`ChatCompletion`, November 2026), and `system_fingerprint` of @openrouter/sdk 1.3.19
 * (`ChatResult`, November 2026).
 */
const chatCall = z.discriminatedUnion("type", [
  z.object({ type: z.literal("function"), id: text, function: z.object({ name: text, arguments: text }) }),
  z.object({ type: z.literal("custom"), id: text, custom: z.object({ name: text, input: text }) }),
]);
const chat = z.object({
  id: text,
  object: z.literal("chat.completion"),
  created: z.int(),
  model: text,
  system_fingerprint: text.nullable(),
  service_tier: tier.optional(),
  choices: z.array(
    z.object({
      index: count,
      finish_reason: z.enum(["stop", "length", "tool_calls", "content_filter", "function_call"]),
      message: z.object({
        role: z.literal("assistant"),
        content: text.nullable(),
        tool_calls: z.array(chatCall).min(1).optional(),
        annotations: z.array(z.object({ type: z.literal("url_citation") })).optional(),
      }),
    }),
  ),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
});

/** Messages: @anthropic-ai/sdk 1.12.0 (`Message`, November 2026), with the stop reason `compaction` of its beta. */
const messages = z.object({
  id: text,
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: text,
  content: z.array(
    z.union([
      z.object({ type: z.literal("text"), text }),
      z.object({ type: z.literal("thinking"), thinking: text, signature: text }),
      z.object({ type: z.literal("redacted_thinking"), data: text }),
      z.object({ type: z.literal("tool_use"), id: text, name: text, input: z.record(text, z.unknown()) }),
      z.object({ type: z.string().regex(/^(?!(?:text|thinking|redacted_thinking|tool_use)$)/) }),
    ]),
  ),
  stop_reason: z
    .enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"])
    .or(z.enum(["model_context_window_exceeded", "compaction"])),
  stop_sequence: text.nullable(),
  usage: z.object({
    input_tokens: count,
    output_tokens: count,
    service_tier: z.enum(["standard", "priority", "batch"]).nullish(),
  }),
});

/** Responses: github.com/openresponses/openresponses, `ResponseResource` and `FunctionTool`, commit 1e33c10 (2026). */
const state = z.enum(["in_progress", "completed", "incomplete"]);
const part = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("output_text"),
    text,
    annotations: z.array(z.unknown()),
    logprobs: z.array(z.unknown()),
  }),
  z.object({ type: z.literal("refusal"), refusal: text }),
]);
const item = z.union([
  z.object({
    type: z.literal("message"),
    id: text,
    status: state,
    role: z.literal("assistant"),
    content: z.array(part),
  }),
  z.object({ type: z.literal("reasoning"), id: text, summary: z.array(z.object({ type: text, text })) }),
  z.object({
    type: z.literal("function_call"),
    id: text,
    call_id: text,
    name: text,
    arguments: text,
    status: state,
  }),
  z.object({ type: z.string().regex(/^(?!(?:message|reasoning|function_call)$)/) }),
]);
const tool = z.union([
  z.object({
    type: z.literal("function"),
    name: text,
    description: text.nullable(),
    parameters: z.record(text, z.unknown()).nullable(),
    strict: z.boolean().nullable(),
  }),
  z.object({ type: z.string().regex(/^(?!function$)/) }),
]);
const responses = z.object({
  id: text,
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(["completed", "incomplete"]),
  incomplete_details: z.object({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
  model: text,
  previous_response_id: text.nullable(),
  instructions: text.nullable(),
  output: z.array(item),
  error: z.null(),
  tools: z.array(tool),
  tool_choice: z.union([text, z.object({ type: text })]),
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.object({ format: z.object({ type: text }) }),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  reasoning: z.object({}).nullable(),
  user: text.nullable(),
  usage: z.object({
    input_tokens: count,
    input_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
    output_tokens_details: z.object({ reasoning_tokens: count }),
    total_tokens: count,
  }),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: tier.unwrap(),
  metadata: z.record(text, z.unknown()),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
});

/** The schema of whole answers of each client API. */
export const PUBLISHED_SCHEMAS = { chat, messages, responses } as const;
