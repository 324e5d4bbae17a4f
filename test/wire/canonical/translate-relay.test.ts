import { describe, expect, test } from "bun:test";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { RelayIdentity } from "../../../src/wire/canonical/answer/relay.ts";
import {
  createWholeTranslation,
  TranslatedRelay,
} from "../../../src/wire/canonical/answer/translate-relay.ts";
import type { Answer, AnswerEvent, Finish } from "../../../src/wire/canonical/model/answer.ts";
import type {
  AnswerEnd,
  AnswerReader,
  AnswerWriter,
  AskedFor,
} from "../../../src/wire/canonical/model/format.ts";
import type { Part, ToolCallPart } from "../../../src/wire/canonical/model/parts.ts";
import { EMPTY_REQUEST } from "../../../src/wire/canonical/model/request.ts";
import { brokenAnswer } from "../../../src/wire/conversation/errors/vendor-error.ts";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";

const IDENTITY: RelayIdentity = {
  id: "gen",
  model: "acme/model",
  created: 1,
  originalIds: new Map([["sent", "client"]]),
  makeCallId: () => "made",
  onTurn: () => {},
};
const ASKED: AskedFor = {
  request: { ...EMPTY_REQUEST, messages: [] },
  wantsUsageChunk: false,
  estimatedPromptTokens: 0,
};
const END: AnswerEnd = {
  report: {
    usage: NO_TOKENS,
    cost: 0,
    upstreamInferenceCost: 0,
    upstreamPromptCost: 0,
    upstreamCompletionCost: 0,
    isByok: false,
  },
  metadata: null,
};

/** A reader whose pieces are indexes into `script`, a list of events for each piece. */
function scripted(
  script: readonly (readonly AnswerEvent[])[],
  atEnd: readonly AnswerEvent[] = [],
): AnswerReader {
  return {
    step: (piece) => script[Number(piece)] as AnswerEvent[],
    end: () => atEnd,
    isDone: false,
  };
}

/** A writer that records its calls. */
function recording() {
  const written: AnswerEvent[] = [];
  const writer: AnswerWriter = {
    step(event) {
      written.push(event);
      return "";
    },
    end: () => "end",
    fail: () => "fail",
  };
  return { written, writer };
}

const finish = (reason: Finish["reason"], choice = 0): AnswerEvent => ({
  kind: "finish",
  choice,
  finish: { reason, native: "word", stopSequence: null },
});
const call = (id: string, fields: Partial<ToolCallPart> = {}): Part => ({
  kind: "tool-call",
  id,
  name: "f",
  tool: "function",
  arguments: "",
  ...fields,
});
const start = (at: number, part: Part): AnswerEvent => ({ kind: "part-start", choice: 0, at, part });
const stop = (at: number): AnswerEvent => ({ kind: "part-end", choice: 0, at });
const say = (at: number, text: string): AnswerEvent => ({
  kind: "part-delta",
  choice: 0,
  at,
  delta: { kind: "text", text },
});
const TEXT: Part = { kind: "text", text: "" };

function run(...events: AnswerEvent[]) {
  const { written, writer } = recording();
  const relay = new TranslatedRelay(scripted([events]), writer, IDENTITY);
  relay.step("0");
  relay.end();
  return { relay, written, answer: collectAnswer(written) };
}

describe("a translated stream", () => {
  test("has unique calls with ids and arguments, and part indexes without gaps", () => {
    const { written, answer, relay } = run(
      start(0, call("sent")),
      start(1, call("sent")),
      { kind: "part-delta", choice: 0, at: 1, delta: { kind: "arguments", text: "{}" } },
      stop(1),
      start(2, call("")),
      { kind: "part-delta", choice: 0, at: 2, delta: { kind: "arguments", text: '{"a":1}' } },
      start(3, call("free", { tool: "custom" })),
      finish("stop"),
    );
    expect(answer.choices[0]?.parts).toEqual([
      call("client", { arguments: "{}" }),
      call("made", { arguments: '{"a":1}' }),
      call("free", { tool: "custom" }),
    ]);
    expect(written.filter(({ kind }) => kind === "part-end")).toHaveLength(3);
    expect(written.at(-1)?.kind).toBe("finish");
    expect(relay.finish()).toEqual({ client: "tool_calls", native: "word" });
  });

  test.each([
    ["stop", "tool_calls"],
    ["stop-sequence", "tool_calls"],
    ["length", "length"],
    ["content-filter", "content_filter"],
    ["refusal", "content_filter"],
  ] as const)("with tool calls and the finish reason %s ends with %s", (reason, word) => {
    expect(run(start(0, call("a")), finish(reason)).relay.finish()?.client).toBe(word);
  });

  test("finishes each choice once and emits nothing of the choice afterwards", () => {
    const { written } = run(
      start(0, TEXT),
      say(0, "a"),
      stop(0),
      finish("stop"),
      finish("length"),
      start(1, TEXT),
      say(1, "b"),
    );
    expect(written.map(({ kind }) => kind)).toEqual(["part-start", "part-delta", "part-end", "finish"]);
  });

  test("reports the last usage and counts the bytes of text", () => {
    const usage = { ...NO_TOKENS, completionTokens: 1 };
    const { relay } = run(
      { kind: "usage", usage },
      { kind: "usage", usage: { ...usage, completionTokens: 2 } },
      start(0, TEXT),
      say(0, "hé"),
      finish("stop"),
    );
    expect(relay.usage?.completionTokens).toBe(2);
    expect(relay.producedBytes).toBe(3);
    expect(relay.sawToken).toBe(true);
  });

  test("ends with the reader's error and ignores the events after it", () => {
    const error = brokenAnswer("gone");
    const { relay, written } = run({ kind: "error", error }, start(0, TEXT));
    expect(relay.error).toEqual(error);
    expect(relay.classifyEnd()).toBe("failed");
    expect(written).toEqual([]);
  });

  test("fails instead of throwing if a reader or writer throws", () => {
    const reader: AnswerReader = {
      step() {
        throw new RangeError("too deep");
      },
      end: () => [],
      isDone: false,
    };
    const relay = new TranslatedRelay(reader, recording().writer, IDENTITY);
    expect(relay.step("0")).toBe("");
    expect(relay.error?.meaning).toBe("failed");
    expect(relay.step("0") + relay.end()).toBe("");
  });

  test("fails for an answer that is larger than its bound", () => {
    const relay = new TranslatedRelay(
      scripted([[start(0, TEXT), say(0, "1234")], [say(0, "5")]]),
      recording().writer,
      IDENTITY,
      4,
    );
    relay.step("0");
    expect(relay.error).toBeNull();
    relay.step("1");
    expect(relay.error?.message).toContain("4 bytes");
  });
});

