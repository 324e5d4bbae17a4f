import { describe, expect, test } from "bun:test";
import { asFields, type Fields } from "../../../src/base/json/fields.ts";
import { bedrockConverse } from "../../../src/wire/bedrock-converse/codec.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { Answer, AnswerEvent } from "../../../src/wire/canonical/model/answer.ts";
import { REASONING_ORIGINS } from "../../../src/wire/canonical/model/parts.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import {
  encodeEvent,
  encodeException,
  encodeFrame,
  encodeLines,
} from "../../support/clients/event-frames.ts";
import { checkEvents, readPieces } from "../../support/vendors/answer-events.ts";
import { hasRecordings, readAnswers, readLines } from "../../support/vendors/recordings.ts";

const FOLDER = "amazon-bedrock";

function decode(body: Fields): Answer {
  const decoding = bedrockConverse.decodeAnswer(body);
  if (decoding.kind === "error") throw new Error(decoding.error.message);
  return decoding.answer;
}

function read(...pieces: string[]): AnswerEvent[] {
  return readPieces(bedrockConverse.createReader(), pieces);
}

function errorOf(events: readonly AnswerEvent[]) {
  const last = events.at(-1);
  return last?.kind === "error" ? last.error : null;
}

function answer(content: unknown[], rest: Fields = {}): Fields {
  return { output: { message: { role: "assistant", content } }, stopReason: "end_turn", ...rest };
}

const stop = (stopReason: string) => encodeEvent("messageStop", { stopReason });
const say = (text: string, contentBlockIndex = 0) =>
  encodeEvent("contentBlockDelta", { contentBlockIndex, delta: { text } });
const counted = encodeEvent("metadata", { usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } });

describe("a recorded Converse answer", () => {
  test.each(readAnswers(FOLDER).map(({ name, text }) => [name, text] as const))(
    "is decoded completely: %s",
    (_, text) => {
      const body = asFields(JSON.parse(text)) as Fields;
      const { choices, usage } = decode(body);
      const blocks = (asFields(asFields(body["output"])?.["message"])?.["content"] ?? []) as Fields[];
      const kinds = blocks.map((block) =>
        "text" in block ? "text" : "toolUse" in block ? "tool-call" : "reasoning",
      );
      expect(choices[0]?.parts.map((part) => part.kind as string)).toEqual(kinds);
      expect(choices[0]?.finish.native).toBe(body["stopReason"] as string);
      expect(usage?.promptTokens).toBe(asFields(body["usage"])?.["inputTokens"] as number);
      expect(usage?.completionTokens).toBe(asFields(body["usage"])?.["outputTokens"] as number);
    },
  );

  const streams = readLines(FOLDER);

  test.each(streams.map(({ name, text }) => [name, text] as const))(
    "has valid events if it is streamed, in one piece and byte by byte: %s",
    (_, text) => {
      const bytes = encodeLines(text);
      const whole = read(bytes);
      checkEvents(whole);
      expect(read(...bytes)).toEqual(whole);
    },
  );

  test.each(streams.map(({ name, text }) => [name, text] as const))(
    "has the text and calls of its recorded events if it is streamed: %s",
    (_, text) => {
      const lines = text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, Fields>);
      const deltas = lines.flatMap((line) => {
        const delta = asFields(line["contentBlockDelta"]?.["delta"]);
        return delta === null ? [] : [delta];
      });
      const { choices, usage } = collectAnswer(read(encodeLines(text)));
      const parts = choices[0]?.parts ?? [];
      const texts = parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      expect(texts).toBe(deltas.map((delta) => delta["text"] ?? "").join(""));
      const thought = parts.map((part) => (part.kind === "reasoning" ? part.text : "")).join("");
      expect(thought).toBe(
        deltas.map((delta) => asFields(delta["reasoningContent"])?.["text"] ?? "").join(""),
      );
      for (const part of parts)
        if (part.kind === "tool-call") expect(JSON.parse(part.arguments)).toBeObject();
      const counts = asFields(lines.find((line) => line["metadata"])?.["metadata"]?.["usage"]);
      expect(usage?.completionTokens ?? null).toBe((counts?.["outputTokens"] as number | undefined) ?? null);
    },
  );

  test.if(hasRecordings)("a signed thought keeps its signature, and whose it is", () => {
    const text = streams.find(({ name }) => name.includes("reasoning"))?.text ?? "";
    const [thought] = collectAnswer(read(encodeLines(text))).choices[0]?.parts ?? [];
    expect(thought).toMatchObject({ kind: "reasoning", origin: REASONING_ORIGINS.anthropic });
    expect(thought?.kind === "reasoning" && thought.signature).toStartWith("Ep0CCkgI");
  });

  test.if(hasRecordings)("a tool call without arguments has an empty object", () => {
    const text = streams.find(({ name }) => name.includes("no-args"))?.text ?? "";
    const { parts, finish } = collectAnswer(read(encodeLines(text))).choices[0] as Answer["choices"][number];
    expect(parts[1]).toMatchObject({ kind: "tool-call", name: "updateIssueList", arguments: "{}" });
    expect(finish.reason).toBe("tool-calls");
  });
});

