import { describe, expect, test } from "bun:test";
import { encodeCounters } from "../../src/wire/anthropic-messages/usage.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { NO_TOKENS } from "../../src/wire/conversation/usage.ts";
import { UPSTREAM_CODECS } from "../../src/wire/formats/codecs.ts";
import { hasRecordings, readAnswers, readStreams } from "../support/vendors/recordings.ts";

type Body = Record<string, unknown>;

function usageOf(format: FormatName, body: Body) {
  const decoded = UPSTREAM_CODECS[format].decodeAnswer(body);
  if (decoded.kind === "error") throw new Error(decoded.error.message);
  return decoded.answer.usage;
}

const tokens = { input_tokens: 10, output_tokens: 5 };
const responses = (output: Body[], usage: Body = {}, more: Body = {}): Body => ({
  status: "completed",
  output,
  usage: { ...tokens, ...usage },
  ...more,
});
const call = (type: string, action?: string, status = "completed"): Body => ({
  id: "ws_1",
  type,
  status,
  ...(action === undefined ? {} : { action: { type: action } }),
});
const gemini = (...candidates: Body[]): Body => ({
  candidates: candidates.map((metadata, index) => ({
    index,
    content: { parts: [{ text: "Hello." }] },
    finishReason: "STOP",
    groundingMetadata: metadata,
  })),
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 1_295,
    candidatesTokensDetails: [
      { modality: "IMAGE", tokenCount: 1_290 },
      { modality: "TEXT", tokenCount: 5 },
    ],
  },
});
const chat = (usage: Body): Body => ({
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, ...usage },
});

describe("the number of searches in a vendor's answer", () => {
  test.each<[string, FormatName, Body, number]>([
    [
      "one per item of a search",
      "openai-responses",
      responses([call("web_search_call", "search"), call("web_search_call")]),
      2,
    ],
    [
      "none for opened pages",
      "openai-responses",
      responses([call("web_search_call", "open_page"), call("web_search_call", "find_in_page")]),
      0,
    ],
    [
      "none for a failed search",
      "openai-responses",
      responses([call("web_search_call", "search", "failed")]),
      0,
    ],
    [
      "the vendor's own counter",
      "openai-responses",
      responses([call("web_search_call")], {}, { tool_usage: { web_search: { num_requests: 3 } } }),
      3,
    ],
    ["one per search on X", "openai-responses", responses([call("x_search_call")]), 1],
    [
      "xAI's own counters",
      "openai-responses",
      responses([], {
        server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1, code_interpreter_calls: 9 },
      }),
      3,
    ],
    [
      "the queries of all candidates",
      "gemini",
      gemini({ webSearchQueries: ["a", "b", ""] }, { webSearchQueries: ["c"] }),
      3,
    ],
    ["none for maps", "gemini", gemini({ groundingChunks: [] }), 0],
    ["Perplexity's queries", "openai-chat", chat({ num_search_queries: 7 }), 7],
    ["xAI's sources", "openai-chat", chat({ num_sources_used: 4 }), 4],
    [
      "the counter of Claude behind a chat API",
      "openai-chat",
      chat({ server_tool_use: { web_search_requests: 2 } }),
      2,
    ],
    ["none for an invalid counter", "openai-chat", chat({ num_sources_used: "many" }), 0],
  ])("is %s (%s, %s)", (_name, format, body, searches) => {
    expect(usageOf(format, body)?.searches).toBe(searches);
  });

  test("comes with the image tokens of the answer and the search context", () => {
    expect(usageOf("gemini", gemini({}))?.imageCompletionTokens).toBe(1_290);
    expect(usageOf("openai-chat", chat({ search_context_size: "medium" }))?.searchContext).toBe("medium");
    expect(usageOf("openai-chat", chat({ search_context_size: "huge" }))?.searchContext).toBeNull();
  });

  test("is sent to a Messages client if there were any", () => {
    const counters = (searches: number) => encodeCounters({ ...NO_TOKENS, promptTokens: 1, searches });
    expect(counters(2)["server_tool_use"]).toEqual({ web_search_requests: 2 });
    expect(counters(0)).not.toHaveProperty("server_tool_use");
  });
});

/** Recorded answers with searches: folder, format and name. */
const RECORDED: [string, FormatName, string][] = hasRecordings
  ? [
      ["anthropic", "anthropic-messages", "anthropic-web-search-tool.1"],
      ["openai-responses", "openai-responses", "openai-web-search-tool.1"],
      ["xai-responses", "openai-responses", "xai-web-search-tool.1"],
      ["azure", "openai-responses", "azure-web-search-preview-tool.1"],
    ]
  : [];

describe("a stream with searches", () => {
  test.each<[string, FormatName, string]>([
    ["anthropic", "anthropic-messages", "web-search"],
    ["openai-responses", "openai-responses", "web-search"],
    ...RECORDED,
  ])("counts searches like the whole answer (%s, %s, %s)", (folder, format, name) => {
    const find = (all: readonly { name: string; text: string }[]) =>
      all.find((recording) => recording.name.startsWith(`${folder}/${name}`))!.text;
    expect(usageOf(format, JSON.parse(find(readAnswers(folder))))?.searches).toBeGreaterThan(0);
    const reader = UPSTREAM_CODECS[format].createReader();
    const stream = Buffer.from(find(readStreams(folder))).toString("latin1");
    const events = [...reader.step(stream), ...reader.end()];
    const usages = events.flatMap((event) => (event.kind === "usage" ? [event.usage.searches] : []));
    expect(usages.at(-1)).toBeGreaterThan(0);
  });
});
