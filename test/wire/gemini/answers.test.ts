import { describe, expect, test } from "bun:test";
import type { Fields } from "../../../src/base/json/fields.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import type { AnswerEvent, FinishReason } from "../../../src/wire/canonical/model/answer.ts";
import type { Part } from "../../../src/wire/canonical/model/parts.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";
import { encodeStream, readAll } from "./read-all.ts";

const candidate = (parts: readonly unknown[], rest: Fields = {}): Fields => ({
  content: { role: "model", parts },
  finishReason: "STOP",
  index: 0,
  ...rest,
});

/** Returns the parts of a candidate, read whole and as a stream with a chunk for each part; both must be equal. */
function partsOf(parts: readonly unknown[], rest: Fields = {}): readonly Part[] {
  const decoding = gemini.decodeAnswer({ candidates: [candidate(parts, rest)] });
  if (decoding.kind === "error") throw new Error(decoding.error.message);
  const chunks = parts.map((part) => ({ candidates: [{ content: { parts: [part] } }] }));
  const streamed = collectAnswer(readAll([encodeStream([...chunks, { candidates: [candidate([], rest)] }])]));
  expect(streamed).toEqual(decoding.answer);
  return decoding.answer.choices[0]?.parts ?? [];
}

const GEMINI = "google-gemini-v1";

describe("the parts of a Gemini answer", () => {
  test("have adjacent texts joined, and thoughts separate from them", () => {
    const thought = { isSummary: true, signature: null, encrypted: null, id: null, origin: GEMINI };
    expect(
      partsOf([{ text: "hm", thought: true }, { text: "m", thought: true }, { text: "a" }, { text: "b" }]),
    ).toEqual([
      { kind: "reasoning", text: "hmm", ...thought },
      { kind: "text", text: "ab" },
    ]);
  });

  test("keep their signatures, even if a signature follows its part", () => {
    const parts = partsOf([
      { text: "why", thought: true, thoughtSignature: "T" },
      { text: "a" },
      { text: "", thoughtSignature: "A" },
      { text: "b" },
      { functionCall: { id: "c1", name: "f", args: { x: 1 } }, thoughtSignature: "C" },
    ]);
    expect(parts).toMatchObject([
      { kind: "reasoning", text: "why", signature: "T", origin: GEMINI },
      { kind: "text", text: "a", signature: { value: "A", origin: GEMINI } },
      { kind: "text", text: "b" },
      {
        kind: "tool-call",
        id: "c1",
        name: "f",
        arguments: '{"x":1}',
        signature: { value: "C", origin: GEMINI },
      },
    ]);
    expect(parts[2]).not.toHaveProperty("signature");
  });

  test("have an empty id and an empty object for a call without id and arguments", () => {
    expect(partsOf([{ functionCall: { name: "f" } }])).toEqual([
      { kind: "tool-call", id: "", name: "f", tool: "function", arguments: "{}" },
    ]);
  });

  test("have the client's function names where these were escaped", () => {
    expect(partsOf([{ functionCall: { name: "gw.my.20group..do.2Fit", args: {} } }])).toMatchObject([
      { name: "do/it", namespace: "my group" },
    ]);
  });

  test("have images and executed code in their positions", () => {
    const code = { executableCode: { language: "PYTHON", code: "1" } };
    expect(
      partsOf([{ text: "a" }, { inlineData: { mimeType: "image/png", data: "QQ==" } }, code, { text: "b" }]),
    ).toEqual([
      { kind: "text", text: "a" },
      { kind: "image", source: { kind: "base64", mediaType: "image/png", data: "QQ==" } },
      { kind: "native", format: "gemini", type: "executableCode", value: code },
      { kind: "text", text: "b" },
    ]);
  });

  test("have the sources of a search as citations, with offsets in UTF-16 units", () => {
    const groundingMetadata = {
      groundingChunks: [
        { web: { uri: "https://a.example", title: "A" } },
        { web: { uri: "https://b.example", title: "B" } },
      ],
      groundingSupports: [
        { segment: { endIndex: 6, text: "Grüß" }, groundingChunkIndices: [0, 1] },
        { segment: { startIndex: 99, endIndex: 120, text: "Gott" }, groundingChunkIndices: [1] },
      ],
    };
    expect(partsOf([{ text: "Grüß " }, { text: "Gott" }], { groundingMetadata })).toEqual([
      {
        kind: "text",
        text: "Grüß Gott",
        citations: [
          { url: "https://a.example", title: "A", text: "Grüß", start: 0, end: 4 },
          { url: "https://b.example", title: "B", text: "Grüß", start: 0, end: 4 },
          { url: "https://b.example", title: "B", text: "Gott", start: 5, end: 9 },
        ],
      },
    ]);
  });

  test("have recited sources as citations, in the forms of AI Studio and Vertex AI", () => {
    for (const key of ["citationSources", "citations"]) {
      const citationMetadata = { [key]: [{ startIndex: 1, endIndex: 3, uri: "https://a.example" }] };
      expect(partsOf([{ text: "abcd" }], { citationMetadata })).toMatchObject([
        { citations: [{ url: "https://a.example", title: null, start: 1, end: 3 }] },
      ]);
    }
  });

  test("come with log probabilities in OpenAI's form, chunk by chunk", () => {
    const token = (name: string) => ({
      chosenCandidates: [{ token: name, tokenId: 1, logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: "é", logProbability: -1 }] }],
    });
    const chunk = (name: string) => ({
      candidates: [candidate([{ text: name }], { logprobsResult: token(name) })],
    });
    const candidateOf = (name: string) => ({
      token: name,
      logprob: -0.5,
      bytes: [...Buffer.from(name)],
      top_logprobs: [{ token: "é", logprob: -1, bytes: [195, 169] }],
    });
    expect(collectAnswer(readAll([encodeStream([chunk("a"), chunk("b")])])).choices[0]?.logprobs).toEqual({
      content: [candidateOf("a"), candidateOf("b")],
    });
  });

  test("are in one choice for each candidate", () => {
    const chunks = [0, 1, 0, 1].map((index) => ({
      candidates: [candidate([{ text: `${index}` }], { index })],
    }));
    expect(collectAnswer(readAll([encodeStream(chunks)])).choices).toMatchObject([
      { index: 0, parts: [{ text: "00" }] },
      { index: 1, parts: [{ text: "11" }] },
    ]);
  });

  test("ignore paths of partial arguments that lead out of the call", () => {
    const piece = (jsonPath: string) => ({ jsonPath, stringValue: "x" });
    const partialArgs = [
      "$.__proto__.p",
      "$.list[999999999]",
      "$",
      "a",
      "$.deep".repeat(100),
      "$['a b'].c",
    ].map(piece);
    const [call] = partsOf([{ functionCall: { name: "f", args: { __proto__: {} }, partialArgs } }]);
    expect(call).toMatchObject({ arguments: '{"__proto__":{"p":"x"},"a b":{"c":"x"}}' });
    expect({}).not.toHaveProperty("p");
  });
});

