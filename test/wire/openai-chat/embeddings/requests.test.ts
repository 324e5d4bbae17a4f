import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../../../src/base/failures/errors.ts";
import { decodeEmbeddingsRequest } from "../../../../src/wire/openai-chat/embeddings/decode-request.ts";
import {
  type EmbeddingsTarget,
  encodeEmbeddingsRequest,
} from "../../../../src/wire/openai-chat/embeddings/encode-request.ts";

const decode = (body: unknown) =>
  decodeEmbeddingsRequest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));

const TARGET: EmbeddingsTarget = {
  model: "up",
  renames: [],
  knownFields: null,
  storingFields: new Set(),
  refusedFields: new Set(),
  hashUser: (user) => `hashed(${user})`,
};

function encode(body: string, target: Partial<EmbeddingsTarget> = {}): string {
  return encodeEmbeddingsRequest(decode(body), { ...TARGET, ...target }).toString();
}

function failureOf(body: unknown) {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof GatewayError) return error.failure;
    throw error;
  }
  throw new Error("this should have been refused");
}

describe("the inputs of an embeddings request", () => {
  for (const [what, input, inputs, bytes, longest] of [
    ["a text", "Grüße", ["Grüße"], 7, 5],
    ["texts", ["one", "three"], ["one", "three"], 8, 5],
    ["token ids, which are one input", [1, 2, 0], [[1, 2, 0]], 12, 12],
    ["several lists of token ids", [[1, 2], [3]], [[1, 2], [3]], 12, 8],
  ] as const) {
    test(`may be ${what}`, () => {
      const request = decode({ model: "a/m", input });
      expect(request.parameters.inputs).toEqual(inputs);
      expect([request.promptTextBytes, request.longestChars]).toEqual([bytes, longest]);
    });
  }

  test("may be up to 2048 texts, or any number of token ids", () => {
    expect(decode({ model: "a/m", input: Array(2048).fill("x") }).parameters.inputs).toHaveLength(2048);
    expect(decode({ model: "a/m", input: Array(8000).fill(7) }).parameters.inputs).toHaveLength(1);
  });

  for (const [what, input, field, words] of [
    ["missing", undefined, "input", "is required"],
    ["null", null, "input", "is required"],
    ["an empty text", "", "input", "must not be empty"],
    ["no texts", [], "input", "at least one"],
    ["an empty text among others", ["a", ""], "input[1]", "must not be empty"],
    ["an empty list of token ids", [[1], []], "input[1]", "must not be empty"],
    ["too many", Array(2049).fill("x"), "input", "at most 2048"],
    ["a number", 5, "input", "must be a text"],
    ["an object", { text: "x" }, "input", "must be a text"],
    ["texts and token ids mixed", ["a", [1]], "input[1]", "as the others are"],
    ["token ids and texts mixed", [[1], "a"], "input[1]", "as the others are"],
    ["token ids and one list of them", [1, [2]], "input[0]", "as the others are"],
    ["half a token id", [1.5], "input[0]", "must be a text"],
    ["a negative token id", [[-1]], "input[0]", "must be a text"],
    ["null among others", ["a", null], "input[1]", "as the others are"],
  ] as const) {
    test(`are rejected if they are ${what}`, () => {
      const failure = failureOf({ model: "a/m", input });
      expect(failure.code).toBe("invalid_request");
      expect(failure.metadata).toEqual({ field });
      expect(failure.message).toStartWith(`${field} `);
      expect(failure.message).toContain(words);
    });
  }
});

