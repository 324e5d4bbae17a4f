import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RelayIdentity, WholeAnswer } from "../../../../src/wire/canonical/answer/relay.ts";
import { NO_TOKENS } from "../../../../src/wire/conversation/usage.ts";
import { convertVector } from "../../../../src/wire/openai-chat/embeddings/convert-vector.ts";
import { decodeEmbeddingsAnswer } from "../../../../src/wire/openai-chat/embeddings/decode-response.ts";
import { encodeEmbeddingsAnswer } from "../../../../src/wire/openai-chat/embeddings/encode-response.ts";
import { growsLinearly, LARGER } from "../../../growth/measure-growth.ts";

const IDENTITY: RelayIdentity = {
  id: "gen_1",
  model: "author/model",
  created: 1,
  originalIds: null,
  makeCallId: () => "",
  onTurn: () => {},
};

function read(body: unknown, count = 2, encoding: "float" | "base64" = "float"): WholeAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return encodeEmbeddingsAnswer(decodeEmbeddingsAnswer(text, count), encoding, IDENTITY);
}

function encode(answer: WholeAnswer, metadata: Record<string, unknown> | null = null): string {
  if (answer.kind === "error") throw new Error(answer.error.message);
  const usage = answer.usage ?? { ...NO_TOKENS, promptTokens: 9, estimated: true };
  const report = {
    usage,
    cost: 0.5,
    upstreamInferenceCost: 0.75,
    upstreamPromptCost: 0.75,
    upstreamCompletionCost: 0,
    isByok: false,
  };
  return answer.encode({ report, metadata });
}

function problemOf(answer: WholeAnswer): string {
  if (answer.kind === "answer") throw new Error("this should be no answer");
  return answer.error.message;
}

const item = (index: number, embedding: unknown) => ({ object: "embedding", index, embedding });
const answerOf = (data: unknown, rest: Record<string, unknown> = {}) => ({
  object: "list",
  data,
  model: "up",
  usage: { prompt_tokens: 5, total_tokens: 5 },
  ...rest,
});
const TWO = answerOf([item(0, [1, 2.5]), item(1, [-3e-9, 4])]);

describe("an embeddings answer", () => {
  test("has the gateway's model, usage and cost, and the vendor's vectors unchanged", () => {
    const text =
      '{"object":"list","id":"vendor","data":[{"object":"embedding","index":0,"embedding":[0.10000000000000000001,\n 2]}],"model":"up","usage":{"prompt_tokens":5,"total_tokens":5},"novelty":"Grüße"}';
    const answer = read(text, 1);
    expect(encode(answer)).toBe(
      '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10000000000000000001,\n 2]}],"novelty":"Grüße","model":"author/model","usage":{"prompt_tokens":5,"total_tokens":5,"cost":0.5,"cost_details":{"upstream_inference_cost":0.75,"upstream_inference_prompt_cost":0.75,"upstream_inference_completions_cost":0},"is_byok":false}}',
    );
    expect(answer).toMatchObject({ usage: { promptTokens: 5, completionTokens: 0 }, finish: null });
  });

  test("reports that its usage is estimated, and the warnings about the request", () => {
    const answer = read(answerOf(TWO.data, { usage: undefined }));
    expect(answer).toMatchObject({ kind: "answer", usage: null });
    expect(JSON.parse(encode(answer, { warnings: [] }))).toMatchObject({
      usage: { prompt_tokens: 9, estimated: true },
      gateway_metadata: { warnings: [] },
    });
  });

  for (const [what, usage, tokens] of [
    ["if only the total is counted", { total_tokens: 7 }, 7],
    ["unless it is zero", { prompt_tokens: 0, total_tokens: 0 }, null],
    ["unless it is not an object", "many", null],
  ] as const) {
    test(`has the vendor's usage ${what}`, () => {
      const answer = read(answerOf(TWO.data, { usage }));
      expect(answer.kind === "answer" ? (answer.usage?.promptTokens ?? null) : "none").toBe(tokens);
    });
  }

  for (const [what, data] of [
    ["from the reverse order", [item(1, [2]), item(0, [1])]],
    ["from elements without indexes", [{ embedding: [1] }, { embedding: [2] }]],
    ["from elements with equal indexes", [item(0, [1]), item(0, [2])]],
    ["from elements numbered from one", [item(1, [1]), item(2, [2])]],
  ] as const) {
    test(`has a vector for each input, in the order of the inputs: ${what}`, () => {
      const { data: given } = JSON.parse(encode(read(answerOf(data)))) as { data: unknown[] };
      expect(given).toEqual([item(0, [1]), item(1, [2])]);
    });
  }
});

