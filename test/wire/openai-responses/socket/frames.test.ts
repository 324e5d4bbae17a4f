import { describe, expect, test } from "bun:test";
import { failureOf } from "../../../../src/base/failures/errors.ts";
import { EventSplitter } from "../../../../src/base/sse/split-events.ts";
import { RESPONSES } from "../../../../src/wire/client-apis/responses-request.ts";
import { answerWarmUp } from "../../../../src/wire/openai-responses/socket/answer-warm-up.ts";
import { encodeErrorFrame } from "../../../../src/wire/openai-responses/socket/encode-error-frame.ts";
import { FrameEvents } from "../../../../src/wire/openai-responses/socket/frame-events.ts";
import { isAcknowledgement, readFrame } from "../../../../src/wire/openai-responses/socket/read-frame.ts";

const CREATE = { type: "response.create", model: "acme/model", input: "Hi" };
const read = (frame: unknown) =>
  readFrame(Buffer.from(typeof frame === "string" ? frame : JSON.stringify(frame)));

/** Returns the field that a rejection names. */
function rejectedField(frame: unknown): unknown {
  try {
    read(frame).readBody(null);
  } catch (error) {
    const { code, metadata } = failureOf(error);
    expect(code).toBe("invalid_request");
    return metadata?.["field"];
  }
  return "nothing was rejected";
}

describe("a frame that asks for a response", () => {
  test("is the body of a streamed request in place of its type", () => {
    expect(read(CREATE).readBody(null).toString()).toBe('{"stream":true,"model":"acme/model","input":"Hi"}');
  });

  test("of Codex is accepted with what it sends besides", () => {
    const more = { stream: true, generate: false, store: false, client_metadata: { turn: "1" } };
    const frame = read({ ...CREATE, ...more, previous_response_id: "gen_1", stream_id: "main" });
    expect([frame.isWarmUp, frame.previousId, frame.streamId]).toEqual([true, "gen_1", "main"]);
    const earlier = [Buffer.from('{"role":"user","content":"one"}')];
    expect(JSON.parse(frame.readBody(earlier).toString())).toEqual({
      stream: true,
      model: "acme/model",
      input: [
        { role: "user", content: "one" },
        { type: "message", role: "user", content: "Hi" },
      ],
      store: false,
      client_metadata: { turn: "1" },
    });
  });

  test("may have the fields of HTTP with the values that change nothing", () => {
    const frame = read({ ...CREATE, stream: null, stream_options: null, background: false, generate: true });
    expect([frame.isWarmUp, JSON.parse(frame.readBody(null).toString())]).toEqual([
      false,
      { stream: true, model: "acme/model", input: "Hi" },
    ]);
  });

  test.each([
    ["no type", { type: undefined }, "type"],
    ["another type", { type: "response.cancel" }, "type"],
    ["an answer in one piece", { stream: false }, "stream"],
    ["options of a stream", { stream_options: { include_usage: true } }, "stream_options"],
    ["a background response", { background: true }, "background"],
    ["a number for generate", { generate: 0 }, "generate"],
    ["an empty name of a stream", { stream_id: "" }, "stream_id"],
    ["a name of a stream with a space", { stream_id: "a b" }, "stream_id"],
    ["a number for the previous response", { previous_response_id: 7 }, "previous_response_id"],
  ])("is rejected with %s", (_, fields, field) => {
    expect(rejectedField({ ...CREATE, ...fields })).toBe(field);
  });

  test("is rejected if it is not a JSON object", () => {
    expect(["[]", "7", "{", ""].map(rejectedField)).toEqual(["body", "body", undefined, undefined]);
  });
});

test("an acknowledgement is told from other frames without parsing long ones", () => {
  expect(isAcknowledgement('{"type":"response.processed","response_id":"gen_1"}')).toBe(true);
  expect(isAcknowledgement('{"type":"response.create","input":"response.processed"}')).toBe(false);
  expect(isAcknowledgement(`{"type":"response.processed","x":"${"x".repeat(2_000)}"}`)).toBe(false);
  expect(isAcknowledgement("response.processed")).toBe(false);
  expect(isAcknowledgement("null response.processed")).toBe(false);
});

