import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_NAMES } from "../../../src/wire/conversation/traits/format-name.ts";
import { type FormatVendors, startFormatVendors } from "../../faults/format-vendors.ts";

let vendors: FormatVendors;
beforeAll(async () => {
  vendors = await startFormatVendors();
});
afterAll(() => vendors.stop());

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into as they come
type Json = any;

const OTHERS = FORMAT_NAMES.filter((name) => name !== "anthropic-messages");

/** Sends a request to a vendor of a format, and returns the response and what the vendor received. */
async function send(path: string, body: Json, format: FormatName): Promise<{ answer: Json; sent: Json }> {
  vendors.reset(format);
  const { base, key } = vendors.gateway;
  const response = await fetch(base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, model: `acme/${format}-alone` }),
  });
  const answer: Json = await response.json();
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return { answer, sent: vendors.first.calls[0]?.body };
}

/** Reads the first tool result that a vendor of a format received: its text, or its only text part. */
const RESULT_IN: Readonly<Record<FormatName, (sent: Json) => Json>> = {
  "openai-chat": ({ messages }) => messages.find(({ role }: Json) => role === "tool").content,
  "cohere-chat": ({ messages }) => messages.find(({ role }: Json) => role === "tool").content,
  "openai-responses": ({ input }) => {
    const { output } = input.find(({ type }: Json) => type === "function_call_output");
    return typeof output === "string" ? output : output.map(({ text }: Json) => text).join("\n");
  },
  "anthropic-messages": ({ messages }) =>
    messages.flatMap(({ content }: Json) => content).find(({ type }: Json) => type === "tool_result").content,
  gemini: ({ contents }) => {
    const parts = contents.flatMap((content: Json) => content.parts);
    const { response } = parts.find((part: Json) => part.functionResponse).functionResponse;
    return response.output;
  },
  "bedrock-converse": ({ messages }) => {
    const blocks = messages.flatMap(({ content }: Json) => content);
    const { content } = blocks.find((block: Json) => block.toolResult).toolResult;
    return content.map(({ text }: Json) => text).join("\n");
  },
};

/** Returns a history in which a tool returned these blocks. */
const resultOf = (...content: Json[]) => ({
  max_tokens: 100,
  tools: [
    { name: "ToolSearch", description: "Finds tools.", input_schema: { type: "object" } },
    { name: "mcp__weather__now", input_schema: { type: "object" }, defer_loading: true },
    { name: "mcp__weather__then", input_schema: { type: "object" }, defer_loading: true },
  ],
  messages: [
    { role: "user", content: "What is the weather?" },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "toolu_1", name: "ToolSearch", input: { query: "weather" } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content }] },
  ],
});
const reference = (name: string) => ({ type: "tool_reference", tool_name: name });
const found = {
  type: "search_result",
  title: "Almanac",
  source: "https://almanac.test/1",
  content: [
    { type: "text", text: "Rain" },
    { type: "text", text: "Sun" },
  ],
  citations: { enabled: true },
};

describe("a tool search of Claude Code", () => {
  const history = resultOf(reference("mcp__weather__now"), reference("mcp__weather__then"));

  test.each(OTHERS)("is translated to the names of the tools for a model of %s", async (format) => {
    const { sent, answer } = await send("/messages", history, format);
    const text = RESULT_IN[format](sent);
    expect(text).toContain("mcp__weather__now");
    expect(text).toContain("mcp__weather__then");
    expect(text).not.toContain("follows");
    // Tools with deferred loading are sent.
    expect(JSON.stringify(sent).split("mcp__weather__then")).toHaveLength(3);
    expect(JSON.stringify(answer)).not.toContain("tool_reference");
  });

  test.each(OTHERS)(
    "made by Anthropic is translated to the names of the tools for a model of %s",
    async (format) => {
      const content = [
        {
          type: "server_tool_use",
          id: "srvtoolu_1",
          name: "tool_search_tool_regex",
          input: { query: "weather" },
        },
        {
          type: "tool_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: {
            type: "tool_search_tool_search_result",
            tool_references: [reference("mcp__weather__now")],
          },
        },
        { type: "text", text: "I found one." },
      ];
      const searched = {
        ...history,
        messages: [history.messages[0], { role: "assistant", content }, { role: "user", content: "Use it." }],
      };
      const { sent, answer } = await send("/messages", searched, format);
      expect(RESULT_IN[format](sent)).toBe("mcp__weather__now");
      expect(JSON.stringify(sent)).toContain("I found one.");
      expect(JSON.stringify(answer)).not.toContain("tool_search");
    },
  );

  test("is forwarded to Anthropic unchanged", async () => {
    const { sent } = await send("/messages", history, "anthropic-messages");
    expect(sent.messages).toEqual(history.messages);
  });
});

describe("a search result", () => {
  test.each(OTHERS)(
    "in a tool result is translated to title, source and text for a model of %s",
    async (format) => {
      const { sent, answer } = await send("/messages", resultOf(found), format);
      expect(RESULT_IN[format](sent)).toBe("Almanac\nhttps://almanac.test/1\n\nRain\nSun");
      expect(JSON.stringify(answer)).not.toContain("search_result");
    },
  );

  test.each(OTHERS)(
    "and a tool reference in a user message are translated to text for a model of %s",
    async (format) => {
      const content = [{ type: "text", text: "Look:" }, found, reference("mcp__weather__now")];
      const { sent, answer } = await send(
        "/messages",
        { max_tokens: 99, messages: [{ role: "user", content }] },
        format,
      );
      const text = JSON.stringify(sent);
      for (const words of ["Look:", "Rain\\nSun", "https://almanac.test/1", "mcp__weather__now"]) {
        expect(text).toContain(words);
      }
      expect(answer.gateway_metadata?.warnings).toBeUndefined();
    },
  );
});

describe("a tool result that a format cannot express", () => {
  const history = resultOf({ type: "container_upload", file_id: "file_1" });

  test.each(OTHERS)("is replaced by a placeholder for a model of %s, with a warning", async (format) => {
    const { sent, answer } = await send("/messages", history, format);
    expect(RESULT_IN[format](sent)).toContain("container_upload");
    expect(answer.gateway_metadata.warnings).toContainEqual({
      field: "messages[2].content[0]",
      message: expect.stringContaining("container_upload was left out"),
    });
  });

  test("is replaced by a placeholder in Responses if it is a video", async () => {
    const history = {
      messages: [
        { role: "user", content: "Look!" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "film", arguments: "{}" } }],
        },
        {
          role: "tool",
          tool_call_id: "c1",
          content: [{ type: "video_url", video_url: { url: "https://film.test/1.mp4" } }],
        },
      ],
    };
    const { sent, answer } = await send("/chat/completions", history, "openai-responses");
    expect(RESULT_IN["openai-responses"](sent)).toContain("video");
    expect(answer.gateway_metadata.warnings).toHaveLength(1);
  });
});

describe("a tool result that is an image", () => {
  const image = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
  };

  test.each(["openai-chat", "cohere-chat", "gemini"] as const)(
    "is announced before the image that follows it for a host of %s",
    async (format) => {
      const { sent } = await send("/messages", resultOf(image), format);
      const text = JSON.stringify(sent);
      const says = text.indexOf("The result follows");
      expect(says).toBeGreaterThan(0);
      expect(text.indexOf("iVBORw0KGgo=")).toBeGreaterThan(says);
    },
  );
});
