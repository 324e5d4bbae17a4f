import { encodeEvents, SCRIPTED_USAGE, type ScriptedError, type VendorScript } from "./vendor-script.ts";

const USAGE = { input_tokens: SCRIPTED_USAGE.prompt, output_tokens: SCRIPTED_USAGE.completion };
const STOP_REASONS = { stop: "end_turn", length: "max_tokens", refusal: "refusal" } as const;

const print = (...events: unknown[]) => encodeEvents(events, true);
const HEAD = { id: "msg_vendor", type: "message", role: "assistant", model: "up" };
const start = (usage: object) => ({
  type: "message_start",
  message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage },
});
const START = start({ ...USAGE, output_tokens: 1 });
const STOP_BLOCK = { type: "content_block_stop", index: 0 };
const block = (content_block: object) => ({ type: "content_block_start", index: 0, content_block });
const delta = (of: object) => ({ type: "content_block_delta", index: 0, delta: of });
const stopped = (stop_reason: string, usage: unknown = { output_tokens: SCRIPTED_USAGE.completion }) => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});

const error = (status: number, type: string, message: string): ScriptedError => ({
  status,
  body: { type: "error", error: { type, message }, request_id: "req_vendor" },
});

/** Anthropic's Messages format. */
export const anthropicScript: VendorScript = {
  format: "anthropic-messages",
  contentType: "text/event-stream",
  isStream: (_line, body) => body["stream"] === true,
  begin: (text) =>
    print(START, block({ type: "text", text: "" }), { type: "ping" }, delta({ type: "text_delta", text })),
  more: (text) => print(delta({ type: "text_delta", text })),
  close: (finish, usage) => print(STOP_BLOCK, stopped(STOP_REASONS[finish], usage), { type: "message_stop" }),
  finish: () => print(STOP_BLOCK, stopped("end_turn")),
  closeWithoutReason: () =>
    print(
      STOP_BLOCK,
      { type: "message_delta", delta: {}, usage: { output_tokens: SCRIPTED_USAGE.completion } },
      { type: "message_stop" },
    ),
  endWithoutFinish: () => print(STOP_BLOCK),
  beginCall: () =>
    print(
      START,
      block({ type: "tool_use", id: "toolu_1", name: "look", input: {} }),
      delta({ type: "input_json_delta", partial_json: '{"at"' }),
    ),
  emptyStream: () =>
    print(
      start({ input_tokens: SCRIPTED_USAGE.prompt, output_tokens: 0 }),
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 0 } },
      { type: "message_stop" },
    ),
  fail: ({ body }) => print(body),
  document: (text, finish, usage = USAGE) => ({
    ...HEAD,
    content: [{ type: "text", text }],
    stop_reason: STOP_REASONS[finish],
    stop_sequence: null,
    usage,
  }),
  emptyDocument: () => ({
    ...HEAD,
    content: [],
    stop_reason: "end_turn",
    usage: { ...USAGE, output_tokens: 0 },
  }),
  errors: {
    key: error(401, "authentication_error", "invalid x-api-key"),
    credit: error(
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
    ),
    limited: error(429, "rate_limit_error", "You are too fast."),
    failed: error(500, "api_error", "Internal server error"),
    overloaded: error(529, "overloaded_error", "Overloaded"),
    bad: error(400, "invalid_request_error", "top_k: Input should be greater than 0"),
  },
};
