import { encodeEvent, encodeException } from "../../clients/event-frames.ts";
import { SCRIPTED_USAGE, type ScriptedError, type VendorScript } from "./vendor-script.ts";

const { prompt, completion } = SCRIPTED_USAGE;
const USAGE = { inputTokens: prompt, outputTokens: completion, totalTokens: prompt + completion };
const STOP_REASONS = { stop: "end_turn", length: "max_tokens", refusal: "content_filtered" } as const;

const join = (...frames: readonly string[]) => Buffer.from(frames.join(""), "latin1");
const START = encodeEvent("messageStart", { role: "assistant" });
const delta = (of: object) => encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: of });
const STOP_BLOCK = encodeEvent("contentBlockStop", { contentBlockIndex: 0 });
const metadata = (usage: unknown) => encodeEvent("metadata", { usage, metrics: { latencyMs: 1 } });

interface BedrockError extends ScriptedError {
  readonly body: { readonly message: string; readonly __type: string };
}

const error = (status: number, type: string, message: string): BedrockError => ({
  status,
  body: { message, __type: type },
});

/** Bedrock's Converse format; its streams are frames. */
export const bedrockScript: VendorScript = {
  format: "bedrock-converse",
  contentType: "application/vnd.amazon.eventstream",
  isStream: (line) => /^POST \S+\/converse-stream /.test(line),
  begin: (text) => join(START, delta({ text })),
  more: (text) => join(delta({ text })),
  close: (finish, usage = USAGE) =>
    join(STOP_BLOCK, encodeEvent("messageStop", { stopReason: STOP_REASONS[finish] }), metadata(usage)),
  finish: () => join(STOP_BLOCK, metadata(USAGE), encodeEvent("messageStop", { stopReason: "end_turn" })),
  closeWithoutReason: () => join(STOP_BLOCK, encodeEvent("messageStop", {}), metadata(USAGE)),
  endWithoutFinish: () => join(STOP_BLOCK),
  beginCall: () =>
    join(
      START,
      encodeEvent("contentBlockStart", {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "tooluse_1", name: "look" } },
      }),
      delta({ toolUse: { input: '{"at"' } }),
    ),
  emptyStream: () =>
    join(
      START,
      encodeEvent("messageStop", { stopReason: "end_turn" }),
      metadata({ ...USAGE, outputTokens: 0 }),
    ),
  fail: ({ body }) => {
    const { __type, message } = body as BedrockError["body"];
    return join(encodeException(__type, { message }));
  },
  document: (text, finish, usage = USAGE) => ({
    output: { message: { role: "assistant", content: [{ text }] } },
    stopReason: STOP_REASONS[finish],
    usage,
  }),
  emptyDocument: () => ({
    output: { message: { role: "assistant", content: [] } },
    stopReason: "end_turn",
    usage: { ...USAGE, outputTokens: 0 },
  }),
  errors: {
    key: error(403, "UnrecognizedClientException", "The security token included in the request is invalid."),
    credit: error(
      403,
      "accessDeniedException",
      "Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.",
    ),
    limited: error(429, "throttlingException", "You are too fast."),
    failed: error(500, "internalServerException", "Internal server error"),
    overloaded: error(503, "serviceUnavailableException", "Overloaded"),
    bad: error(400, "validationException", "top_k: Input should be greater than 0"),
  },
};