describe("the finish of a Gemini answer", () => {
  test.each<[string, FinishReason]>([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "content-filter"],
    ["RECITATION", "content-filter"],
    ["PROHIBITED_CONTENT", "content-filter"],
    ["BLOCKLIST", "content-filter"],
    ["SPII", "content-filter"],
    ["LANGUAGE", "content-filter"],
    ["IMAGE_SAFETY", "content-filter"],
    ["OTHER", "content-filter"],
    ["SOMETHING_NEW", "content-filter"],
  ])("with the reason %s is %s", (finishReason, reason) => {
    const decoding = gemini.decodeAnswer({ candidates: [candidate([{ text: "a" }], { finishReason })] });
    expect(decoding).toMatchObject({ answer: { choices: [{ finish: { reason, native: finishReason } }] } });
  });

  test("is tool-calls for an answer with calls, unless it reached its limit", () => {
    const call = { functionCall: { name: "f", args: {} } };
    for (const [finishReason, reason] of [
      ["STOP", "tool-calls"],
      ["MAX_TOKENS", "length"],
    ]) {
      const decoding = gemini.decodeAnswer({ candidates: [candidate([call], { finishReason })] });
      expect(decoding).toMatchObject({ answer: { choices: [{ finish: { reason } }] } });
    }
  });

  test.each(["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"])(
    "with the reason %s is a failure",
    (finishReason) => {
      const response = {
        candidates: [candidate([{ text: "a" }], { finishReason, finishMessage: "print(f()" })],
      };
      const error = {
        message: `the upstream ended the answer with "${finishReason}": print(f()`,
        meaning: "failed",
      };
      expect(gemini.decodeAnswer(response)).toMatchObject({ kind: "error", error });
      expect(readAll([encodeStream([response])]).at(-1)).toMatchObject({ kind: "error", error });
    },
  );

  test("is content-filter for a blocked prompt", () => {
    const response = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 7 },
    };
    const choices = [
      { index: 0, parts: [], finish: { reason: "content-filter", native: "PROHIBITED_CONTENT" } },
    ];
    expect(gemini.decodeAnswer(response)).toMatchObject({ kind: "answer", answer: { choices } });
    expect(collectAnswer(readAll([encodeStream([response])]))).toMatchObject({
      choices,
      usage: { promptTokens: 7 },
    });
  });

  test("comes once, at the end, if every chunk has a reason", () => {
    const chunk = (text: string) => ({ candidates: [candidate([{ text }])] });
    const events = readAll([encodeStream([chunk("a"), chunk("b")])]);
    expect(events.map(({ kind }) => kind)).toEqual([
      "part-start",
      "part-delta",
      "part-delta",
      "part-end",
      "finish",
    ]);
  });

  test("is absent from a stream that breaks off", () => {
    const events = readAll([encodeStream([{ candidates: [{ content: { parts: [{ text: "a" }] } }] }])]);
    expect(events.map(({ kind }) => kind)).toEqual(["part-start", "part-delta"]);
  });

  test("is absent from a body without candidates, which is an error", () => {
    expect(gemini.decodeAnswer({ usageMetadata: {} })).toMatchObject({ kind: "error" });
  });
});

