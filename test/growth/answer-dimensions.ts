import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { encodeEvent } from "../support/clients/event-frames.ts";
import { members, times } from "./dimension.ts";

/** A dimension of a vendor's answer, as a document or as pieces of a stream. Bytes are latin-1 characters. */
export interface AnswerDimension {
  readonly format: FormatName;
  readonly name: string;
  /** Null for a dimension of streams only. */
  readonly whole: ((n: number) => unknown) | null;
  readonly stream: ((n: number) => readonly string[]) | null;
}

type Body = Readonly<Record<string, unknown>>;
type Dimensions = Readonly<
  Record<
    string,
    { readonly whole?: (n: number) => unknown; readonly stream?: (n: number) => readonly string[] }
  >
>;

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;
const named = (data: Body): string => `event: ${data["type"]}\n${event(data)}`;
/** Splits a text into at least `n` pieces, as a slow network does. */
const cut = (text: string, n: number): string[] => {
  const size = Math.max(1, Math.floor(text.length / n));
  return times(Math.ceil(text.length / size), (at) => text.slice(at * size, (at + 1) * size));
};

// --- OpenAI chat

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const chunk = (delta: Body, more: Body = {}, finish_reason: string | null = null): string =>
  event({
    id: "c",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
const CHAT_END = [chunk({}, {}, "stop"), event({ choices: [], usage: USAGE }), "data: [DONE]\n\n"];
const streamed = (...deltas: readonly string[]): readonly string[] => [...deltas, ...CHAT_END];
const message = (fields: Body, more: Body = {}): Body => ({
  choices: [{ index: 0, message: { role: "assistant", content: "Well.", ...fields }, finish_reason: "stop" }],
  usage: USAGE,
  ...more,
});
const call = (at: number, args: string): Body => ({
  index: at,
  id: `c${at}`,
  type: "function",
  function: { name: "look_up", arguments: args },
});
const citation: Body = {
  type: "url_citation",
  url_citation: { url: "https://a.b", title: "A", start_index: 0, end_index: 1 },
};
const logprob: Body = { token: "a", logprob: -1, bytes: [97], top_logprobs: [] };

const CHAT: Dimensions = {
  "pieces of text": { stream: (n) => streamed(...times(n, () => chunk({ content: "word " }))) },
  "pieces of text in other frames": {
    stream: (n) => streamed(...times(n, (at) => chunk({ content: "word " }, { [`field_${at}`]: 1 }))),
  },
  "pieces of reasoning": {
    stream: (n) => streamed(...times(n, () => chunk({ reasoning_content: "word " }))),
  },
  "events without choices": {
    stream: (n) => streamed(...times(n, (at) => event({ choices: [], [`f${at}`]: 1 }))),
  },
  "pieces of the network": {
    stream: (n) => cut(streamed(chunk({ content: "x".repeat(n * 20) })).join(""), n),
  },
  "events in one piece": {
    stream: (n) => [streamed(...times(n, () => chunk({ content: "word " }))).join("")],
  },
  "blank lines": { stream: (n) => ["\n".repeat(n), ...streamed(chunk({ content: "word" }))] },
  comments: { stream: (n) => [": comment\n\n".repeat(n), ...streamed(chunk({ content: "word" }))] },
  "lines of one event": {
    stream: (n) =>
      streamed(`data: {"choices":\n${"data:  \n".repeat(n)}data: []}\n\n`, chunk({ content: "word" })),
  },
  "tool calls": {
    whole: (n) => message({ tool_calls: times(n, (at) => call(at, "{}")) }),
    stream: (n) => streamed(...times(n, (at) => chunk({ tool_calls: [call(at, "{}")] }))),
  },
  "tool calls that are never whole": {
    stream: (n) => streamed(...times(n, (at) => chunk({ tool_calls: [call(at, '{"a":"}')] }))),
  },
  "tool calls whose pieces come in turn": {
    stream: (n) =>
      streamed(
        ...times(n, (at) => chunk({ tool_calls: [call(at, '{"a":"')] })),
        ...times(n, (at) => chunk({ tool_calls: [{ index: at, function: { arguments: '"}' } }] })),
      ),
  },
  "pieces of arguments": {
    stream: (n) =>
      streamed(
        chunk({ tool_calls: [call(0, "")] }),
        ...times(n, () => chunk({ tool_calls: [{ index: 0, function: { arguments: "a" } }] })),
      ),
  },
  "pieces of arguments between other calls": {
    stream: (n) =>
      streamed(
        chunk({ tool_calls: [call(0, '{"a":"')] }),
        ...times(n, (at) =>
          chunk({ tool_calls: [{ index: 0, function: { arguments: "a}" } }, call(at + 1, "{}")] }),
        ),
      ),
  },
  "reasoning details": {
    whole: (n) =>
      message({ reasoning_details: times(n, (index) => ({ type: "reasoning.text", text: "a", index })) }),
    stream: (n) =>
      streamed(
        ...times(n, (index) => chunk({ reasoning_details: [{ type: "reasoning.text", text: "a", index }] })),
      ),
  },
  "encrypted reasoning details without calls": {
    stream: (n) =>
      streamed(
        ...times(n, (at) =>
          chunk({
            reasoning_details: [
              { type: "reasoning.encrypted", data: "A", format: "google-gemini-v1", id: `c${at}` },
            ],
          }),
        ),
        ...times(n, (at) => chunk({ tool_calls: [call(n - at, "{}")] })),
      ),
  },
  annotations: {
    whole: (n) => message({ annotations: times(n, () => citation) }),
    stream: (n) =>
      streamed(chunk({ content: "word" }), ...times(n, () => chunk({ annotations: [citation] }))),
  },
  "annotations of an unknown type": {
    stream: (n) =>
      streamed(chunk({ content: "word" }), ...times(n, () => chunk({ annotations: [{ type: "other" }] }))),
  },
  "log probabilities": {
    stream: (n) =>
      streamed(
        ...times(n, () =>
          event({
            choices: [
              { index: 0, delta: { content: "a" }, logprobs: { content: [logprob] }, finish_reason: null },
            ],
          }),
        ),
      ),
  },
  "log probabilities ahead of the text": {
    stream: (n) =>
      streamed(
        ...times(n, () =>
          event({
            choices: [{ index: 0, delta: {}, logprobs: { content: [logprob] }, finish_reason: null }],
          }),
        ),
        chunk({ content: "a".repeat(n) }),
      ),
  },
  images: {
    whole: (n) =>
      message({
        images: times(n, () => ({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } })),
      }),
  },
  choices: {
    whole: (n) => ({
      choices: times(n, (index) => ({
        index,
        message: { role: "assistant", content: "a" },
        finish_reason: "stop",
      })),
      usage: USAGE,
    }),
  },
  "parts of a text": { whole: (n) => message({ content: times(n, () => ({ type: "text", text: "a" })) }) },
  "unknown fields": {
    whole: (n) => message(members(n, () => 1)),
    stream: (n) => streamed(chunk({ content: "a", ...members(n, () => 1) })),
  },
  "reasons of an error": {
    whole: (n) => ({
      error: { message: "No.", code: 400, details: times(n, () => ({ reason: "rate_limit" })) },
    }),
  },
  "words of an error": {
    whole: (n) => ({ error: { message: "maximum context length is 1 requested ".repeat(n), code: 400 } }),
  },
};

// --- OpenAI responses

let sequence = 0;
const typed = (type: string, fields: Body): string => named({ type, sequence_number: sequence++, ...fields });
const textItem = (parts: readonly Body[], id = "msg_1"): Body => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: parts,
});
const outputText = (fields: Body = {}): Body => ({
  type: "output_text",
  text: "Well.",
  annotations: [],
  ...fields,
});
const RESPONSES_USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const response = (output: readonly Body[]): Body => ({
  id: "r",
  object: "response",
  status: "completed",
  output,
  usage: RESPONSES_USAGE,
});
const responded = (...events: readonly string[]): readonly string[] => [
  typed("response.created", { response: { ...response([]), status: "in_progress" } }),
  ...events,
  typed("response.completed", { response: response([]) }),
];
const inText = (...events: readonly string[]): readonly string[] =>
  responded(
    typed("response.output_item.added", {
      output_index: 0,
      item: { ...textItem([]), status: "in_progress" },
    }),
    typed("response.content_part.added", {
      output_index: 0,
      content_index: 0,
      part: outputText({ text: "" }),
    }),
    ...events,
    typed("response.output_item.done", { output_index: 0, item: textItem([outputText()]) }),
  );
