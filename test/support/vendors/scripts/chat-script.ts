import { chunkOf, documentOf, opening, textOf, USAGE } from "../vendor.ts";
import { encodeEvents, type ScriptedError, type VendorScript } from "./vendor-script.ts";

const FINISH_REASONS = { stop: "stop", length: "length", refusal: "content_filter" } as const;
const print = (...events: unknown[]) => encodeEvents(events);
const CALL = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: '{"at"' } };

const error = (status: number, type: string, code: string | null, message: string): ScriptedError => ({
  status,
  body: { error: { message, type, param: null, code } },
});

/** OpenAI's chat completions format. */
export const chatScript: VendorScript = {
  format: "openai-chat",
  contentType: "text/event-stream",
  isStream: (_line, body) => body["stream"] === true,
  begin: (text) => print(...opening(text)),
  more: (text) => print(textOf(text)),
  close: (finish, usage = USAGE) =>
    print(chunkOf({}, FINISH_REASONS[finish]), { ...chunkOf({}), choices: [], usage }, "[DONE]"),
  finish: () => print(chunkOf({}, "stop"), { ...chunkOf({}), choices: [], usage: USAGE }),
  closeWithoutReason: () => print({ ...chunkOf({}), choices: [], usage: USAGE }, "[DONE]"),
  endWithoutFinish: () => print("[DONE]"),
  beginCall: () => print(chunkOf({ role: "assistant", content: null }), chunkOf({ tool_calls: [CALL] })),
  emptyStream: () => print(chunkOf({ role: "assistant", content: "" }), chunkOf({}, "stop"), "[DONE]"),
  fail: ({ body }) => print(body),
  document(text, finish, usage = USAGE) {
    const document = documentOf(text, { usage });
    return {
      ...document,
      choices: document.choices.map((choice) => ({ ...choice, finish_reason: FINISH_REASONS[finish] })),
    };
  },
  emptyDocument: () => documentOf("", {}),
  errors: {
    key: error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    credit: error(402, "billing", null, "Insufficient Balance"),
    limited: error(429, "requests", "rate_limit_exceeded", "You are too fast."),
    failed: error(500, "server_error", null, "Internal server error"),
    overloaded: error(503, "overloaded_error", null, "Overloaded"),
    bad: error(400, "invalid_request_error", null, "top_k: Input should be greater than 0"),
  },
};