/** Returns the frames for a stream, and the events that made them. */
function framesOf(sse: string, frame: unknown = CREATE) {
  const events = new FrameEvents(read(frame));
  const texts = new EventSplitter(10_000).push(sse).map((event) => events.read(event));
  return { frames: texts.map((text) => JSON.parse(text)), texts, end: events.end };
}

const event = (type: string, fields: object) =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`).toString("latin1");

describe("the frames of an answer", () => {
  const text = event("response.output_text.delta", { delta: "ü" });
  const response = { id: "gen_2", previous_response_id: null, output: [{ a: "é" }, { b: 1 }] };

  test("are its events as they came", () => {
    const { texts, end } = framesOf(`${text}: keep-alive\n\n${text}`);
    expect([texts, end]).toEqual([Array(2).fill('{"type":"response.output_text.delta","delta":"ü"}'), null]);
  });

  test("name the response that is continued, and the stream that the client named", () => {
    const frame = { ...CREATE, previous_response_id: 'gen_"1', stream_id: "main" };
    const { frames } = framesOf(event("response.created", { response }) + text, frame);
    expect(frames).toEqual([
      {
        stream_id: "main",
        type: "response.created",
        response: { ...response, previous_response_id: 'gen_"1' },
      },
      { stream_id: "main", type: "response.output_text.delta", delta: "ü" },
    ]);
  });

  test.each(["response.completed", "response.incomplete"])("tell what the answer of %s has added", (type) => {
    const { end } = framesOf(event(type, { response }));
    expect([end?.id, end?.output?.toString()]).toEqual(["gen_2", '{"a":"é"},{"b":1}']);
  });

  test.each([
    [true, true],
    [false, false],
    [undefined, false],
  ])("of a response with store: %p tell whether it is stored: %p", (store, isStored) => {
    expect(framesOf(event("response.completed", { response: { ...response, store } })).end).toMatchObject({
      isStored,
    });
  });

  test("tell that a failed response cannot be continued", () => {
    expect(framesOf(event("response.failed", { response })).end).toEqual({
      id: "gen_2",
      output: null,
      isStored: false,
    });
  });
});

test("a response without a model has the events of every response, and no output", () => {
  const { frames, end } = framesOf(answerWarmUp({ id: "resp_1", model: "acme/model", createdAt: 7 }));
  expect(frames.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.completed",
  ]);
  expect(frames[2]?.response).toMatchObject({
    id: "resp_1",
    status: "completed",
    output: [],
    usage: { total_tokens: 0 },
  });
  expect([end?.id, end?.output?.length]).toEqual(["resp_1", 0]);
});

describe("the frame of an error", () => {
  const encode = (code: "rate_limit_exceeded" | "conflict", streamId: string | null = null) => {
    const failure = { code, message: "Wait.", metadata: { field: "input" } } as const;
    const body = RESPONSES.encodeError?.(failure, { requestId: "req_1", status: 429 }) ?? {};
    return JSON.parse(encodeErrorFrame(body, { status: 429, headers: { "retry-after": "7" }, streamId }));
  };

  test("has its status, the error and the headers", () => {
    expect(encode("rate_limit_exceeded")).toEqual({
      type: "error",
      status: 429,
      error: {
        message: "Wait.",
        type: "rate_limit_error",
        code: "rate_limit_exceeded",
        param: "input",
        status: 429,
        metadata: { field: "input" },
      },
      headers: { "retry-after": "7" },
    });
  });

  test("has the gateway's code where OpenAI has none, and the name of the stream", () => {
    expect(encode("conflict", "main")).toMatchObject({ stream_id: "main", error: { code: "server_error" } });
    const body = { error: { code: null }, error_type: "invalid_request" };
    const frame = encodeErrorFrame(body, { status: 400, headers: {}, streamId: null });
    expect(JSON.parse(frame)).toMatchObject({ error: { code: "invalid_request" } });
  });
});
