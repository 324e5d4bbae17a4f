import { expect } from "bun:test";
import { ERROR_STATUS, type ErrorCode } from "../../src/base/failures/errors.ts";
import { PROMPT } from "./two-vendors.ts";

/** Why an answer ended, independent of the API. */
export type ClientFinish = "stop" | "length" | "refusal";

/** An answer as a client of one API reads it. */
export interface ClientAnswer {
  readonly id: string;
  readonly model: string;
  readonly text: string;
  /** Names of the tools that were called. */
  readonly calls: readonly string[];
  /** A finish, an error with its gateway code (or the API's name for it), or `null` for no end. */
  readonly ending: { readonly finish: ClientFinish } | { readonly error: string } | null;
  /** `null` without one. */
  readonly usage: { readonly completion: number; readonly estimated: boolean } | null;
}

/** The requests of a client API, and functions that read its answers. */
export interface ClientApi {
  readonly name: "chat" | "responses" | "messages";
  readonly path: string;
  ask(model: string, stream: boolean): Readonly<Record<string, unknown>>;
  readStream(body: string): ClientAnswer;
  readDocument(body: string): ClientAnswer;
  /** Returns the body of an error with this code. */
  errorBody(code: ErrorCode): unknown;
  /** Returns the API's name for an error with this code in the middle of a stream. */
  streamErrorName(code: ErrorCode): string;
}

// biome-ignore lint/suspicious/noExplicitAny: what comes from the wire is looked into as it comes
type Json = any;

interface Sent {
  readonly name: string | null;
  readonly data: Json;
}

/** Parses the events of a stream; `[DONE]` stays text. */
function readEvents(body: string): Sent[] {
  const blocks = body.split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const match = /^(?:event: (.*)\n)?data: (.*)$/.exec(block);
    if (match === null) throw new Error(`no event: ${block}`);
    const data = match[2] as string;
    return { name: match[1] ?? null, data: data === "[DONE]" ? data : JSON.parse(data) };
  });
}

function only<T>(values: readonly T[]): T {
  expect(values).toHaveLength(1);
  return values[0] as T;
}

const messages = [{ role: "user", content: PROMPT }];
const CHAT_FINISHES: Record<string, ClientFinish> = {
  stop: "stop",
  length: "length",
  content_filter: "refusal",
};

const chat: ClientApi = {
  name: "chat",
  path: "/chat/completions",
  ask: (model, stream) => ({ model, stream, messages }),
  readStream(body) {
    const events = readEvents(body).map(({ data }) => data);
    const isDone = events.at(-1) === "[DONE]";
    const chunks = events.slice(0, -1);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: Json) => delta));
    const finishes = chunks.flatMap(({ choices }) => choices[0].finish_reason ?? []);
    // A success is a finish followed by [DONE]. An error is the last event.
    const error = isDone ? undefined : events.at(-1).error;
    expect(finishes).toHaveLength(error === undefined ? 1 : 0);
    if (error !== undefined) expect(Object.keys(events.at(-1))).toEqual(["error"]);
    return {
      id: only([...new Set(chunks.map(({ id }) => id))]),
      model: only([...new Set(chunks.map(({ model }) => model))]),
      text: deltas.map(({ content }) => content ?? "").join(""),
      calls: deltas.flatMap(({ tool_calls = [] }) =>
        tool_calls.flatMap((call: Json) => call.function.name ?? []),
      ),
      ending: error === undefined ? { finish: CHAT_FINISHES[finishes[0]]! } : { error: error.type },
      usage: readChatUsage(chunks.at(-1).usage),
    };
  },
  readDocument(body) {
    const { id, model, choices, usage } = JSON.parse(body);
    const { message, finish_reason } = only<Json>(choices);
    return {
      id,
      model,
      text: message.content,
      calls: [],
      ending: { finish: CHAT_FINISHES[finish_reason]! },
      usage: readChatUsage(usage),
    };
  },
  errorBody: (code) => ({
    error: {
      message: expect.any(String),
      code: ERROR_STATUS[code],
      type: code,
      metadata: expect.any(Object),
    },
    error_type: code,
  }),
  streamErrorName: (code) => code,
};

function readChatUsage(usage: Json): ClientAnswer["usage"] {
  return usage === undefined
    ? null
    : { completion: usage.completion_tokens, estimated: usage.estimated === true };
}

const MESSAGES_FINISHES: Record<string, ClientFinish> = {
  end_turn: "stop",
  max_tokens: "length",
  refusal: "refusal",
};
const MESSAGES_ERRORS: Partial<Record<ErrorCode, string>> = {
  invalid_request: "invalid_request_error",
  rate_limit_exceeded: "rate_limit_error",
  upstream_error: "api_error",
  unavailable: "overloaded_error",
};