const textDelta = (fields: Body = {}): string =>
  typed("response.output_text.delta", { output_index: 0, content_index: 0, delta: "word ", ...fields });
const annotation: Body = {
  type: "url_citation",
  url: "https://a.b",
  title: "A",
  start_index: 0,
  end_index: 1,
};
const callItem = (at: number): Body => ({
  type: "function_call",
  id: `fc_${at}`,
  call_id: `c${at}`,
  name: "look_up",
  arguments: "{}",
  status: "completed",
});
const summary: Body = { type: "summary_text", text: "So." };

const RESPONSES: Dimensions = {
  "pieces of text": { stream: (n) => inText(...times(n, () => textDelta())) },
  "pieces of text without a number": {
    stream: (n) =>
      inText(
        ...times(n, () => named({ type: "response.output_text.delta", output_index: 0, delta: "word " })),
      ),
  },
  "pieces of text that differ in turn, in one piece": {
    stream: (n) => [
      inText(
        ...times(n, (at) =>
          at % 2 === 0
            ? textDelta()
            : named({ type: "response.output_text.delta", output_index: 0, delta: "word " }),
        ),
      ).join(""),
    ],
  },
  "log probabilities": {
    stream: (n) => inText(...times(n, () => textDelta({ delta: "a", logprobs: [logprob] }))),
  },
  annotations: {
    whole: (n) => response([textItem([outputText({ annotations: times(n, () => annotation) })])]),
    stream: (n) =>
      inText(
        ...times(n, (annotation_index) =>
          typed("response.output_text.annotation.added", {
            output_index: 0,
            content_index: 0,
            annotation_index,
            annotation,
          }),
        ),
      ),
  },
  "parts of a message": { whole: (n) => response([textItem(times(n, () => outputText()))]) },
  messages: { whole: (n) => response(times(n, (at) => textItem([outputText()], `msg_${at}`))) },
  calls: {
    whole: (n) => response(times(n, callItem)),
    stream: (n) =>
      responded(
        ...times(n, (at) => [
          typed("response.output_item.added", { output_index: at, item: { ...callItem(at), arguments: "" } }),
          typed("response.output_item.done", { output_index: at, item: callItem(at) }),
        ]).flat(),
      ),
  },
  "calls that are open together": {
    stream: (n) =>
      responded(
        ...times(n, (at) =>
          typed("response.output_item.added", { output_index: at, item: { ...callItem(at), arguments: "" } }),
        ),
        ...times(n, (at) =>
          typed("response.function_call_arguments.delta", { output_index: at, delta: "{}" }),
        ),
        ...times(n, (at) => typed("response.output_item.done", { output_index: at, item: callItem(at) })),
      ),
  },
  "summaries of reasoning": {
    whole: (n) =>
      response([
        { type: "reasoning", id: "rs_1", summary: times(n, () => summary) },
        textItem([outputText()]),
      ]),
  },
  "items of reasoning": {
    whole: (n) =>
      response([
        ...times(n, (at) => ({ type: "reasoning", id: `rs_${at}`, summary: [], encrypted_content: "A" })),
        textItem([outputText()]),
      ]),
  },
  "items of an unknown type": { whole: (n) => response(times(n, () => ({ type: "hologram" }))) },
};