describe("the usage of a Gemini answer", () => {
  const usageOf = (...usages: readonly Fields[]) =>
    readAll([encodeStream(usages.map((usageMetadata) => ({ usageMetadata })))]).flatMap(
      (event: AnswerEvent) => (event.kind === "usage" ? [event.usage] : []),
    );

  test("includes thoughts in the completion, and what tools fetched in the prompt", () => {
    const usage = {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 20,
      cachedContentTokenCount: 30,
      candidatesTokenCount: 8,
      thoughtsTokenCount: 40,
      totalTokenCount: 168,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 90 },
        { modality: "AUDIO", tokenCount: 10 },
      ],
      candidatesTokensDetails: [{ modality: "AUDIO", tokenCount: 3 }],
    };
    expect(usageOf(usage)).toEqual([
      {
        promptTokens: 120,
        completionTokens: 48,
        cachedTokens: 30,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        reasoningTokens: 40,
        audioPromptTokens: 10,
        audioCompletionTokens: 3,
        imageCompletionTokens: 0,
        images: 0,
        searches: 0,
        searchContext: null,
        estimated: false,
      },
    ]);
  });

  test("counts thoughts once if the candidates include them", () => {
    const usage = {
      promptTokenCount: 10,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 40,
      totalTokenCount: 60,
    };
    expect(usageOf(usage)).toMatchObject([{ completionTokens: 50, reasoningTokens: 40 }]);
  });

  test("keeps counters that a later chunk leaves out, and is null if nothing is counted", () => {
    const usages = usageOf(
      { trafficType: "ON_DEMAND" },
      { promptTokenCount: 9 },
      { candidatesTokenCount: 4 },
      { candidatesTokenCount: 4 },
    );
    expect(usages).toMatchObject([
      { promptTokens: 9, completionTokens: 0 },
      { promptTokens: 9, completionTokens: 4 },
    ]);
  });
});

describe("an error in place of a Gemini answer", () => {
  const error = { code: 503, message: "The model is overloaded.", status: "UNAVAILABLE" };
  const overloaded = {
    kind: "error",
    error: { status: 503, meaning: "overloaded", message: "The model is overloaded." },
  };

  test.each([
    ["an event", encodeStream([{ error }])],
    ["an event with a list", encodeStream([[{ error }]])],
    ["a body that is not a stream", JSON.stringify({ error }, null, 2)],
    ["a list that is not a stream", JSON.stringify([{ error }], null, 2)],
  ])("is read from %s", (_what, text) => {
    expect(readAll([text]) as unknown[]).toMatchObject([overloaded]);
    expect(readAll([...text]) as unknown[]).toMatchObject([overloaded]);
  });

  test("is read from a body with status 200", () => {
    expect(gemini.decodeAnswer({ error }) as unknown).toMatchObject(overloaded);
  });

  test("ends the stream", () => {
    const late = { candidates: [candidate([{ text: "late" }])] };
    expect(readAll([encodeStream([{ error }, late])])).toHaveLength(1);
  });

  test("is reported for a body that is not JSON", () => {
    expect(readAll(["data: {oops\n\n"])).toMatchObject([{ kind: "error", error: { meaning: "failed" } }]);
  });
});