describe("a Converse answer", () => {
  test.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop-sequence"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["tool_use", "tool-calls"],
    ["content_filtered", "content-filter"],
    ["guardrail_intervened", "content-filter"],
    ["refusal", "refusal"],
    ["an_unknown_reason", "stop"],
  ] as const)("that stops with %s has finished with %s, whole and streamed", (native, reason) => {
    const finish = { reason, native, stopSequence: null };
    expect(decode(answer([{ text: "x" }], { stopReason: native })).choices[0]?.finish).toEqual(finish);
    expect(collectAnswer(read(say("x"), stop(native))).choices[0]?.finish).toEqual(finish);
  });

  test.each(["malformed_model_output", "malformed_tool_use"])(
    "with the stop reason %s is a failure",
    (stopReason) => {
      expect(bedrockConverse.decodeAnswer(answer([{ text: "x" }], { stopReason }))).toMatchObject({
        kind: "error",
        error: { meaning: "failed" },
      });
      expect(errorOf(read(say("x"), stop(stopReason)))).toMatchObject({ meaning: "failed" });
    },
  );

  test("has the stop sequence if Claude reports it, whole and streamed", () => {
    const body = answer([{ text: "x" }], {
      stopReason: "stop_sequence",
      additionalModelResponseFields: { stop_sequence: "END" },
    });
    expect(decode(body).choices[0]?.finish.stopSequence).toBe("END");
    const event = {
      stopReason: "stop_sequence",
      additionalModelResponseFields: { delta: { stop_sequence: "END" } },
    };
    expect(
      collectAnswer(read(say("x"), encodeEvent("messageStop", event))).choices[0]?.finish.stopSequence,
    ).toBe("END");
  });

  test("includes tokens read from and written to the cache in the prompt", () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 1_015,
      cacheReadInputTokens: 600,
      cacheWriteInputTokens: 400,
      cacheDetails: [
        { inputTokens: 300, ttl: "1h" },
        { inputTokens: 100, ttl: "5m" },
      ],
    };
    const wanted = {
      ...NO_TOKENS,
      promptTokens: 1_010,
      completionTokens: 5,
      cachedTokens: 600,
      cacheWriteTokens: 400,
      cacheWrite1hTokens: 300,
    };
    expect(decode(answer([{ text: "x" }], { usage })).usage).toEqual(wanted);
    expect(collectAnswer(read(say("x"), stop("end_turn"), encodeEvent("metadata", { usage }))).usage).toEqual(
      wanted,
    );
  });

  test("has the service tier, whole and streamed", () => {
    const serviceTier = { type: "priority" };
    expect(decode(answer([{ text: "x" }], { serviceTier })).serviceTier).toBe("priority");
    expect(
      collectAnswer(read(say("x"), stop("end_turn"), encodeEvent("metadata", { serviceTier }))).serviceTier,
    ).toBe("priority");
  });

  test("has redacted reasoning that only Bedrock gets back, whole and streamed", () => {
    const block = { reasoningContent: { redactedContent: "cnNu" } };
    const [whole] = decode(answer([block])).choices[0]?.parts ?? [];
    const delta = encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: block });
    const [streamed] = collectAnswer(read(delta, stop("end_turn"))).choices[0]?.parts ?? [];
    expect(whole).toMatchObject({ kind: "reasoning", text: "", encrypted: "cnNu", signature: null });
    expect(streamed).toEqual(whole);
  });

  test("has the citations of its texts, whole and streamed", () => {
    const citation = {
      title: "report",
      sourceContent: [{ text: "the words" }],
      location: { documentPage: { documentIndex: 0, start: 1, end: 2 } },
    };
    const cited = { url: null, title: "report", text: "the words", start: null, end: null };
    const [whole] =
      decode(answer([{ citationsContent: { content: [{ text: "so it is" }], citations: [citation] } }]))
        .choices[0]?.parts ?? [];
    expect(whole).toMatchObject({ kind: "text", text: "so it is", citations: [cited] });
    const delta = encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { citation } });
    expect(collectAnswer(read(delta, say("so it is"), stop("end_turn"))).choices[0]?.parts).toEqual([
      whole as never,
    ]);
  });

  test.each([
    [{}, "failed"],
    [{ message: "Too many tokens, please wait" }, "failed"],
    [{ Output: { __type: "com.amazon.coral.service#UnknownOperationException" }, Version: "1.0" }, "failed"],
  ] as const)("%j is none", (body, meaning) => {
    expect(bedrockConverse.decodeAnswer(body)).toMatchObject({ kind: "error", error: { meaning } });
  });

  test("without content is a valid answer", () => {
    expect(decode(answer([])).choices[0]?.parts).toEqual([]);
  });

  test("keeps a block of an unknown kind", () => {
    const block = { somethingNew: { value: 1 } };
    expect(decode(answer([block])).choices[0]?.parts).toEqual([
      { kind: "native", format: "bedrock-converse", type: "somethingNew", value: block },
    ]);
  });
});

