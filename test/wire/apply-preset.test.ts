import { describe, expect, test } from "bun:test";
import { applyPreset, type PresetSettings } from "../../src/wire/client-apis/apply-preset.ts";
import type { ClientApi } from "../../src/wire/client-apis/request/inference-request.ts";

const ALL: PresetSettings = {
  models: ["acme/two"],
  provider: { sort: "price", zdr: true },
  system: 'Be "brief".\nÜ',
  parameters: {
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 100,
    stop: ["END"],
    seed: 7,
    frequency_penalty: 1,
    presence_penalty: -1,
    reasoning_effort: "low",
  },
};

function apply(
  api: ClientApi,
  body: unknown,
  settings: PresetSettings = ALL,
  model: string | null = "acme/one",
) {
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  return JSON.parse(applyPreset(api, bytes, { settings, model }).toString("utf8")) as Record<string, unknown>;
}

const messages = [{ role: "user", content: "Grüße ✓" }];

describe("a preset", () => {
  test("adds its settings to a chat completion, with its system text first", () => {
    expect(apply("chat.completions", { model: "@p", messages })).toEqual({
      model: "acme/one",
      messages: [{ role: "system", content: ALL.system as string }, ...messages],
      models: ["acme/two"],
      provider: { sort: "price", zdr: true },
      ...ALL.parameters,
    });
  });

  test("adds to a Responses request the parameters that the API has, and its text before the instructions", () => {
    expect(apply("responses", { model: "@p", input: "Hi", instructions: "Say hi." })).toEqual({
      model: "acme/one",
      input: "Hi",
      instructions: `${ALL.system}\n\nSay hi.`,
      models: ["acme/two"],
      provider: { sort: "price", zdr: true },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      reasoning: { effort: "low" },
    });
  });

  test.each<[string, unknown, unknown]>([
    ["no system", undefined, ALL.system],
    ["null", null, ALL.system],
    ["a text", "Own.", `${ALL.system}\n\nOwn.`],
    [
      "a list",
      [{ type: "text", text: "Own." }],
      [
        { type: "text", text: ALL.system },
        { type: "text", text: "Own." },
      ],
    ],
    ["an empty list", [], [{ type: "text", text: ALL.system }]],
  ])("puts its text before the system text of a Messages request that has %s", (_name, own, expected) => {
    const body = { model: "@p", max_tokens: 5, messages, ...(own === undefined ? {} : { system: own }) };
    expect(apply("messages", body)).toEqual({
      model: "acme/one",
      max_tokens: 5,
      messages,
      system: expected,
      models: ["acme/two"],
      provider: { sort: "price", zdr: true },
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ["END"],
      output_config: { effort: "low" },
    });
  });

  test("adds to text completions their parameters without system text and reasoning", () => {
    const { reasoning_effort: _, ...parameters } = ALL.parameters ?? {};
    expect(apply("completions", { model: "@p", prompt: "a" })).toEqual({
      ...{ model: "acme/one", prompt: "a", models: ["acme/two"], provider: { sort: "price", zdr: true } },
      ...parameters,
    });
  });

  test("adds to fill in the middle its parameters without system text, and to embeddings none", () => {
    expect(apply("fim", { model: "@p", prompt: "a" })).toEqual({
      ...{ model: "acme/one", prompt: "a", models: ["acme/two"], provider: { sort: "price", zdr: true } },
      ...{ temperature: 0.5, top_p: 0.9, max_tokens: 100, stop: ["END"] },
    });
    expect(apply("embeddings", { model: "@p", input: "a" })).toEqual({
      ...{ model: "acme/one", input: "a", models: ["acme/two"], provider: { sort: "price", zdr: true } },
    });
  });

  test("gives way to every field of the request, also to null and to other names of a field", () => {
    const body = {
      model: "acme/three",
      models: [],
      provider: { sort: "latency" },
      temperature: null,
      top_p: 0.1,
      max_completion_tokens: 9,
      stop: "X",
      seed: 1,
      frequency_penalty: 0,
      presence_penalty: 0,
      reasoning: { enabled: false },
      messages: [],
    };
    expect(apply("chat.completions", body, ALL, null)).toEqual({
      ...body,
      provider: { sort: "latency", zdr: true },
      messages: [{ role: "system", content: ALL.system }],
    });
  });

  test("leaves all other bytes as they are", () => {
    const body = '{ "model" : "@p",\n "messages": [ {"role":"user","content":"✓ 1e400"} ], "n": 1.0 }';
    const bytes = applyPreset("chat.completions", Buffer.from(body), {
      settings: { parameters: { seed: 3 } },
      model: "acme/one",
    });
    expect(bytes.toString("utf8")).toBe(body.replace('"@p"', '"acme/one"').replace(/ }$/, ' ,"seed":3}'));
  });
});
