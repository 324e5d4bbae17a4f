import type { VendorFormat } from "./messages.ts";

/** A vendor's answer format. Events include the blank line that ends them. */
interface VendorAnswers {
  /** The body of an answer that is not streamed. */
  whole(text: string): object;
  /** The events before the first content. */
  opening(): string[];
  /** The event that carries one more piece of text. */
  content(text: string, turn: number): string;
  /** The events after the last content; `text` is all of it, `tokens` the number of pieces. */
  closing(text: string, tokens: number): string[];
}

const CREATED = 1770933892;
const PROMPT_TOKENS = 216;
const ANSWER_TOKENS = 72;
const PADDING = "aZ3kQ9xT7mB";

const CHAT_START = {
  id: "chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0",
  object: "chat.completion.chunk",
  created: CREATED,
  model: "gpt-4o-mini-2024-07-18",
  service_tier: "default",
  system_fingerprint: "fp_de604bd877",
};

const chat: VendorAnswers = {
  whole(text) {
    const message = { role: "assistant", content: text, refusal: null, annotations: [] };
    const { service_tier, system_fingerprint, ...start } = CHAT_START;
    return {
      ...start,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
      usage: chatUsage(ANSWER_TOKENS),
      service_tier,
      system_fingerprint,
    };
  },
  opening: () => [chatEvent({ role: "assistant", content: "", refusal: null }, null, 0)],
  content: (text, turn) => chatEvent({ content: text }, null, turn),
  closing: (_, tokens) => [
    chatEvent({}, "stop", 5),
    bare({ ...CHAT_START, choices: [], usage: chatUsage(tokens), obfuscation: "" }),
    "data: [DONE]\n\n",
  ],
};

function chatEvent(delta: object, finish: string | null, turn: number): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return bare({ ...CHAT_START, choices, usage: null, obfuscation: paddingOf(turn) });
}

function chatUsage(tokens: number): object {
  return {
    prompt_tokens: PROMPT_TOKENS,
    completion_tokens: tokens,
    total_tokens: PROMPT_TOKENS + tokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

const MESSAGE = {
  model: "claude-haiku-4-5-20251001",
  id: "msg_01QC4g3HwBThD4BaNtBckFDJ",
  type: "message",
  role: "assistant",
};

const messages: VendorAnswers = {
  whole: (text) => ({
    ...MESSAGE,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: messagesUsage(ANSWER_TOKENS),
  }),
  opening() {
    const begun = { content: [], stop_reason: null, stop_sequence: null, usage: messagesUsage(1) };
    return [
      named("message_start", { message: { ...MESSAGE, ...begun } }),
      named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      named("ping", {}),
    ];
  },
  content: (text) => named("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
  closing(_, tokens) {
    const delta = { stop_reason: "end_turn", stop_sequence: null };
    return [
      named("content_block_stop", { index: 0 }),
      named("message_delta", { delta, usage: { ...counted(), output_tokens: tokens } }),
      named("message_stop", {}),
    ];
  },
};

function messagesUsage(tokens: number): object {
  const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 };
  return { ...counted(), cache_creation, output_tokens: tokens, service_tier: "standard" };
}

function counted(): object {
  return { input_tokens: PROMPT_TOKENS, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
}

const RESPONSE = {
  id: "resp_0434d6d64b12b08900692f639dc53c819594ea97586113d73b",
  object: "response",
  created_at: CREATED,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: "gpt-5-codex",
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: "medium", summary: null },
  service_tier: "default",
  store: false,
  temperature: 1,
  text: { format: { type: "text" }, verbosity: "medium" },
  tool_choice: "auto",
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
};
const ITEM_ID = "msg_0434d6d64b12b08900692f639e0e4c8195a3c3ff6c0f7ad8be";
const PLACE = { item_id: ITEM_ID, output_index: 0, content_index: 0 };

const responses: VendorAnswers = {
  whole: (text) => completed(text, ANSWER_TOKENS),
  opening() {
    const response = { ...RESPONSE, status: "in_progress", output: [], usage: null };
    const item = { id: ITEM_ID, type: "message", status: "in_progress", content: [], role: "assistant" };
    return [
      named("response.created", { sequence_number: 0, response }),
      named("response.in_progress", { sequence_number: 1, response }),
      named("response.output_item.added", { sequence_number: 2, output_index: 0, item }),
      named("response.content_part.added", { sequence_number: 3, ...PLACE, part: outputText("") }),
    ];
  },
  content(delta, turn) {
    const padded = { delta, logprobs: [], obfuscation: paddingOf(turn) };
    return named("response.output_text.delta", { sequence_number: 4 + turn, ...PLACE, ...padded });
  },
  closing(text, tokens) {
    const next = 4 + tokens;
    return [
      named("response.output_text.done", { sequence_number: next, ...PLACE, text, logprobs: [] }),
      named("response.content_part.done", { sequence_number: next + 1, ...PLACE, part: outputText(text) }),
      named("response.output_item.done", { sequence_number: next + 2, output_index: 0, item: said(text) }),
      named("response.completed", { sequence_number: next + 3, response: completed(text, tokens) }),
    ];
  },
};

function completed(text: string, tokens: number): object {
  const usage = {
    input_tokens: PROMPT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: PROMPT_TOKENS + tokens,
  };
  return { ...RESPONSE, status: "completed", output: [said(text)], usage };
}

function said(text: string): object {
  return {
    id: ITEM_ID,
    type: "message",
    status: "completed",
    content: [outputText(text)],
    role: "assistant",
  };
}

function outputText(text: string): object {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

const gemini: VendorAnswers = {
  whole: (text) => generated(text, ANSWER_TOKENS, true),
  opening: () => [],
  content: (text, turn) => bare(generated(text, turn + 1, false)),
  closing: (_, tokens) => [bare(generated("", tokens, true))],
};

/** Gemini reports token counts in every chunk. */
function generated(text: string, tokens: number, isLast: boolean): object {
  const content = { parts: [{ text }], role: "model" };
  return {
    candidates: [{ content, ...(isLast ? { finishReason: "STOP" } : {}), index: 0 }],
    usageMetadata: {
      promptTokenCount: PROMPT_TOKENS,
      candidatesTokenCount: tokens,
      totalTokenCount: PROMPT_TOKENS + tokens,
      promptTokensDetails: [{ modality: "TEXT", tokenCount: PROMPT_TOKENS }],
    },
    modelVersion: "gemini-2.5-flash",
    responseId: "dX6LadKVC7SZ28oPr9yJoQs",
  };
}

function bare(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function named(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
}

function paddingOf(turn: number): string {
  return PADDING.slice(turn % PADDING.length);
}

/** The answer formats of the upstream. */
export const VENDOR_ANSWERS: Readonly<Record<VendorFormat, VendorAnswers>> = {
  chat,
  messages,
  responses,
  gemini,
};
