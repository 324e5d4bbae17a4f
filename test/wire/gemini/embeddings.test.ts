import { describe, expect, test } from "bun:test";
import type { EmbeddingsParameters } from "../../../src/wire/canonical/embeddings/embeddings.ts";
import { decodeGeminiEmbeddings } from "../../../src/wire/gemini/embeddings/decode-response.ts";
import { encodeGeminiEmbeddings } from "../../../src/wire/gemini/embeddings/encode-request.ts";

const NOTHING: EmbeddingsParameters = { inputs: ["one"], dimensions: null, inputType: null, extras: {} };
const encode = (parameters: Partial<EmbeddingsParameters>) =>
  encodeGeminiEmbeddings({ ...NOTHING, ...parameters }, "gemini-x");

describe("encoding an embeddings request for Gemini", () => {
  test("sends one request for each text, each with the model", () => {
    const [one, two] = ["one", "two"].map((text) => ({
      model: "models/gemini-x",
      content: { parts: [{ text }] },
    }));
    expect(encode({ inputs: ["one", "two"] })).toEqual({ body: { requests: [one, two] }, warnings: [] });
  });

  test("sends the dimensions and the task type", () => {
    const { body } = encode({ dimensions: 768, inputType: "search_query" });
    expect(body["requests"]).toMatchObject([{ outputDimensionality: 768, taskType: "RETRIEVAL_QUERY" }]);
  });

  test("warns of fields that Gemini does not have", () => {
    const { warnings } = encode({ inputType: "poetry", extras: { user: "u", absent: null } });
    expect(warnings.map(({ field }) => field)).toEqual(["user", "input_type"]);
  });

  test("rejects token ids, and more texts than Gemini accepts", () => {
    expect(() => encode({ inputs: [[1, 2]] })).toThrow("input must be text");
    expect(encode({ inputs: Array(100).fill("x") }).body["requests"]).toHaveLength(100);
    expect(() => encode({ inputs: Array(101).fill("x") })).toThrow("input may have at most 100");
  });
});

describe("decoding a Gemini embeddings answer", () => {
  test("returns the vectors, and the tokens if they are counted", () => {
    const body = { embeddings: [{ values: [0.25, -1] }, { values: [3] }] };
    expect(decodeGeminiEmbeddings(JSON.stringify(body), 2)).toEqual({
      kind: "vectors",
      vectors: ["[0.25,-1]", "[3]"],
      usage: null,
      extras: {},
    });
    const counted = { ...body, usageMetadata: { promptTokenCount: 4 } };
    expect(decodeGeminiEmbeddings(JSON.stringify(counted), 2)).toMatchObject({ usage: { promptTokens: 4 } });
  });

  test("fails for a body without vectors or with Gemini's error", () => {
    expect(decodeGeminiEmbeddings("{}", 1)).toMatchObject({ kind: "error", error: { meaning: "failed" } });
    const error = { error: { code: 429, message: "Quota", status: "RESOURCE_EXHAUSTED" } };
    expect(decodeGeminiEmbeddings(JSON.stringify(error), 1)).toMatchObject({
      error: { meaning: "rate_limited" },
    });
  });
});