// --- Anthropic

const block = (type: string, fields: Body): string => named({ type, index: 0, ...fields });
const MESSAGES_USAGE = { input_tokens: 10, output_tokens: 5 };
const messaged = (...events: readonly string[]): readonly string[] => [
  named({
    type: "message_start",
    message: { id: "m", type: "message", role: "assistant", content: [], usage: MESSAGES_USAGE },
  }),
  ...events,
  named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
  named({ type: "message_stop" }),
];
const inBlock = (content_block: Body, ...events: readonly string[]): readonly string[] =>
  messaged(block("content_block_start", { content_block }), ...events, block("content_block_stop", {}));
const delta = (of: Body): string => block("content_block_delta", { delta: of });
const anthropic = (content: readonly Body[]): Body => ({
  id: "m",
  type: "message",
  role: "assistant",
  content,
  stop_reason: "end_turn",
  usage: MESSAGES_USAGE,
});
const blocks = (n: number, make: (at: number) => Body): readonly string[] =>
  messaged(
    ...times(n, (index) => [
      named({ type: "content_block_start", index, content_block: make(index) }),
      named({ type: "content_block_stop", index }),
    ]).flat(),
  );
const textBlock: Body = { type: "text", text: "" };
const webCitation: Body = {
  type: "web_search_result_location",
  url: "https://a.b",
  title: "A",
  cited_text: "a",
  encrypted_index: "A",
};