describe("a ConverseStream", () => {
  test("is done after stop and usage, in either order, and ignores what follows", () => {
    for (const pieces of [
      [stop("end_turn"), counted],
      [counted, stop("end_turn")],
    ]) {
      const reader = bedrockConverse.createReader();
      const events = [say("hello"), ...pieces].flatMap((piece) => {
        expect(reader.isDone).toBe(false);
        return reader.step(piece);
      });
      expect(reader.isDone).toBe(true);
      checkEvents(events);
      expect(reader.step(say("more") + stop("end_turn"))).toEqual([]);
      expect(reader.end()).toEqual([]);
    }
  });

  test("finishes once, and emits only usage after its finish", () => {
    const events = read(say("a"), stop("end_turn"), say("b"), stop("max_tokens"), counted);
    checkEvents(events);
    expect(events.at(-1)?.kind).toBe("usage");
    expect(collectAnswer(events).choices[0]?.parts).toEqual([{ kind: "text", text: "a" }]);
  });

  test("that breaks off has no finish", () => {
    expect(read(say("a")).map((event) => event.kind)).toEqual(["part-start", "part-delta"]);
    expect(read(say("a"), stop("end_turn").slice(0, -1)).some((event) => event.kind === "finish")).toBe(
      false,
    );
  });

  test.each([
    ["throttlingException", 429, "rate_limited"],
    ["ThrottlingException", 429, "rate_limited"],
    ["validationException", 400, "bad_request"],
    ["modelStreamErrorException", 424, "failed"],
    ["modelTimeoutException", 408, "failed"],
    ["internalServerException", 500, "failed"],
    ["serviceUnavailableException", 503, "overloaded"],
    ["accessDeniedException", 403, "key_refused"],
    ["anUnknownException", 500, "failed"],
  ] as const)("that ends with %s means %i, %s", (type, status, meaning) => {
    const events = read(say("a"), encodeException(type, { message: "Oh no." }) + say("b") + stop("end_turn"));
    expect(errorOf(events)).toMatchObject({ status, meaning, message: "Oh no." });
    checkEvents(events);
  });

  test("that ends with a model's error has the model's message and status", () => {
    const body = {
      message: "Model Stream Error",
      originalStatusCode: 503,
      originalMessage: "The model is busy.",
    };
    expect(errorOf(read(encodeException("modelStreamErrorException", body)))).toMatchObject({
      status: 503,
      meaning: "overloaded",
      message: "The model is busy.",
    });
  });

  test("that ends with an error about a long prompt reports a context overflow", () => {
    const body = { message: "Input is too long for requested model." };
    expect(errorOf(read(encodeException("validationException", body)))).toMatchObject({
      meaning: "context_overflow",
    });
  });

  test("that ends with an error frame is a failure", () => {
    const headers = {
      ":message-type": "error",
      ":error-code": "internalServerException",
      ":error-message": "Gone.",
    };
    expect(errorOf(read(encodeFrame(headers, "")))).toMatchObject({ status: 500, message: "Gone." });
  });

  test.each([
    ["bytes that are not frames", "data: {}\n\ndata: [DONE]\n\n"],
    [
      "a frame that is not JSON",
      encodeFrame({ ":message-type": "event", ":event-type": "messageStop" }, "{"),
    ],
  ])("of %s is a failure", (_, bytes) => {
    const reader = bedrockConverse.createReader();
    expect(errorOf(reader.step(bytes))).toMatchObject({ meaning: "failed" });
    expect(reader.isDone).toBe(true);
    expect(reader.step(say("a"))).toEqual([]);
  });

  test("ignores unknown events, blocks and padding", () => {
    const events = read(
      encodeEvent("messageStart", { role: "assistant", p: "abc" }),
      encodeEvent("somethingNew", { contentBlockIndex: 0 }),
      encodeEvent("contentBlockStart", {
        contentBlockIndex: 0,
        start: { toolUse: { toolUseId: "s", name: "search", type: "server_tool_use" } },
      }),
      encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: "{}" } } }),
      encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
      say("grüß dich", 1),
      stop("end_turn"),
      counted,
    );
    checkEvents(events);
    const { parts, finish } = collectAnswer(events).choices[0] as Answer["choices"][number];
    expect(parts).toEqual([{ kind: "text", text: "grüß dich" }]);
    expect(finish.reason).toBe("stop");
  });
});
