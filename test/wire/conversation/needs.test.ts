import { describe, expect, test } from "bun:test";
import { parseChatRequest } from "../../../src/wire/client-apis/chat-request.ts";
import { parseMessagesRequest } from "../../../src/wire/client-apis/messages-request.ts";
import { parseResponsesRequest } from "../../../src/wire/client-apis/responses-request.ts";

const PARSERS = {
  chat: parseChatRequest,
  messages: parseMessagesRequest,
  responses: parseResponsesRequest,
};
const PIXEL = "data:image/png;base64,aGVsbG8=";

/** Returns features and parameters, separated by "|". */
function needsOf(api: keyof typeof PARSERS, fields: Record<string, unknown>): string {
  const said = api === "responses" ? { input: "x" } : { messages: [{ role: "user", content: "x" }] };
  const body = Buffer.from(JSON.stringify({ model: "a/m", ...said, ...fields }));
  const { features, parameters } = PARSERS[api](body, (id) => id).demands.listNeeds();
  return `${features.join(" ")}|${parameters.join(" ")}`;
}

const user = (...content: unknown[]) => ({ role: "user", content });
const chatTool = { type: "function", function: { name: "f" } };

describe("the needs of a request", () => {
  test.each<[keyof typeof PARSERS, Record<string, unknown>, string]>([
    ["chat", {}, "|"],
    ["chat", { messages: [user({ type: "image_url", image_url: { url: PIXEL } })] }, "image|"],
    [
      "chat",
      { messages: [user({ type: "file", file: {} }, { type: "input_audio", input_audio: {} })] },
      "file audio|",
    ],
    ["chat", { messages: [user({ type: "video_url", video_url: {} })] }, "video|"],
    ["chat", { tools: [chatTool], tool_choice: "auto" }, "tools|tools tool_choice"],
    ["chat", { tools: [] }, "|tools"],
    ["chat", { max_completion_tokens: 5, temperature: 0, top_p: null }, "|max_tokens temperature"],
    ["chat", { response_format: { type: "json_schema", json_schema: {} } }, "|structured_outputs"],
    ["chat", { response_format: { type: "json_object" }, seed: 1 }, "|response_format seed"],
    ["chat", { response_format: { type: "text" }, user: "u", provider: {}, models: ["a/n"] }, "|"],
    ["messages", {}, "|"],
    ["messages", { max_tokens: 5, stop_sequences: ["x"] }, "|max_tokens stop"],
    [
      "messages",
      { thinking: { type: "enabled", budget_tokens: 2_000 }, max_tokens: 4_000 },
      "|reasoning max_tokens",
    ],
    ["messages", { thinking: { type: "disabled" } }, "|"],
    ["messages", { output_config: { format: { type: "json_schema", schema: {} } } }, "|structured_outputs"],
    [
      "messages",
      { messages: [user({ type: "image", source: { type: "url", url: "https://x.example/a.png" } })] },
      "image|",
    ],
    ["messages", { messages: [user({ type: "document", source: { type: "text", data: "x" } })] }, "|"],
    [
      "messages",
      {
        messages: [user({ type: "document", source: { type: "base64", data: "eA==" } })],
        tools: [{ name: "f", input_schema: {} }],
      },
      "file tools|tools",
    ],
    [
      "messages",
      {
        messages: [
          user({ type: "text", text: "x" }),
          { role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: {} }] },
          user({
            type: "tool_result",
            tool_use_id: "t",
            content: [{ type: "image", source: { type: "base64" } }],
          }),
        ],
      },
      "image|",
    ],
    ["responses", {}, "|"],
    ["responses", { input: [user({ type: "input_image", image_url: PIXEL })] }, "image|"],
    [
      "responses",
      {
        input: [
          { type: "function_call_output", call_id: "c", output: [{ type: "input_file", file_id: "f" }] },
        ],
      },
      "file|",
    ],
    [
      "responses",
      { tools: [{ type: "function", name: "f" }], max_output_tokens: 20, reasoning: { effort: "low" } },
      "tools|tools max_tokens reasoning",
    ],
    [
      "responses",
      { text: { format: { type: "json_schema", name: "n", schema: {} } } },
      "|structured_outputs",
    ],
    ["responses", { text: { format: { type: "json_object" }, verbosity: "low" } }, "|response_format"],
    ["responses", { text: { format: { type: "text" } } }, "|"],
  ])("of the API %s with the fields %j are its features and parameters", (api, fields, expected) => {
    expect(needsOf(api, fields)).toBe(expected);
  });
});