const MESSAGES: Dimensions = {
  "pieces of text": {
    stream: (n) => inBlock(textBlock, ...times(n, () => delta({ type: "text_delta", text: "word " }))),
  },
  "pieces of thinking": {
    stream: (n) =>
      inBlock(
        { type: "thinking", thinking: "", signature: "" },
        ...times(n, () => delta({ type: "thinking_delta", thinking: "word " })),
      ),
  },
  "pieces of a signature": {
    stream: (n) =>
      inBlock(
        { type: "thinking", thinking: "", signature: "" },
        ...times(n, () => delta({ type: "signature_delta", signature: "A" })),
      ),
  },
  "pieces of an input": {
    stream: (n) =>
      inBlock(
        { type: "tool_use", id: "t", name: "look_up", input: {} },
        ...times(n, () => delta({ type: "input_json_delta", partial_json: " " })),
      ),
  },
  "pieces of a block of another kind": {
    stream: (n) =>
      inBlock(
        { type: "server_tool_use", id: "s", name: "web_search", input: {} },
        ...times(n, () => delta({ type: "input_json_delta", partial_json: " " })),
      ),
  },
  citations: {
    whole: (n) => anthropic([{ type: "text", text: "a", citations: times(n, () => webCitation) }]),
    stream: (n) =>
      inBlock(textBlock, ...times(n, () => delta({ type: "citations_delta", citation: webCitation }))),
  },
  "text blocks": {
    whole: (n) => anthropic(times(n, () => ({ type: "text", text: "a" }))),
    stream: (n) => blocks(n, () => ({ type: "text", text: "a" })),
  },
  "tool uses": {
    whole: (n) =>
      anthropic(times(n, (at) => ({ type: "tool_use", id: `t${at}`, name: "look_up", input: {} }))),
    stream: (n) => blocks(n, (at) => ({ type: "tool_use", id: `t${at}`, name: "look_up", input: {} })),
  },
  "thinking blocks": {
    whole: (n) => anthropic(times(n, () => ({ type: "thinking", thinking: "a", signature: "A" }))),
    stream: (n) => blocks(n, () => ({ type: "thinking", thinking: "a", signature: "A" })),
  },
  "message deltas with fields of their own": {
    stream: (n) =>
      messaged(
        ...times(n, (at) =>
          named({
            type: "message_delta",
            delta: { [`f${at}`]: 1 },
            [`g${at}`]: 1,
            usage: { output_tokens: at },
          }),
        ),
      ),
  },
  "events of an unknown type": { stream: (n) => messaged(...times(n, () => named({ type: "hologram" }))) },
};

// --- Gemini

const gemini = (parts: readonly Body[], more: Body = {}): Body => ({
  candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP", ...more }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
});
const partly = (parts: readonly Body[], more: Body = {}): string =>
  event({ candidates: [{ index: 0, content: { parts }, ...more }] });
const GEMINI_END = event(gemini([{ text: "." }]));
const grounding = (n: number): Body => ({
  groundingMetadata: {
    groundingChunks: times(n, () => ({ web: { uri: "https://a.b", title: "A" } })),
    groundingSupports: times(n, (at) => ({
      segment: { startIndex: at, endIndex: at + 1, text: "b" },
      groundingChunkIndices: [at],
    })),
  },
});

const GEMINI: Dimensions = {
  "pieces of text": { stream: (n) => [...times(n, () => partly([{ text: "word " }])), GEMINI_END] },
  "parts of a text": { whole: (n) => gemini(times(n, () => ({ text: "a" }))) },
  "signed parts": { whole: (n) => gemini(times(n, () => ({ text: "a", thoughtSignature: "AAAA" }))) },
  thoughts: { whole: (n) => gemini([...times(n, () => ({ text: "a", thought: true })), { text: "a" }]) },
  "function calls": {
    whole: (n) => gemini(times(n, () => ({ functionCall: { name: "look_up", args: {} } }))),
    stream: (n) => [...times(n, () => partly([{ functionCall: { name: "look_up", args: {} } }])), GEMINI_END],
  },
  "pieces of a function call": {
    stream: (n) => [
      partly([{ functionCall: { name: "look_up", willContinue: true } }]),
      ...times(n, (at) =>
        partly([
          {
            functionCall: {
              willContinue: true,
              partialArgs: [{ jsonPath: `$.a[${at % 1000}]`, stringValue: "a" }],
            },
          },
        ]),
      ),
      GEMINI_END,
    ],
  },
  "sources of a text": {
    whole: (n) => gemini([{ text: "a".repeat(n * 4) }], grounding(n)),
    stream: (n) => [partly([{ text: "a".repeat(n * 4) }]), event(gemini([], grounding(n)))],
  },
  citations: {
    whole: (n) =>
      gemini([{ text: "ü".repeat(n * 4) }], {
        citationMetadata: {
          citationSources: times(n, (at) => ({ startIndex: at, endIndex: n, uri: "https://a.b" })),
        },
      }),
  },
  "log probabilities": {
    whole: (n) =>
      gemini([{ text: "a" }], {
        logprobsResult: {
          chosenCandidates: times(n, () => ({ token: "a", logProbability: -1 })),
          topCandidates: times(n, () => ({ candidates: [{ token: "a", logProbability: -1 }] })),
        },
      }),
  },
};

