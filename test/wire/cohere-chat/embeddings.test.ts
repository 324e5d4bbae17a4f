import { describe, expect, test } from "bun:test";
import type { EmbeddingsParameters } from "../../../src/wire/canonical/embeddings/embeddings.ts";
import { decodeCohereEmbeddings } from "../../../src/wire/cohere-chat/embeddings/decode-response.ts";
import { encodeCohereEmbeddings } from "../../../src/wire/cohere-chat/embeddings/encode-request.ts";
import { readAnswers } from "../../support/vendors/recordings.ts";

const NOTHING: EmbeddingsParameters = { inputs: ["one"], dimensions: null, inputType: null, extras: {} };
const encode = (parameters: Partial<EmbeddingsParameters>) =>
  encodeCohereEmbeddings({ ...NOTHING, ...parameters }, "embed-x");

describe("encoding an embeddings request for Cohere", () => {
  test("requests float vectors, for documents if the client sends no input type", () => {
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

  test("sends the dimensions, the input type, and the fields that only Cohere has", () => {
    const { body, warnings } = encode({
      dimensions: 512,
      inputType: "search_query",
      extras: { truncate: "END", user: "u" },
    });
    expect(body).toMatchObject({ output_dimension: 512, input_type: "search_query", truncate: "END" });
    expect(warnings.map(({ field }) => field)).toEqual(["user"]);
  });

  test("rejects token ids, and more texts than Cohere accepts", () => {
    expect(() => encode({ inputs: [[1, 2]] })).toThrow("input must be text");
    expect(encode({ inputs: Array(96).fill("x") }).body["texts"]).toHaveLength(96);
    expect(() => encode({ inputs: Array(97).fill("x") })).toThrow("input may have at most 96");
  });
});

describe("decoding a Cohere embeddings answer", () => {
  const recorded = readAnswers("cohere").filter(({ name }) => name.includes("embedding"));

  test.each(recorded)("returns the vectors and billed tokens of the recording $name", ({ text }) => {
    const body = JSON.parse(text);
    const reading = decodeCohereEmbeddings(text, 2);
    if (reading.kind === "error") throw new Error(reading.error.message);
    expect(reading.vectors.map((vector) => JSON.parse(vector))).toEqual(body.embeddings.float);
    expect(reading.usage).toMatchObject({
      promptTokens: body.meta.billed_units.input_tokens,
      estimated: false,
    });
  });

  test("accepts an answer without token counts", () => {
    const reading = decodeCohereEmbeddings('{"embeddings":{"float":[[1]]},"meta":{"billed_units":{}}}', 1);
    expect(reading).toMatchObject({ kind: "vectors", vectors: ["[1]"], usage: null });
  });

  test.each(["{}", '{"embeddings":{"int8":[[1]]}}', '{"embeddings":[[1]]}', "<html>"])(
    "fails for a body that is not an answer: %s",
    (body) => {
      expect(decodeCohereEmbeddings(body, 1)).toMatchObject({ kind: "error", error: { meaning: "failed" } });
    },
  );
});
