import { describe, expect, test } from "bun:test";
import type { EmbeddingsParameters } from "../../../src/wire/canonical/embeddings.ts";
import { readCohereEmbeddings } from "../../../src/wire/cohere-embeddings/decode-response.ts";
import { encodeCohereEmbeddings } from "../../../src/wire/cohere-embeddings/encode-request.ts";
import { readAnswers } from "../../support/recordings.ts";

const NOTHING: EmbeddingsParameters = { inputs: ["one"], dimensions: null, inputType: null, extras: {} };
const encode = (wish: Partial<EmbeddingsParameters>) =>
  encodeCohereEmbeddings({ ...NOTHING, ...wish }, "embed-x");

describe("a request", () => {
  test("asks for numbers, of documents where the client did not say", () => {
    expect(encode({ inputs: ["one", "two"] })).toEqual({
      body: {
        model: "embed-x",
        texts: ["one", "two"],
        input_type: "search_document",
        embedding_types: ["float"],
      },
      warnings: [],
    });
  });

  test("says how many numbers, what for, and what only Cohere knows", () => {
    const { body, warnings } = encode({
      dimensions: 512,
      inputType: "search_query",
      extras: { truncate: "END", user: "u" },
    });
    expect(body).toMatchObject({ output_dimension: 512, input_type: "search_query", truncate: "END" });
    expect(warnings.map(({ field }) => field)).toEqual(["user"]);
  });

  test("is refused for token ids, and for more texts than Cohere takes", () => {
    expect(() => encode({ inputs: [[1, 2]] })).toThrow("input must be text");
    expect(encode({ inputs: Array(96).fill("x") }).body["texts"]).toHaveLength(96);
    expect(() => encode({ inputs: Array(97).fill("x") })).toThrow("input may have at most 96");
  });
});

describe("an answer", () => {
  const recorded = readAnswers("cohere").filter(({ name }) => name.includes("embedding"));

  test.each(recorded)("$name has its vectors and what is billed", ({ text }) => {
    const body = JSON.parse(text);
    const reading = readCohereEmbeddings(text, 2);
    if (reading.kind === "error") throw new Error(reading.error.message);
    expect(reading.vectors.map((vector) => JSON.parse(vector))).toEqual(body.embeddings.float);
    expect(reading.usage).toMatchObject({
      promptTokens: body.meta.billed_units.input_tokens,
      estimated: false,
    });
  });

  test("without numbers of tokens is an answer all the same", () => {
    const reading = readCohereEmbeddings('{"embeddings":{"float":[[1]]},"meta":{"billed_units":{}}}', 1);
    expect(reading).toMatchObject({ kind: "vectors", vectors: ["[1]"], usage: null });
  });

  test.each(["{}", '{"embeddings":{"int8":[[1]]}}', '{"embeddings":[[1]]}', "<html>"])(
    "is none: %s",
    (body) => {
      expect(readCohereEmbeddings(body, 1)).toMatchObject({ kind: "error", error: { meaning: "failed" } });
    },
  );
});
