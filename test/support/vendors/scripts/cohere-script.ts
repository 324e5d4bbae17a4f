import { encodeEvents, SCRIPTED_USAGE, type ScriptedError, type VendorScript } from "./vendor-script.ts";

const { prompt: input_tokens, completion: output_tokens } = SCRIPTED_USAGE;
const USAGE = { billed_units: { input_tokens, output_tokens }, tokens: { input_tokens, output_tokens } };
const FINISH_REASONS = { stop: "COMPLETE", length: "MAX_TOKENS", refusal: "ERROR_TOXIC" } as const;

const print = (...events: unknown[]) => encodeEvents(events, true);
const START = { type: "message-start", id: "vendor", delta: { message: { role: "assistant", content: [] } } };
const textEvent = (type: string, text: string) => ({
  type,
  index: 0,
  delta: { message: { content: { type: "text", text } } },
});
const END = { type: "content-end", index: 0 };
const finish = (finish_reason: string | undefined, usage: unknown) => ({
  type: "message-end",
  delta: { finish_reason, usage },
});

/** Bodies contain no status. `code` serves for errors that are sent with status 200. */
const error = (code: number, message: string): ScriptedError => ({ status: code, body: { code, message } });

/** Cohere's chat format. */
export const cohereScript: VendorScript = {
  format: "cohere-chat",
  contentType: "text/event-stream",
  isStream: (_line, body) => body["stream"] === true,
  begin: (text) => print(START, textEvent("content-start", ""), textEvent("content-delta", text)),
  more: (text) => print(textEvent("content-delta", text)),
  close: (reason, usage = USAGE) => print(END, finish(FINISH_REASONS[reason], usage)),
  finish: () => print(END, finish("COMPLETE", USAGE)),
  closeWithoutReason: () => print(END, finish(undefined, USAGE)),
  endWithoutFinish: () => print(END),
  beginCall: () => {
    const tool_calls = { id: "look_1", type: "function", function: { name: "look", arguments: "" } };
    const more = { function: { arguments: '{"at"' } };
    return print(
      START,
      { type: "tool-call-start", index: 0, delta: { message: { tool_calls } } },
      { type: "tool-call-delta", index: 0, delta: { message: { tool_calls: more } } },
    );
  },
  emptyStream: () => print(START, finish("COMPLETE", {})),
  fail: ({ body }) => print({ type: "error", ...(body as object) }),
  document: (text, reason, usage = USAGE) => ({
    id: "vendor",
    message: { role: "assistant", content: [{ type: "text", text }] },
    finish_reason: FINISH_REASONS[reason],
    usage,
  }),
  emptyDocument: () => ({
    id: "vendor",
    message: { role: "assistant", content: [] },
    finish_reason: "COMPLETE",
    usage: {},
  }),
  errors: {
    key: error(401, "invalid api token"),
    credit: error(402, "Please add or update your payment method at https://dashboard.cohere.com/billing."),
    limited: error(429, "You are too fast."),
    failed: error(500, "Internal server error"),
    overloaded: error(503, "Overloaded"),
    bad: error(400, "top_k: Input should be greater than 0"),
  },
};