describe("the classification", () => {
  const usage: AnswerEvent = { kind: "usage", usage: { ...NO_TOKENS, completionTokens: 9 } };
  const proof: Part = {
    kind: "reasoning",
    text: "",
    isSummary: false,
    signature: null,
    encrypted: "x",
    id: null,
    origin: null,
  };
  test.each([
    ["no events", [], "unfinished"],
    ["a text without a finish", [start(0, TEXT), say(0, "a")], "unfinished"],
    ["a part start without a finish", [start(0, TEXT)], "unfinished"],
    ["a finish without content", [finish("stop")], "empty"],
    ["a finish with encrypted reasoning only", [start(0, proof), stop(0), finish("stop")], "empty"],
    ["a finish without content but with counted tokens", [usage, finish("stop")], "empty"],
    ["a length finish without content", [finish("length")], "complete"],
    ["a text and a finish", [start(0, TEXT), say(0, "a"), finish("stop")], "complete"],
    [
      "a second choice without a finish",
      [start(0, TEXT), say(0, "a"), finish("stop"), { ...start(0, TEXT), choice: 1 } as AnswerEvent],
      "unfinished",
    ],
  ] as const)("of a stream with %s is %s", (_, events, ending) => {
    expect(run(...(events as readonly AnswerEvent[])).relay.classifyEnd()).toBe(ending);
  });

  test("includes a finish that the reader held back when the connection broke, and ignores the error of the break", () => {
    const { written, writer } = recording();
    const atEnd: AnswerEvent[] = [finish("stop"), { kind: "error", error: brokenAnswer("half an event") }];
    const relay = new TranslatedRelay(scripted([[start(0, TEXT), say(0, "a")]], atEnd), writer, IDENTITY);
    relay.step("0");
    expect(relay.classifyEnd()).toBe("complete");
    expect(relay.classifyEnd()).toBe("complete");
    expect(written.filter(({ kind }) => kind === "finish")).toHaveLength(1);
    expect(relay.encodeEnd(END)).toBe("end");
  });
});

describe("a translated whole answer", () => {
  const FINISH: Finish = { reason: "stop", native: "end_turn", stopSequence: null };
  const answerOf = (...parts: Part[]): Answer => ({
    choices: [{ index: 0, parts, finish: FINISH, logprobs: null }],
    usage: null,
    serviceTier: null,
  });
  const codec = { encodeAnswer: (answer: Answer) => ({ answer }) };
  const translate = (answer: Answer) =>
    createWholeTranslation({ kind: "answer", answer }, { codec, identity: IDENTITY, asked: ASKED });

  test("is corrected like a stream", () => {
    const whole = translate(answerOf({ kind: "text", text: "a" }, call("sent"), call("sent"), call("")));
    if (whole.kind === "error") throw new Error(whole.error.message);
    expect(whole.finish).toEqual({ client: "tool_calls", native: "end_turn" });
    expect(JSON.parse(whole.encode(END)).answer.choices[0].parts).toEqual([
      { kind: "text", text: "a" },
      call("client", { arguments: "{}" }),
      call("made", { arguments: "{}" }),
    ]);
  });

  test("is empty if it has no content and finished cleanly", () => {
    expect(translate(answerOf())).toMatchObject({ kind: "answer", isEmpty: true });
    expect(translate(answerOf({ kind: "text", text: "a" }))).toMatchObject({ isEmpty: false });
  });

  test("is an error if it has no choices or if its decoding failed", () => {
    expect(translate({ choices: [], usage: null, serviceTier: null }).kind).toBe("error");
    const error = brokenAnswer("gone");
    expect(
      createWholeTranslation({ kind: "error", error }, { codec, identity: IDENTITY, asked: ASKED }),
    ).toEqual({
      kind: "error",
      error,
    });
  });
});