// --- Bedrock and Cohere

const converse = (content: readonly Body[]): Body => ({
  output: { message: { role: "assistant", content } },
  stopReason: "end_turn",
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
});
const framed = (...frames: readonly string[]): readonly string[] => [
  encodeEvent("messageStart", { role: "assistant" }),
  ...frames,
  encodeEvent("messageStop", { stopReason: "end_turn" }),
  encodeEvent("metadata", { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
];
const blockDelta = (of: Body): string =>
  encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: of });

const BEDROCK: Dimensions = {
  "pieces of text": { stream: (n) => framed(...times(n, () => blockDelta({ text: "word " }))) },
  "frames in one piece": {
    stream: (n) => [framed(...times(n, () => blockDelta({ text: "word " }))).join("")],
  },
  "pieces of the network": {
    stream: (n) => cut(framed(blockDelta({ text: "x".repeat(n * 20) })).join(""), n),
  },
  "pieces of reasoning": {
    stream: (n) => framed(...times(n, () => blockDelta({ reasoningContent: { text: "word " } }))),
  },
  "tool uses": {
    whole: (n) =>
      converse(times(n, (at) => ({ toolUse: { toolUseId: `t${at}`, name: "look_up", input: {} } }))),
    stream: (n) =>
      framed(
        ...times(n, (contentBlockIndex) => [
          encodeEvent("contentBlockStart", {
            contentBlockIndex,
            start: { toolUse: { toolUseId: `t${contentBlockIndex}`, name: "look_up" } },
          }),
          encodeEvent("contentBlockStop", { contentBlockIndex }),
        ]).flat(),
      ),
  },
  "text blocks": { whole: (n) => converse(times(n, () => ({ text: "a" }))) },
};

const cohered = (...events: readonly string[]): readonly string[] => [
  named({ type: "message-start", id: "m", delta: { message: { role: "assistant" } } }),
  ...events,
  named({
    type: "message-end",
    delta: { finish_reason: "COMPLETE", usage: { tokens: { input_tokens: 10, output_tokens: 5 } } },
  }),
];
const cohereCitation: Body = {
  start: 0,
  end: 1,
  text: "a",
  sources: [{ type: "document", id: "d", document: { title: "A" } }],
};

const COHERE: Dimensions = {
  "pieces of text": {
    stream: (n) =>
      cohered(
        ...times(n, () =>
          named({ type: "content-delta", index: 0, delta: { message: { content: { text: "word " } } } }),
        ),
      ),
  },
  "tool calls": {
    whole: (n) => ({
      message: {
        role: "assistant",
        tool_calls: times(n, (at) => ({
          id: `t${at}`,
          type: "function",
          function: { name: "look_up", arguments: "{}" },
        })),
      },
      finish_reason: "TOOL_CALL",
      usage: { tokens: { input_tokens: 10, output_tokens: 5 } },
    }),
  },
  citations: {
    stream: (n) =>
      cohered(
        named({ type: "content-delta", index: 0, delta: { message: { content: { text: "a" } } } }),
        ...times(n, (index) =>
          named({ type: "citation-start", index, delta: { message: { citations: cohereCitation } } }),
        ),
      ),
  },
};

const ALL: Readonly<Record<FormatName, Dimensions>> = {
  "openai-chat": CHAT,
  "openai-responses": RESPONSES,
  "anthropic-messages": MESSAGES,
  gemini: GEMINI,
  "bedrock-converse": BEDROCK,
  "cohere-chat": COHERE,
};

export const ANSWER_DIMENSIONS: readonly AnswerDimension[] = Object.entries(ALL).flatMap(
  ([format, dimensions]) =>
    Object.entries(dimensions).map(([name, { whole = null, stream = null }]) => ({
      format: format as FormatName,
      name,
      whole,
      stream,
    })),
);
