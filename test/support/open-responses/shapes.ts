import { z } from "zod";

/**
 * What the Open Responses specification of 2026-04-24 (openresponses.org) requires of the objects that a server sends. Further fields are
 * allowed, as the specification allows them.
 */

const text = z.string();
const filled = z.string().min(1);
const count = z.int().min(0);
const seconds = z.int().min(1);

const logprob = z.looseObject({ token: text, logprob: z.number(), bytes: z.array(z.int()).optional() });
const citation = z.looseObject({
  type: z.literal("url_citation"),
  url: text,
  title: text,
  start_index: count,
  end_index: count,
});

const outputText = z.looseObject({
  type: z.literal("output_text"),
  text,
  annotations: z.array(citation),
  logprobs: z.array(logprob).optional(),
});
const refusal = z.looseObject({ type: z.literal("refusal"), refusal: text });
const summaryText = z.looseObject({ type: z.literal("summary_text"), text });
const reasoningText = z.looseObject({ type: z.literal("reasoning_text"), text });

const status = z.enum(["in_progress", "completed", "incomplete"]);
/** Items have an id, a type and a status. Those of the types `reasoning` and `compaction` have no status in the schema. */
const item = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("message"),
    id: filled,
    status,
    role: z.literal("assistant"),
    content: z.array(z.discriminatedUnion("type", [outputText, refusal])),
    phase: z.enum(["commentary", "final_answer"]).optional(),
  }),
  z.looseObject({
    type: z.literal("function_call"),
    id: filled,
    call_id: filled,
    name: filled,
    arguments: text,
    status,
  }),
  z.looseObject({
    type: z.literal("reasoning"),
    id: filled,
    summary: z.array(summaryText),
    content: z.array(reasoningText).optional(),
    encrypted_content: text.optional(),
  }),
  z.looseObject({ type: z.literal("compaction"), id: filled, encrypted_content: filled }),
]);

const usage = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: z.looseObject({ cached_tokens: count }),
  output_tokens_details: z.looseObject({ reasoning_tokens: count }),
});

const namedTool = z.looseObject({ type: z.literal("function"), name: filled });
const format = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text") }),
  z.looseObject({ type: z.literal("json_object") }),
  z.looseObject({
    type: z.literal("json_schema"),
    name: filled,
    description: text.nullable(),
    schema: z.record(text, z.unknown()).nullable(),
    strict: z.boolean(),
  }),
]);

/** `ResponseResource`: every field is required. */
const response = z.looseObject({
  id: filled,
  object: z.literal("response"),
  created_at: seconds,
  completed_at: seconds.nullable(),
  status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed"]),
  incomplete_details: z.looseObject({ reason: filled }).nullable(),
  model: filled,
  previous_response_id: filled.nullable(),
  instructions: text.nullable(),
  output: z.array(item),
  error: z.looseObject({ code: filled, message: filled }).nullable(),
  tools: z.array(
    z.looseObject({
      type: z.literal("function"),
      name: filled,
      description: text.nullable(),
      parameters: z.record(text, z.unknown()).nullable(),
      strict: z.boolean().nullable(),
    }),
  ),
  tool_choice: z.union([
    z.enum(["none", "auto", "required"]),
    namedTool,
    z.looseObject({
      type: z.literal("allowed_tools"),
      tools: z.array(namedTool),
      mode: z.enum(["none", "auto", "required"]),
    }),
  ]),
  truncation: z.enum(["auto", "disabled"]),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format, verbosity: z.enum(["low", "medium", "high"]).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: count,
  temperature: z.number(),
  reasoning: z
    .looseObject({
      effort: z.enum(["none", "low", "medium", "high", "xhigh"]).nullable(),
      summary: z.enum(["concise", "detailed", "auto"]).nullable(),
    })
    .nullable(),
  usage: usage.nullable(),
  max_output_tokens: count.nullable(),
  max_tool_calls: count.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: filled,
  metadata: z.record(text, z.unknown()),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
});

/** `CompactResource`. */
const compaction = z.looseObject({
  id: filled,
  object: z.literal("response.compaction"),
  output: z.array(item),
  created_at: seconds,
  usage,
});

/** The error of an HTTP response. Its `code` may be null, but not missing. */
const failure = z.looseObject({
  error: z.looseObject({
    type: filled,
    code: filled.nullable(),
    message: filled,
    param: filled.nullable(),
  }),
});

/** The error frame of a WebSocket. Its `code` is always a string. */
const errorFrame = z.looseObject({
  type: z.literal("error"),
  status: z.int().min(400).max(599),
  error: z.looseObject({
    type: filled.optional(),
    code: filled,
    message: filled,
    param: filled.nullable().optional(),
  }),
});

const numbered = { sequence_number: count };
const withResponse = { ...numbered, response };
const ofItem = { ...numbered, output_index: count };
const inItem = { ...ofItem, item_id: filled };
const inContent = { ...inItem, content_index: count };
const inSummary = { ...inItem, summary_index: count };
const part = z.discriminatedUnion("type", [outputText, refusal, reasoningText]);

/** The streaming events by type, with their fields besides `type`. */
const EVENTS = {
  "response.created": withResponse,
  "response.queued": withResponse,
  "response.in_progress": withResponse,
  "response.completed": withResponse,
  "response.incomplete": withResponse,
  "response.failed": withResponse,
  "response.output_item.added": { ...ofItem, item },
  "response.output_item.done": { ...ofItem, item },
  "response.content_part.added": { ...inContent, part },
  "response.content_part.done": { ...inContent, part },
  "response.output_text.delta": { ...inContent, delta: text, logprobs: z.array(logprob).optional() },
  "response.output_text.done": { ...inContent, text, logprobs: z.array(logprob).optional() },
  "response.output_text.annotation.added": { ...inContent, annotation_index: count, annotation: citation },
  "response.refusal.delta": { ...inContent, delta: text },
  "response.refusal.done": { ...inContent, refusal: text },
  "response.reasoning_summary_part.added": { ...inSummary, part: summaryText },
  "response.reasoning_summary_part.done": { ...inSummary, part: summaryText },
  "response.reasoning_summary_text.delta": { ...inSummary, delta: text },
  "response.reasoning_summary_text.done": { ...inSummary, text },
  "response.function_call_arguments.delta": { ...inItem, delta: text },
  "response.function_call_arguments.done": { ...inItem, arguments: text },
} as const satisfies Readonly<Record<string, z.ZodRawShape>>;

const SHAPES = { response, compaction, failure, errorFrame } as const;
const EVENT_SHAPES: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(EVENTS).map(([type, fields]) => [type, z.looseObject(fields)]),
);

/** Returns what is wrong with an object: an empty list if nothing is. */
export function findFaults(kind: keyof typeof SHAPES, value: unknown): readonly string[] {
  return describeFaults(SHAPES[kind], value, kind);
}

/** Returns what is wrong with the fields of a streaming event. */
export function findEventFaults(event: Readonly<Record<string, unknown>>): readonly string[] {
  const type = String(event["type"]);
  const shape = EVENT_SHAPES.get(type);
  return shape === undefined
    ? [`${type} is not an event of the specification`]
    : describeFaults(shape, event, type);
}

function describeFaults(shape: z.ZodType, value: unknown, name: string): readonly string[] {
  const { error } = shape.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${[name, ...path].join(".")}: ${message}`);
}

/** The required fields of a response. */
export const RESPONSE_FIELDS: readonly string[] = Object.keys(response.shape);
