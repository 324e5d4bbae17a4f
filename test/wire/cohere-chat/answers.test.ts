import { describe, expect, test } from "bun:test";
import { asFields, type Fields } from "../../../src/base/json/fields.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import { cohereChat } from "../../../src/wire/cohere-chat/codec.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { checkEvents, readPieces } from "../../support/vendors/answer-events.ts";
import { readAnswers, readLines } from "../../support/vendors/recordings.ts";

const FOLDER = "cohere";

function decode(body: Fields): Answer {
  const decoding = cohereChat.decodeAnswer(body);
  if (decoding.kind === "error") throw new Error(decoding.error.message);
  return decoding.answer;
}

/** Encodes events as Cohere sends them, with their names, bytes as Latin-1. */
function frame(...events: Fields[]): string {
  const text = events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return Buffer.from(text).toString("latin1");
}

function read(...pieces: string[]): AnswerEvent[] {
  return readPieces(cohereChat.createReader(), pieces);
}

function errorOf(events: readonly AnswerEvent[]) {
  const last = events.at(-1);
  return last?.kind === "error" ? last.error : null;
}

function answer(message: Fields, rest: Fields = {}): Fields {
  return { id: "x", message: { role: "assistant", ...message }, finish_reason: "COMPLETE", ...rest };
}

const message = (fields: Fields) => ({ delta: { message: fields } });
const say = (text: string, index = 0) => ({
  type: "content-delta",
  index,
  ...message({ content: { text } }),
});
const think = (thinking: string) => ({
  type: "content-delta",
  index: 0,
  ...message({ content: { thinking } }),
});
const end = (finish_reason: string, rest: Fields = {}) => ({
  type: "message-end",
  delta: { finish_reason, ...rest },
});
const startCall = (args: string, index = 0) => ({
  type: "tool-call-start",
  index,
  ...message({
    tool_calls: { id: `c${index}`, type: "function", function: { name: "now", arguments: args } },
  }),
});
const growCall = (args: string, index = 0) => ({
  type: "tool-call-delta",
  index,
  ...message({ tool_calls: { function: { arguments: args } } }),
});

function argumentsOf(answered: Answer): string[] {
  return (answered.choices[0]?.parts ?? []).flatMap((part) =>
    part.kind === "tool-call" ? [part.arguments] : [],
  );
}

describe("a recorded Cohere answer", () => {
  const answers = readAnswers(FOLDER).filter(({ text }) => text.includes('"message"'));
  const streams = readLines(FOLDER).map(
    ({ name, text }) =>
      [
        name,
        text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map((line) => JSON.parse(line) as Fields),
      ] as const,
  );

  test.each(answers.map(({ name, text }) => [name, JSON.parse(text) as Fields] as const))(
    "is decoded completely: %s",
    (_, body) => {
      const message = asFields(body["message"]) as Fields;
      const { choices, usage } = decode(body);
      const parts = choices[0]?.parts ?? [];
      const content = (message["content"] ?? []) as Fields[];
      expect(parts.flatMap((part) => (part.kind === "text" ? [part.text] : []))).toEqual(
        content.flatMap((item) => (item["text"] ? [item["text"] as string] : [])),
      );
      expect(parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : []))).toEqual(
        [message["tool_plan"], ...content.map((item) => item["thinking"])].filter(
          (text) => typeof text === "string",
        ),
      );
      expect(argumentsOf(decode(body))).toHaveLength(((message["tool_calls"] ?? []) as Fields[]).length);
      for (const json of argumentsOf(decode(body))) expect(JSON.parse(json)).toBeObject();
      expect(choices[0]?.finish.native).toBe(body["finish_reason"] as string);
      expect(usage?.promptTokens).toBe(
        asFields(asFields(body["usage"])?.["billed_units"])?.["input_tokens"] as number,
      );
    },
  );

  test.each(streams)("has valid events if it is streamed, in one piece and byte by byte: %s", (_, events) => {
    const bytes = frame(...events);
    const whole = read(bytes);
    checkEvents(whole);
    expect(read(...bytes)).toEqual(whole);
    expect(read(bytes.replaceAll("\n", "\r\n"))).toEqual(whole);
  });

  test.each(streams)("has the text and calls of its recorded events if it is streamed: %s", (_, events) => {
    const messages = events.map((event) => asFields(asFields(event["delta"])?.["message"]) ?? {});
    const join = (pick: (fields: Fields) => unknown) => messages.map((fields) => pick(fields) ?? "").join("");
    const answered = collectAnswer(read(frame(...events)));
    const parts = answered.choices[0]?.parts ?? [];
    expect(parts.map((part) => (part.kind === "text" ? part.text : "")).join("")).toBe(
      join((fields) => asFields(fields["content"])?.["text"]),
    );
    expect(parts.map((part) => (part.kind === "reasoning" ? part.text : "")).join("")).toBe(
      join((fields) => asFields(fields["content"])?.["thinking"]) + join((fields) => fields["tool_plan"]),
    );
    const args = join((fields) => asFields(asFields(fields["tool_calls"])?.["function"])?.["arguments"]);
    expect(argumentsOf(answered).join("")).toBe(
      args === "" && argumentsOf(answered).length > 0 ? "{}" : args,
    );
    expect(answered.usage?.completionTokens).toBeGreaterThan(0);
  });
});

