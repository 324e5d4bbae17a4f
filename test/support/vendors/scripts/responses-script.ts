import {
  encodeEvents,
  SCRIPTED_USAGE,
  type ScriptedError,
  type ScriptedFinish,
  type VendorScript,
} from "./vendor-script.ts";

const { prompt, completion } = SCRIPTED_USAGE;
const USAGE = { input_tokens: prompt, output_tokens: completion, total_tokens: prompt + completion };
const RESPONSE = {
  id: "resp_vendor",
  object: "response",
  created_at: 1,
  model: "up",
  output: [],
  usage: null,
};
const STATUSES = {
  stop: { status: "completed", incomplete_details: null },
  length: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  refusal: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
} as const;

const print = (...events: unknown[]) => encodeEvents(events, true);
const CREATED = { type: "response.created", response: { ...RESPONSE, status: "in_progress" } };
const POSITION = { output_index: 0, content_index: 0, item_id: "msg_1" };
const message = (text: string, status: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status,
  content: [{ type: "output_text", text, annotations: [] }],
});
const responseWith = (finish: ScriptedFinish, output: readonly unknown[], usage: unknown) => ({
  ...RESPONSE,
  ...STATUSES[finish],
  output,
  usage,
});
const close = (finish: ScriptedFinish, usage: unknown = USAGE) =>
  print({ type: `response.${STATUSES[finish].status}`, response: responseWith(finish, [], usage) });

const error = (status: number, type: string, code: string | null, text: string): ScriptedError => ({
  status,
  body: { error: { message: text, type, param: null, code } },
});

/** OpenAI's Responses format. */
export const responsesScript: VendorScript = {
  format: "openai-responses",
  contentType: "text/event-stream",
  isStream: (_line, body) => body["stream"] === true,
  begin: (text) =>
    print(
      CREATED,
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { ...message("", "in_progress"), content: [] },
      },
      {
        type: "response.content_part.added",
        ...POSITION,
        part: { type: "output_text", text: "", annotations: [] },
      },
      { type: "response.output_text.delta", ...POSITION, delta: text },
    ),
  more: (text) => print({ type: "response.output_text.delta", ...POSITION, delta: text }),
  close,
  finish: () => close("stop"),
  closeWithoutReason: () => close("stop"),
  endWithoutFinish: () => print({ type: "response.output_text.done", ...POSITION, text: "" }),
  beginCall: () => {
    const item = { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: "" };
    return print(
      CREATED,
      { type: "response.output_item.added", output_index: 0, item },
      {
        type: "response.function_call_arguments.delta",
        output_index: 0,
        item_id: "fc_1",
        delta: '{"at"',
      },
    );
  },
  emptyStream: () =>
    print(CREATED, {
      type: "response.completed",
      response: responseWith("stop", [], { ...USAGE, output_tokens: 0 }),
    }),
  fail: ({ body }) => {
    const { error } = body as { error: object };
    return print({ type: "response.failed", response: { ...RESPONSE, status: "failed", error } });
  },
  document: (text, finish, usage = USAGE) => responseWith(finish, [message(text, "completed")], usage),
  emptyDocument: () => responseWith("stop", [], { ...USAGE, output_tokens: 0 }),
  errors: {
    key: error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    credit: error(
      429,
      "insufficient_quota",
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details.",
    ),
    limited: error(429, "requests", "rate_limit_exceeded", "You are too fast."),
    failed: error(500, "server_error", "server_error", "Internal server error"),
    overloaded: error(503, "server_error", "server_is_overloaded", "Overloaded"),
    bad: error(400, "invalid_request_error", null, "top_k: Input should be greater than 0"),
  },
};
