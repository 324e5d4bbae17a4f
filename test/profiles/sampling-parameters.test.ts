import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answerAnyFormat } from "../support/vendors/answer-any-format.ts";
import {
  CHAT,
  type Fields,
  MESSAGES,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

const ask: ProfileSite["ask"] = (api, model, more, respond) =>
  // Other hosts of Kimi take what its author does not.
  site.ask(api, model, model.startsWith("moonshotai/") ? { ...more, ...AT_AUTHOR } : more, respond);
const AT_AUTHOR = { provider: { only: ["moonshotai"] } };

/** Everything that a body says, with the name of each member: where a parameter is does not matter here. */
function flatten(body: Fields): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (["messages", "input", "contents"].includes(name)) continue;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      Object.assign(flat, flatten(value as Fields));
    else flat[name] = value;
  }
  return flat;
}

describe.each([CHAT, RESPONSES, MESSAGES])("a sampling parameter of $name", (api) => {
  test.each([
    ["anthropic/claude-opus-4.7"],
    ["anthropic/claude-opus-4.8"],
    ["anthropic/claude-sonnet-5"],
    ["anthropic/claude-fable-5"],
    ["openai/gpt-5"],
    ["openai/gpt-5-mini"],
    ["openai/gpt-5-nano"],
    ["openai/o1"],
    ["openai/o3"],
    ["openai/o4-mini"],
    ["openai/gpt-5.5"],
    ["moonshotai/kimi-k2.6"],
  ])("is left out and named where %s takes only its default", async (model) => {
    const { status, sent, named } = await ask(api, model, { temperature: 0.2, top_p: 0.5 });
    expect(status).toBe(200);
    expect(flatten(sent)).not.toContainAnyKeys(["temperature", "top_p", "topP"]);
    expect(named).toEqual(expect.arrayContaining(["temperature", "top_p"]));
  });

  test.each([["anthropic/claude-opus-4.8"], ["openai/gpt-5"], ["openai/o3"]])(
    "is sent where it is the default of %s",
    async (model) => {
      const { sent, named } = await ask(api, model, { temperature: 1 });
      expect(flatten(sent)).toMatchObject({ temperature: 1 });
      expect(named).not.toContain("temperature");
    },
  );

  test.each([["openai/gpt-4.1"], ["google/gemini-3.1-pro-preview"], ["x-ai/grok-4.3"]])(
    "is sent as it is to %s, which takes it",
    async (model) => {
      const { sent, named } = await ask(api, model, { temperature: 0.2 });
      expect(flatten(sent)).toMatchObject({ temperature: 0.2 });
      expect(named).not.toContain("temperature");
    },
  );

  test("is left out beside the temperature 0 at Mistral, and sent beside another", async () => {
    const greedy = await ask(api, "mistralai/mistral-small-latest", { temperature: 0, top_p: 0.5 });
    expect(greedy.sent).toMatchObject({ temperature: 0 });
    expect(greedy.sent).not.toContainKey("top_p");
    expect(greedy.named).toContain("top_p");
    const other = await ask(api, "mistralai/mistral-small-latest", { temperature: 0.4, top_p: 0.5 });
    expect(other.sent).toMatchObject({ temperature: 0.4, top_p: 0.5 });
  });

  test("is left out beside a temperature for a Claude that takes one of both", async () => {
    const both = await ask(api, "anthropic/claude-sonnet-4.5", { temperature: 0.3, top_p: 0.5 });
    expect(both.sent).toMatchObject({ temperature: 0.3 });
    expect(both.sent).not.toContainKey("top_p");
    expect(both.named).toContain("top_p");
    const one = await ask(api, "anthropic/claude-sonnet-4.5", { top_p: 0.5 });
    expect(one.sent).toMatchObject({ top_p: 0.5 });
  });
});

// Messages has no temperature above 1.
test.each([CHAT, RESPONSES])(
  "a temperature of $name is lowered to what Mistral takes, and named",
  async (api) => {
    const { sent, named } = await ask(api, "mistralai/mistral-small-latest", { temperature: 1.8 });
    expect(sent["temperature"]).toBe(1.5);
    expect(named).toContain("temperature");
  },
);

