import { z } from "zod";
import { PUBLISHED_SCHEMAS } from "../vendors/published-schemas.ts";

/**
 * What client libraries validate of the events of streams, in a compact form: the required fields and closed lists of openai-python 3.57.0
 * and anthropic-python 2.14.0 (November 2026), whose clients check them with `_strict_response_validation`. Further fields are allowed.
 */

const count = z.int().min(0);
const text = z.string();

const chunk = z.object({
  id: text,
  object: z.literal("chat.completion.chunk"),
  created: z.int(),
  model: text,
  service_tier: PUBLISHED_SCHEMAS.chat.shape.service_tier,
  choices: z.array(
    z.object({
      index: count,
      finish_reason: PUBLISHED_SCHEMAS.chat.shape.choices.element.shape.finish_reason.nullable(),
      delta: z.object({
        role: z.literal("assistant").optional(),
        content: text.nullish(),
        refusal: text.nullish(),
        tool_calls: z
          .array(
            z.object({
              index: count,
              id: text.optional(),
              type: z.enum(["function", "custom"]).optional(),
              function: z.object({ name: text.optional(), arguments: text.optional() }).optional(),
            }),
          )
          .optional(),
      }),
    }),
  ),
  usage: PUBLISHED_SCHEMAS.chat.shape.usage.nullish(),
});

const messageUsage = PUBLISHED_SCHEMAS.messages.shape.usage;
const blockDelta = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text_delta"), text }),
  z.object({ type: z.literal("input_json_delta"), partial_json: text }),
  z.object({ type: z.literal("thinking_delta"), thinking: text }),
  z.object({ type: z.literal("signature_delta"), signature: text }),
  z.object({ type: z.literal("citations_delta"), citation: z.object({ type: text }) }),
]);
const messageEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message_start"),
    message: PUBLISHED_SCHEMAS.messages.extend({ stop_reason: z.null(), usage: messageUsage }),
  }),
  z.object({
    type: z.literal("content_block_start"),
    index: count,
    content_block: PUBLISHED_SCHEMAS.messages.shape.content.element,
  }),
  z.object({ type: z.literal("content_block_delta"), index: count, delta: blockDelta }),
  z.object({ type: z.literal("content_block_stop"), index: count }),
  z.object({
    type: z.literal("message_delta"),
    delta: z.object({
      stop_reason: PUBLISHED_SCHEMAS.messages.shape.stop_reason.nullable(),
      stop_sequence: text.nullable(),
    }),
    usage: z.object({ output_tokens: count }),
  }),
  z.object({ type: z.literal("message_stop") }),
  z.object({ type: z.literal("ping") }),
]);

const place = { sequence_number: count, item_id: text, output_index: count };
const inContent = { ...place, content_index: count };
const inSummary = { ...place, summary_index: count };
const part = z.object({ type: text });
const item = z.object({ sequence_number: count, output_index: count, item: z.object({ type: text }) });
const withResponse = z.object({
  sequence_number: count,
  response: z.object({ id: text, output: z.array(part) }),
});
const logprobs = z.array(z.object({ token: text, logprob: z.number() }));

/** The fields of each event of the Responses API that the gateway writes. */
const RESPONSE_EVENTS: Readonly<Record<string, z.ZodType>> = {
  "response.created": withResponse,
  "response.in_progress": withResponse,
  "response.completed": withResponse,
  "response.incomplete": withResponse,
  "response.output_item.added": item,
  "response.output_item.done": item,
  "response.content_part.added": z.object({ ...inContent, part }),
  "response.content_part.done": z.object({ ...inContent, part }),
  "response.output_text.delta": z.object({ ...inContent, delta: text, logprobs }),
  "response.output_text.done": z.object({ ...inContent, text, logprobs }),
  "response.output_text.annotation.added": z.object({ ...inContent, annotation_index: count }),
  "response.refusal.delta": z.object({ ...inContent, delta: text }),
  "response.refusal.done": z.object({ ...inContent, refusal: text }),
  "response.reasoning_text.delta": z.object({ ...inContent, delta: text }),
  "response.reasoning_text.done": z.object({ ...inContent, text }),
  "response.reasoning_summary_part.added": z.object({ ...inSummary, part }),
  "response.reasoning_summary_part.done": z.object({ ...inSummary, part }),
  "response.reasoning_summary_text.delta": z.object({ ...inSummary, delta: text }),
  "response.reasoning_summary_text.done": z.object({ ...inSummary, text }),
  "response.function_call_arguments.delta": z.object({ ...place, delta: text }),
  "response.function_call_arguments.done": z.object({ ...place, arguments: text }),
  "response.custom_tool_call_input.delta": z.object({ ...place, delta: text }),
  "response.custom_tool_call_input.done": z.object({ ...place, input: text }),
};
const otherEvent = z.object({ type: text, sequence_number: count });

/** Returns the schema of an event of a client API, by its type. */
export function eventSchemaOf(client: keyof typeof PUBLISHED_SCHEMAS, type: unknown): z.ZodType {
  if (client === "chat") return chunk;
  if (client === "messages") return messageEvent;
  return RESPONSE_EVENTS[String(type)] ?? otherEvent;
}