const messagesApi: ClientApi = {
  name: "messages",
  path: "/messages",
  ask: (model, stream) => ({ model, stream, max_tokens: 100, messages }),
  readStream(body) {
    const events = readEvents(body);
    for (const { name, data } of events) expect(name).toBe(data.type);
    const ofType = (type: string) => events.filter(({ name }) => name === type).map(({ data }) => data);
    const { message } = only(ofType("message_start"));
    expect(message.usage.input_tokens).toBeGreaterThan(0);
    const [error] = ofType("error");
    const [last] = ofType("message_delta");
    expect(ofType("message_stop")).toHaveLength(error === undefined ? 1 : 0);
    expect(events.at(-1)?.name).toBe(error === undefined ? "message_stop" : "error");
    const ending = error === undefined ? finishOf(last) : { error: error.error.type };
    if (error !== undefined) expect(last).toBeUndefined();
    return {
      id: message.id,
      model: message.model,
      text: ofType("content_block_delta")
        .map(({ delta }) => delta.text ?? "")
        .join(""),
      calls: ofType("content_block_start").flatMap(({ content_block }) => content_block.name ?? []),
      ending,
      usage: last === undefined ? null : readMessagesUsage(last.usage),
    };
  },
  readDocument(body) {
    const answer = JSON.parse(body);
    return {
      id: answer.id,
      model: answer.model,
      text: answer.content.map(({ text }: Json) => text).join(""),
      calls: [],
      ending: { finish: MESSAGES_FINISHES[answer.stop_reason]! },
      usage: readMessagesUsage(answer.usage),
    };
  },
  errorBody: (code) => ({
    type: "error",
    error: {
      type: MESSAGES_ERRORS[code],
      message: expect.any(String),
      code: ERROR_STATUS[code],
      metadata: expect.any(Object),
    },
    error_type: code,
    request_id: expect.stringMatching(/^req_/),
  }),
  streamErrorName: (code) => MESSAGES_ERRORS[code] as string,
};

function finishOf({ delta }: Json): { readonly finish: ClientFinish } {
  return { finish: MESSAGES_FINISHES[delta.stop_reason]! };
}

function readMessagesUsage(usage: Json): ClientAnswer["usage"] {
  return { completion: usage.output_tokens, estimated: usage.estimated === true };
}

const RESPONSES_ERRORS: Partial<Record<ErrorCode, readonly [type: string, code: string | null]>> = {
  invalid_request: ["invalid_request_error", null],
  rate_limit_exceeded: ["rate_limit_error", "rate_limit_exceeded"],
  upstream_error: ["server_error", "server_error"],
  unavailable: ["server_error", "server_error"],
};

const responses: ClientApi = {
  name: "responses",
  path: "/responses",
  ask: (model, stream) => ({ model, stream, input: PROMPT }),
  readStream(body) {
    const events = readEvents(body);
    expect(events.pop()).toEqual({ name: null, data: "[DONE]" });
    for (const [index, { name, data }] of events.entries()) {
      expect([name, data.sequence_number]).toEqual([data.type, index]);
    }
    const last = events.at(-1)?.data;
    const terminal = events.filter(({ name }) =>
      /^response\.(completed|incomplete|failed)$/.test(name ?? ""),
    );
    expect(only(terminal).data).toBe(last);
    const added = events.filter(({ name }) => name === "response.output_item.added");
    const deltas = events.filter(({ name }) => name === "response.output_text.delta");
    const answer = readResponse(last.response);
    const text = deltas.map(({ data }) => data.delta).join("");
    if (last.response.status === "failed") {
      // The last event also contains the complete text.
      expect([answer.text, last.response.output.length]).toEqual([text, added.length]);
    }
    return {
      ...answer,
      text,
      calls: added.flatMap(({ data }) => data.item.name ?? []),
    };
  },
  readDocument: (body) => readResponse(JSON.parse(body)),
  errorBody(code) {
    const [type, word] = RESPONSES_ERRORS[code] ?? [];
    return {
      error: {
        message: expect.any(String),
        type,
        code: word,
        param: null,
        status: ERROR_STATUS[code],
        metadata: expect.any(Object),
      },
      error_type: code,
    };
  },
  streamErrorName: (code) => RESPONSES_ERRORS[code]?.[1] ?? "invalid_prompt",
};

const INCOMPLETE_REASONS: Record<string, ClientFinish> = {
  max_output_tokens: "length",
  content_filter: "refusal",
};

function readResponse(response: Json): ClientAnswer {
  const { id, model, status, error, usage, output, incomplete_details: cause } = response;
  const texts = output.flatMap(({ content = [] }: Json) => content.map(({ text }: Json) => text ?? ""));
  const finish = status === "completed" ? "stop" : INCOMPLETE_REASONS[cause?.reason];
  return {
    id,
    model,
    text: texts.join(""),
    calls: [],
    ending: status === "failed" ? { error: error.code } : { finish: finish as ClientFinish },
    usage: usage && { completion: usage.output_tokens, estimated: usage.estimated === true },
  };
}

/** Every API for conversations. */
export const CLIENT_APIS: readonly ClientApi[] = [chat, responses, messagesApi];