describe("the encoding of vectors", () => {
  const BASE64 = Buffer.from(Float32Array.from([0.5, -2]).buffer).toString("base64");

  test("is the requested one, whichever the vendor sends", () => {
    for (const given of [[0.5, -2], BASE64]) {
      const answer = answerOf([item(0, given)]);
      expect(JSON.parse(encode(read(answer, 1, "float"))).data[0].embedding).toEqual([0.5, -2]);
      expect(JSON.parse(encode(read(answer, 1, "base64"))).data[0].embedding).toBe(BASE64);
    }
  });

  test("does not lose precision when converted back and forth", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
        (numbers) => {
          const json = JSON.stringify(numbers);
          expect(JSON.parse(convertVector(convertVector(json, "base64"), "float"))).toEqual(JSON.parse(json));
        },
      ),
    );
  });
});

describe("an invalid embeddings answer", () => {
  for (const [what, body, words] of [
    ["an HTML page", "<html>Bad gateway</html>", "not JSON"],
    ["an empty body", "", "not JSON"],
    ["half an answer", JSON.stringify(TWO).slice(0, -40), "not JSON"],
    ["JSON that is invalid after the vectors", `${JSON.stringify(TWO).slice(0, -1)},}`, "not JSON"],
    ["not an object", "[]", "not JSON"],
    ["without vectors", { object: "list" }, "nothing"],
    ["without a list of vectors", answerOf({ embedding: [1] }), "nothing"],
    ["an empty list of vectors", answerOf([]), "nothing"],
    ["too few vectors", answerOf([item(0, [1])]), "1 embeddings for 2 inputs"],
    ["too many vectors", answerOf([0, 1, 2].map((i) => item(i, [1]))), "3 embeddings for 2 inputs"],
    ["an empty vector", answerOf([item(0, []), item(1, [1])]), "embedding that is none"],
    ["a vector of null", answerOf([item(0, [1]), item(1, [null])]), "embedding that is none"],
    ["an empty text for a vector", answerOf([item(0, [1]), item(1, "")]), "embedding that is none"],
    ["a sentence for a vector", answerOf([item(0, [1]), item(1, "I am sorry!")]), "embedding that is none"],
    ["an element without a vector", answerOf([item(0, [1]), { index: 1 }]), "embedding that is none"],
  ] as const) {
    test(`may be ${what}`, () => {
      expect(problemOf(read(body))).toContain(words);
    });
  }

  test("may be an error with status 200, which keeps its meaning", () => {
    const answer = read({ error: { message: "Slow down", code: 429 } });
    expect(answer).toMatchObject({ kind: "error", error: { status: 429, meaning: "rate_limited" } });
  });

  test("is detected in linear time", () => {
    const readLong = (digits: number) => {
      const long = `{"data":[{"embedding":[${"1".repeat(digits)}x]}]}`;
      return () => expect(problemOf(read(long, 1))).toContain("embedding that is none");
    };
    expect(growsLinearly(readLong(125_000), readLong(LARGER * 125_000))).toBe(true);
  });

  test("may have numbers that cannot be converted", () => {
    expect(problemOf(read('{"data":[{"embedding":[1,,2]}]}', 1, "base64"))).toContain(
      "embedding that is none",
    );
  });

  test("may have base64 of something other than floats", () => {
    expect(problemOf(read(answerOf([item(0, "AAAAAAA=")]), 1, "float"))).toContain("embedding that is none");
  });
});
