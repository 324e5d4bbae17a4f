import { describe, expect, test } from "bun:test";
import { encodeLatin1 } from "../../../src/base/json/scan.ts";
import { collectAnswer } from "../../../src/wire/canonical/answer/collect-answer.ts";
import { gemini } from "../../../src/wire/gemini/codec.ts";
import { cutStep } from "../../support/long-run.ts";
import { hasRecordings, readAnswers, readStreams } from "../../support/vendors/recordings.ts";
import { encodeStream, readAll } from "./read-all.ts";

const STREAMS = readStreams("google").map(({ name, text }) => ({
  name,
  text: encodeLatin1(text.replace("data: [DONE]\n\n", "")),
}));
const ANSWERS = readAnswers("google").filter(({ name }) => !name.includes("429"));

interface Candidate {
  content?: {
    parts?: { text?: string; thought?: boolean; functionCall?: { name?: string; args?: unknown } }[];
  };
}
interface Response {
  candidates: Candidate[];
  usageMetadata: Record<string, number>;
}

describe("a recorded Gemini stream", () => {
  test.each(STREAMS.map(({ name, text }) => [name, text] as const))(
    "has the text and calls of its chunks: %s",
    (_name, text) => {
      const chunks = text
        .split("\n\n")
        .filter((event) => event !== "")
        .map((event) => JSON.parse(Buffer.from(event.slice(6), "latin1").toString()) as Response);
      const recorded = chunks.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []);
      const last = chunks.at(-1)?.usageMetadata ?? {};
      const { choices, usage } = collectAnswer(readAll([text]));
      const parts = choices[0]?.parts ?? [];
      const visible = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("");
      const thought = parts.flatMap((part) => (part.kind === "reasoning" ? [part.text] : [])).join("");
      const calls = parts.flatMap((part) => (part.kind === "tool-call" ? [part] : []));
      expect(visible).toBe(recorded.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""));
      expect(thought).toBe(recorded.map((part) => (part.thought ? (part.text ?? "") : "")).join(""));
      expect(calls.map(({ name }) => name)).toEqual(
        recorded.flatMap((part) => part.functionCall?.name ?? []),
      );
      for (const call of calls) expect(JSON.parse(call.arguments)).toBeObject();
      expect(choices[0]?.finish.reason).toBe(calls.length > 0 ? "tool-calls" : "stop");
      expect(usage?.promptTokens).toBe(last["promptTokenCount"]);
      expect(usage?.completionTokens).toBe(
        (last["candidatesTokenCount"] ?? 0) + (last["thoughtsTokenCount"] ?? 0),
      );
    },
  );

  test.each(STREAMS.map(({ name, text }) => [name, text] as const))(
    "has the same events if it is split at any byte: %s",
    (_name, text) => {
      const whole = readAll([text]);
      // The longest stream has too many bytes to try each of them.
      const every = cutStep(text.length < 8000 ? 1 : 13);
      const cuts = [...Array(Math.ceil(text.length / every)).keys()].map((n) => n * every);
      for (const cut of cuts) expect(readAll([text.slice(0, cut), text.slice(cut)])).toEqual(whole);
      expect(readAll([...text])).toEqual(whole);
    },
  );

  const argumentsOf = (name: string) => {
    const { text = "" } = STREAMS.find((stream) => stream.name.includes(name)) ?? {};
    const parts = collectAnswer(readAll([text])).choices[0]?.parts ?? [];
    return parts.flatMap((part) => (part.kind === "tool-call" ? [JSON.parse(part.arguments)] : []));
  };

  test("has arguments joined by path and in order if they arrive in pieces", () => {
    expect(argumentsOf("google/arguments-in-pieces")).toEqual([{ place: "Reykjavík", days: 2 }]);
  });

  test.if(hasRecordings)("arguments in pieces come together", () => {
    expect(argumentsOf("google-stream-tool-call-arguments")).toEqual([
      { location: "Boston" },
      { location: "San Francisco" },
    ]);
    expect(argumentsOf("no-args")).toEqual([{}, { id: "A" }, { id: "B" }, { id: "C" }]);
    expect(argumentsOf("missing-terminal")).toEqual([
      {
        operations: [
          { action: "add", description: "Fresh red apple", itemid: "apple_001", price: 0.5 },
          { action: "add", description: "Ripe yellow banana", itemid: "banana_001", price: 0.3 },
        ],
      },
    ]);
    const [lasagna] = argumentsOf("nested");
    expect(lasagna.recipe.ingredients[9]).toEqual({ amount: "1/2 tsp", name: "Pepper" });
    expect(lasagna.recipe.steps[4]).toBe("In a 9x13 baking dish, spread a thin layer of meat sauce.");
    expect(lasagna.recipe.steps).toHaveLength(10);
  });
});

describe("a recorded whole Gemini answer", () => {
  test.each(ANSWERS.map(({ name, text }) => [name, text] as const))(
    "has the same parts as a stream with it as the only chunk: %s",
    (_name, text) => {
      const body = JSON.parse(text);
      const decoding = gemini.decodeAnswer(body);
      if (decoding.kind === "error") throw new Error(decoding.error.message);
      expect(decoding.answer).toEqual(collectAnswer(readAll([encodeStream([body])])));
      const [part] = decoding.answer.choices[0]?.parts ?? [];
      const [recorded] = body.candidates[0].content.parts;
      const signature = { signature: { value: recorded.thoughtSignature, origin: "google-gemini-v1" } };
      if (part?.kind === "text") expect(part).toEqual({ kind: "text", text: recorded.text, ...signature });
      else
        expect(part).toMatchObject({
          name: recorded.functionCall.name,
          arguments: JSON.stringify(recorded.functionCall.args),
          ...signature,
        });
    },
  );
});