describe("a Cohere answer", () => {
  test.each([
    ["COMPLETE", "stop"],
    ["STOP_SEQUENCE", "stop-sequence"],
    ["MAX_TOKENS", "length"],
    ["TOOL_CALL", "tool-calls"],
    ["AN_UNKNOWN_REASON", "stop"],
  ] as const)("that ends with %s has finished with %s, whole and streamed", (native, reason) => {
    const finish = { reason, native, stopSequence: null };
    expect(
      decode(answer({ content: [{ type: "text", text: "x" }] }, { finish_reason: native })).choices[0]
        ?.finish,
    ).toEqual(finish);
    expect(collectAnswer(read(frame(say("x"), end(native)))).choices[0]?.finish).toEqual(finish);
  });

  test.each([
    ["ERROR", { error: "The model broke." }, "failed", "The model broke."],
    ["ERROR", {}, "failed", 'the upstream ended the answer with "ERROR"'],
    ["TIMEOUT", {}, "overloaded", 'the upstream ended the answer with "TIMEOUT"'],
  ] as const)("that ends with %s and %j has failed, whole and streamed", (native, rest, meaning, words) => {
    const wanted = { meaning, message: words };
    expect(
      cohereChat.decodeAnswer(answer({ content: [] }, { finish_reason: native, ...rest })),
    ).toMatchObject({ kind: "error", error: wanted });
    const events = read(frame(say("x"), end(native, rest)));
    expect(errorOf(events)).toMatchObject(wanted);
    checkEvents(events);
  });

  test.each(["", "null", " null "])(
    "has an empty object for the arguments %j, whole and streamed",
    (args) => {
      const call = { id: "c", type: "function", function: { name: "now", arguments: args } };
      expect(argumentsOf(decode(answer({ tool_calls: [call] })))).toEqual(["{}"]);
      const streamed = read(
        frame(
          startCall(""),
          ...[...args].map((piece) => growCall(piece)),
          { type: "tool-call-end", index: 0 },
          end("TOOL_CALL"),
        ),
      );
      expect(argumentsOf(collectAnswer(streamed))).toEqual(["{}"]);
      expect(argumentsOf(collectAnswer(read(frame(startCall(args), end("TOOL_CALL")))))).toEqual(["{}"]);
    },
  );

  test("has several calls in order, even if the stream does not end them", () => {
    const events = read(
      frame(startCall("{"), growCall('"a":1}'), startCall('{"b"', 1), growCall(":2}", 1), end("COMPLETE")),
    );
    checkEvents(events);
    expect(argumentsOf(collectAnswer(events))).toEqual(['{"a":1}', '{"b":2}']);
    expect(collectAnswer(events).choices[0]?.finish.reason).toBe("tool-calls");
  });

  test("has its plan and its thinking as unsigned reasoning", () => {
    const body = answer({
      tool_plan: "I look.",
      content: [
        { type: "thinking", thinking: "Hm." },
        { type: "text", text: "Yes." },
      ],
    });
    const { parts } = decode(body).choices[0] as Answer["choices"][number];
    const reasoning = {
      kind: "reasoning",
      isSummary: false,
      signature: null,
      encrypted: null,
      id: null,
      origin: null,
    };
    expect(parts).toEqual([
      { ...reasoning, text: "I look." },
      { ...reasoning, text: "Hm." },
      { kind: "text", text: "Yes." },
    ] as never);
    const plan = { type: "tool-plan-delta", ...message({ tool_plan: "I look." }) };
    const streamed = read(
      frame(plan, think("Hm."), { type: "content-end", index: 0 }, say("Yes.", 1), end("COMPLETE")),
    );
    expect(collectAnswer(streamed).choices[0]?.parts).toEqual(parts);
  });

  const cited = (sources: Fields[], rest: Fields = {}) => ({
    start: 0,
    end: 3,
    text: "Yes",
    sources,
    type: "TEXT_CONTENT",
    ...rest,
  });
  const source = {
    type: "document",
    id: "doc:0",
    document: { id: "doc:0", title: "A", url: "https://example.com/a" },
  };
  const citation = { url: "https://example.com/a", title: "A", text: "Yes", start: 0, end: 3 };

  test("has a citation for each source, even if it follows the end of the text", () => {
    const citations = [cited([source, { type: "tool", id: "call:0" }])];
    const [whole] =
      decode(answer({ content: [{ type: "text", text: "Yes." }], citations })).choices[0]?.parts ?? [];
    expect(whole).toMatchObject({
      kind: "text",
      text: "Yes.",
      citations: [citation, { url: null, title: "call:0" }],
    });
    const events = read(
      frame(
        say("Yes."),
        { type: "content-end", index: 0 },
        { type: "citation-start", index: 0, ...message({ citations: citations[0] }) },
        { type: "citation-end", index: 0 },
        end("COMPLETE"),
      ),
    );
    checkEvents(events);
    expect(collectAnswer(events).choices[0]?.parts).toEqual([whole as never]);
  });

  test("has citations on the cited content only, and not on its plan", () => {
    const content = [
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "No." },
      { type: "text", text: "Yes." },
    ];
    const citations = [cited([source], { content_index: 2 }), cited([source], { type: "PLAN" })];
    const parts = decode(answer({ content, citations })).choices[0]?.parts ?? [];
    expect(parts.map((part) => (part.kind === "text" ? (part.citations?.length ?? 0) : 0))).toEqual([
      0, 0, 1,
    ]);
  });

  test.each([
    [
      "the billed tokens",
      {
        billed_units: { input_tokens: 119, output_tokens: 44 },
        tokens: { input_tokens: 1_549, output_tokens: 95 },
      },
      119,
      44,
      0,
    ],
    [
      "the tokens that the model read, if none are billed",
      { tokens: { input_tokens: 1_549, output_tokens: 95 } },
      1_549,
      95,
      0,
    ],
    [
      "cached tokens beyond what Cohere added",
      {
        billed_units: { input_tokens: 119, output_tokens: 44 },
        tokens: { input_tokens: 1_549, output_tokens: 95 },
        cached_tokens: 1_504,
      },
      119,
      44,
      74,
    ],
    [
      "no cached tokens within what Cohere added",
      {
        billed_units: { input_tokens: 12, output_tokens: 7 },
        tokens: { input_tokens: 507, output_tokens: 10 },
        cached_tokens: 448,
      },
      12,
      7,
      0,
    ],
  ] as const)("counts %s", (_, usage, promptTokens, completionTokens, cachedTokens) => {
    const wanted = { ...NO_TOKENS, promptTokens, completionTokens, cachedTokens };
    expect(decode(answer({}, { usage })).usage).toEqual(wanted);
    expect(collectAnswer(read(frame(end("COMPLETE", { usage })))).usage).toEqual(wanted);
  });

  test("has log probabilities in OpenAI's form, whole and streamed", () => {
    const item = { token_ids: [1, 2], text: "Yé", logprobs: [-0.25, -0.5] };
    const wanted = { content: [{ token: "Yé", logprob: -0.75, bytes: [89, 195, 169], top_logprobs: [] }] };
    expect(decode(answer({}, { logprobs: [item] })).choices[0]?.logprobs).toEqual(wanted);
    expect(
      collectAnswer(read(frame({ ...say("Yé"), logprobs: item }, end("COMPLETE")))).choices[0]?.logprobs,
    ).toEqual(wanted);
  });

  test.each([
    [{}, "the upstream's answer has no message"],
    [{ message: "too many requests" }, "too many requests"],
    [{ error: { message: "no" } }, "no"],
  ])("is not %j", (body, words) => {
    expect(cohereChat.decodeAnswer(body)).toMatchObject({ kind: "error", error: { message: words } });
  });
});