describe("the other fields of an embeddings request", () => {
  test("set dimensions, encoding, input type and routing preferences", () => {
    const request = decode({
      model: "a/m",
      input: "x",
      dimensions: 8,
      encoding_format: "base64",
      input_type: "search_query",
      models: ["b/n"],
      provider: { only: ["OpenAI"], allow_fallbacks: false },
      user: "u",
      session_id: "s",
      novelty: [1],
    });
    expect(request).toMatchObject({
      model: "a/m",
      encoding: "base64",
      fallbackModels: ["b/n"],
      preferences: { only: ["openai"], allowFallbacks: false },
      parameters: { dimensions: 8, inputType: "search_query" },
    });
    expect(request.parameters.extras).toEqual({ user: "u", novelty: [1] });
  });

  test("count as absent if they are null", () => {
    const nothing = { dimensions: null, encoding_format: null, user: null, models: null, provider: null };
    const request = decode({ model: "a/m", input: "x", ...nothing });
    expect(request).toMatchObject({
      encoding: "float",
      fallbackModels: [],
      parameters: { dimensions: null },
    });
  });

  for (const [field, fields] of [
    ["model", { model: 5 }],
    ["model", { model: undefined }],
    ["dimensions", { dimensions: 0 }],
    ["dimensions", { dimensions: 1.5 }],
    ["dimensions", { dimensions: "8" }],
    ["encoding_format", { encoding_format: "int8" }],
    ["user", { user: 5 }],
    ["input_type", { input_type: ["x"] }],
    ["models", { models: "b/n" }],
    ["models", { models: [1] }],
    ["models", { models: Array(17).fill("b/n") }],
    ["provider", { provider: "openai" }],
    ["provider.only", { provider: { only: "openai" } }],
    ["provider.order", { provider: { order: [1] } }],
    ["provider.zdr", { provider: { zdr: 1 } }],
    ["provider.max_price.prompt", { provider: { max_price: { prompt: "much" } } }],
    ["provider.data_collection", { provider: { data_collection: "no" } }],
  ] as const) {
    test(`are rejected with their name: ${JSON.stringify(fields).slice(0, 50)}`, () => {
      const { code, metadata } = failureOf({ model: "a/m", input: "x", ...fields });
      expect([code, metadata]).toMatchObject(["invalid_request", { field }]);
    });
  }

  test("an embeddings request is rejected with invalid_model for a malformed model id", () => {
    expect(failureOf({ model: "m".repeat(300), input: "x" }).code).toBe("invalid_model");
  });

  for (const [what, body] of [
    ["invalid JSON", "{"],
    ["an array", "[]"],
    ["no bytes", ""],
    ["a missing comma in an unknown field", '{"model":"a/m","input":"x","y":[1 2]}'],
    ["a duplicate field", '{"model":"a/m","input":"x","input":"y"}'],
  ] as const) {
    test(`an embeddings request with ${what} is rejected`, () =>
      expect(failureOf(body).code).toBe("invalid_request"));
  }

  test("an embeddings request that is not UTF-8 is rejected", () => {
    const body = Buffer.from('{"model":"a/m","input":"\xff"}', "latin1");
    expect(() => decodeEmbeddingsRequest(body)).toThrow("UTF-8");
  });
});

describe("the body of an embeddings request for the upstream", () => {
  for (const [what, sent, forwarded] of [
    ["has the provider's name of the model", '{"model":"a/m","input":"x"}', '{"model":"up","input":"x"}'],
    [
      "has all other bytes unchanged",
      ' { "input" : [ "Grüße \\u00e9" ,"🦉"],"novelty":{"z":1.50e+10}, "model":"a/m" }\n',
      ' { "input" : [ "Grüße \\u00e9" ,"🦉"],"novelty":{"z":1.50e+10}, "model":"up" }\n',
    ],
    [
      "has none of the gateway's own fields",
      '{"models":["b/n"],"model":"a/m","provider":{},"input":[1],"session_id":"s","user":"u","usage":{}}',
      '{"model":"up","input":[1],"user":"hashed(u)"}',
    ],
  ] as const) {
    test(what, () => expect(encode(sent, {})).toBe(forwarded));
  }

  test("has the vendor's field names, and the value of the vendor's name if the client sends both", () => {
    const renames: [string, string][] = [["dimensions", "output_dimension"]];
    expect(encode('{"model":"a/m","dimensions":8,"input":"x"}', { renames })).toBe(
      '{"model":"up","output_dimension":8,"input":"x"}',
    );
    expect(encode('{"model":"a/m","dimensions":8,"input":"x","output_dimension":9}', { renames })).toBe(
      '{"model":"up","input":"x","output_dimension":9}',
    );
  });

  test("has no optional fields that the vendor would reject", () => {
    const sent = '{"user":"u","model":"a/m","input":"x","input_type":"search_query"}';
    expect(encode(sent, { knownFields: new Set(["model", "user"]) })).toBe(
      '{"user":"hashed(u)","model":"up","input":"x"}',
    );
    expect(encode(sent, { refusedFields: new Set(["user"]) })).toBe(
      '{"model":"up","input":"x","input_type":"search_query"}',
    );
  });

  test("has the same meaning as the client's body, whatever its fields are", () => {
    const text = fc.string({ minLength: 1, unit: "grapheme" });
    const input = fc.oneof(text, fc.array(text, { minLength: 1 }), fc.array(fc.nat(), { minLength: 1 }));
    fc.assert(
      fc.property(input, fc.dictionary(text, fc.jsonValue()), (input, more) => {
        const body = { ...more, model: "author/model", input, provider: { order: ["a"] } };
        for (const name of ["dimensions", "encoding_format", "user", "input_type", "models"])
          delete (body as Record<string, unknown>)[name];
        const { provider, session_id, usage, ...rest } = body as Record<string, unknown>;
        expect(JSON.parse(encode(JSON.stringify(body)))).toEqual(
          JSON.parse(JSON.stringify({ ...rest, model: "up" })),
        );
      }),
    );
  });
});