/** A request with an effort, in the fields of each client API. */
const EFFORTS = [
  [CHAT, (effort: string) => ({ reasoning_effort: effort })],
  [CHAT, (effort: string) => ({ reasoning: { effort } })],
  [RESPONSES, (effort: string) => ({ reasoning: { effort } })],
] as const;

describe.each(EFFORTS)(
  "the temperature of a model that takes one only without reasoning",
  (api, withEffort) => {
    test(`is sent with the effort none, and without one where that is the default, in ${api.name}`, async () => {
      const none = await ask(api, "openai/gpt-5.5", { temperature: 0.2, ...withEffort("none") });
      expect(none.sent["temperature"]).toBe(0.2);
      const absent = await ask(api, "openai/gpt-5.1", { temperature: 0.2 });
      expect(absent.sent["temperature"]).toBe(0.2);
    });

    test(`is left out with another effort in ${api.name}`, async () => {
      const { sent, named } = await ask(api, "openai/gpt-5.1", { temperature: 0.2, ...withEffort("low") });
      expect(sent).not.toContainKey("temperature");
      expect(named).toContain("temperature");
    });
  },
);

// The effort none becomes the model's lowest one.
describe.each(EFFORTS)("a model that always reasons", (api, withEffort) => {
  test(`gets no temperature with the effort none either, in ${api.name}`, async () => {
    const { sent, named } = await ask(api, "openai/gpt-6-astra", { temperature: 0.2, ...withEffort("none") });
    expect(sent).not.toContainKey("temperature");
    expect(named).toContain("temperature");
  });
});

test("the log probabilities of a chat are left out for a model of the Responses format that takes none", async () => {
  const given = { logprobs: true, top_logprobs: 2 };
  const { status, sent, named } = await ask(CHAT, "openai/gpt-5-pro", given);
  expect(status).toBe(200);
  expect(sent["include"]).toEqual(["reasoning.encrypted_content"]);
  expect(sent).not.toContainKey("top_logprobs");
  expect(named).toEqual(expect.arrayContaining(["logprobs", "top_logprobs"]));
});

describe("further parameters of a chat", () => {
  test.each([
    [
      "openai/gpt-5",
      { stop: ["x"], presence_penalty: 0.5, frequency_penalty: 0.5, logprobs: true, top_logprobs: 2 },
    ],
    ["openai/o3", { stop: "x", presence_penalty: 0.5, frequency_penalty: 0.5, logit_bias: { "1": 2 } }],
    ["google/gemini-2.5-pro", { presence_penalty: 0.5, frequency_penalty: 0.5 }],
    ["google/gemini-3.1-pro-preview", { presence_penalty: 0.5, frequency_penalty: 0.5 }],
    ["x-ai/grok-4.3", { presence_penalty: 0.5, frequency_penalty: 0.5, stop: ["x"] }],
    ["moonshotai/kimi-k2.6", { presence_penalty: 0.5, frequency_penalty: 0.5 }],
    ["anthropic/claude-opus-4.8", { top_k: 5 }],
  ])("are left out and named where %s refuses them", async (model, given) => {
    const { status, sent, named } = await ask(CHAT, model, given);
    expect(status).toBe(200);
    const refused = ["stop", "presence_penalty", "frequency_penalty", "presencePenalty", "frequencyPenalty"];
    expect(flatten(sent)).not.toContainAnyKeys([
      ...refused,
      "logprobs",
      "top_logprobs",
      "logit_bias",
      "top_k",
    ]);
    expect(named).toEqual(expect.arrayContaining(Object.keys(given)));
  });

  test("are sent where the model takes them", async () => {
    const given = { stop: ["x"], presence_penalty: 0.5, frequency_penalty: 0.5, logit_bias: { "1": 2 } };
    const { sent, named } = await ask(CHAT, "openai/gpt-4.1", given);
    expect(sent).toMatchObject(given);
    expect(named).toEqual([]);
  });

  test("are left out for a fallback model that refuses what the first model takes", async () => {
    const { status, sent } = await ask(
      CHAT,
      "openai/gpt-4.1",
      { models: ["anthropic/claude-opus-4.8"], temperature: 0.2 },
      (request, index) =>
        index === 0
          ? new Response('{"error":{"message":"down"}}', { status: 500 })
          : answerAnyFormat(request),
    );
    expect(status).toBe(200);
    expect(sent["model"]).toBe("claude-opus-4-8");
    expect(sent).not.toContainKey("temperature");
  });
});
