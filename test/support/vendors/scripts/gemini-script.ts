import {
  encodeEvents,
  SCRIPTED_USAGE,
  type ScriptedError,
  type ScriptedFinish,
  type VendorScript,
} from "./vendor-script.ts";

const FINISH_REASONS = { stop: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" } as const;
const USAGE = {
  promptTokenCount: SCRIPTED_USAGE.prompt,
  candidatesTokenCount: SCRIPTED_USAGE.completion,
  totalTokenCount: SCRIPTED_USAGE.prompt + SCRIPTED_USAGE.completion,
};
const chunk = (parts: readonly object[], rest: object = {}, usage: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, index: 0, ...rest }],
  usageMetadata: { promptTokenCount: SCRIPTED_USAGE.prompt, ...usage },
  modelVersion: "up",
  responseId: "vendor",
});
const print = (...events: unknown[]) => encodeEvents(events);
const close = (finish: ScriptedFinish, usage: unknown = USAGE) =>
  print(chunk([{ text: "" }], { finishReason: FINISH_REASONS[finish] }, usage as object));

const error = (code: number, status: string, message: string, reason?: string): ScriptedError => ({
  status: code,
  body: { error: { code, message, status, ...(reason && { details: [{ reason }] }) } },
});

/** Gemini's `generateContent` format. */
export const geminiScript: VendorScript = {
  format: "gemini",
  contentType: "text/event-stream",
  isStream: (line) => /^POST \S+:streamGenerateContent\?alt=sse /.test(line),
  begin: (text) => print(chunk([{ text }])),
  more: (text) => print(chunk([{ text }])),
  close,
  finish: () => close("stop"),
  closeWithoutReason: () => print(chunk([{ text: "" }], {}, USAGE), "[DONE]"),
  endWithoutFinish: () => print(chunk([{ text: "" }])),
  beginCall: () =>
    print(
      chunk([
        {
          functionCall: {
            name: "look",
            partialArgs: [{ jsonPath: "$.at", stringValue: "he", willContinue: true }],
            willContinue: true,
          },
        },
      ]),
    ),
  emptyStream: () => print(chunk([], { finishReason: "STOP" })),
  fail: ({ body }) => print(body),
  document: (text, finish, usage = USAGE) =>
    chunk([{ text }], { finishReason: FINISH_REASONS[finish] }, usage as object),
  emptyDocument: () => chunk([], { finishReason: "STOP" }),
  errors: {
    key: error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "API_KEY_INVALID"),
    credit: error(
      429,
      "RESOURCE_EXHAUSTED",
      "Your prepayment credits are depleted. Please go to AI Studio at https://ai.studio/projects to manage your project and billing.",
    ),
    limited: error(429, "RESOURCE_EXHAUSTED", "You are too fast."),
    failed: error(500, "INTERNAL", "Internal server error"),
    overloaded: error(503, "UNAVAILABLE", "Overloaded"),
    bad: error(400, "INVALID_ARGUMENT", "top_k: Input should be greater than 0"),
  },
};