describe("a Cohere stream", () => {
  test("ends once, and ignores what follows its end", () => {
    const reader = cohereChat.createReader();
    const events = reader.step(frame(say("a"), end("COMPLETE"), say("b"), end("COMPLETE")));
    checkEvents(events);
    expect(reader.isDone).toBe(true);
    expect(reader.step(frame(say("c")))).toEqual([]);
    expect(reader.end()).toEqual([]);
    expect(collectAnswer(events).choices[0]?.parts).toEqual([{ kind: "text", text: "a" }]);
  });

  test("that breaks off has no finish, unless it lacks only the last blank line", () => {
    expect(read(frame(say("a"))).map((event) => event.kind)).toEqual(["part-start", "part-delta"]);
    checkEvents(read(frame(say("a"), end("COMPLETE")).trimEnd()));
  });

  test.each([
    ["an error", frame({ message: "internal server error" }), "internal server error"],
    ["invalid JSON", "event: content-delta\ndata: {\n\n", "an event of the upstream's stream is not JSON"],
  ])("with %s is a failure", (_, bytes, words) => {
    const reader = cohereChat.createReader();
    expect(errorOf([...reader.step(frame(say("a"))), ...reader.step(bytes)])).toMatchObject({
      message: words,
    });
    expect(reader.step(frame(say("b")))).toEqual([]);
  });

  test("is read by the names of its events if their data have no type", () => {
    const { type: _, ...data } = say("a");
    const events = read(`event: content-delta\ndata: ${JSON.stringify(data)}\n\n`, frame(end("COMPLETE")));
    expect(collectAnswer(events).choices[0]?.parts).toEqual([{ kind: "text", text: "a" }]);
  });

  test("ignores unknown events", () => {
    const events = read(
      ": hello\n\n",
      frame({ type: "debug", prompt: "p" }, say("grüß"), end("COMPLETE")),
      "data: [DONE]\n\n",
    );
    checkEvents(events);
    expect(collectAnswer(events).choices[0]?.parts).toEqual([{ kind: "text", text: "grüß" }]);
  });
});
