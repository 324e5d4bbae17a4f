import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, type Fields, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const AT_DEEPSEEK = { provider: { only: ["deepseek"] } };
const MODEL = "deepseek/deepseek-v4-pro";
/** A request for an answer by the schema, in the fields of each client API. */
const ASKING = [
  [
    CHAT,
    {
      response_format: { type: "json_schema", json_schema: { name: "place", schema: SCHEMA, strict: true } },
    },
  ],
  [RESPONSES, { text: { format: { type: "json_schema", name: "place", schema: SCHEMA, strict: true } } }],
] as const;

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

describe("a JSON Schema for a host that has JSON output without schemas", () => {
  test.each(ASKING)("is put into the instructions, and named", async (api, asking) => {
    const { status, sent, named } = await site.ask(api, MODEL, { ...asking, ...AT_DEEPSEEK });
    expect(status).toBe(200);
    expect(sent["response_format"]).toEqual({ type: "json_object" });
    const [first] = sent["messages"] as Fields[];
    expect(first).toMatchObject({ role: "system", content: expect.stringContaining(JSON.stringify(SCHEMA)) });
    expect(named).toEqual(["response_format"]);
  });

  test("comes after the client's own instructions, and the conversation begins the same in each turn", async () => {
    const [, asking] = ASKING[0];
    const turns = [
      { role: "system", content: "You know cities." },
      { role: "user", content: "Where?" },
      { role: "assistant", content: '{"city":"Rome"}' },
      { role: "user", content: "And then?" },
    ];
    const ask = (messages: unknown) => site.ask(CHAT, MODEL, { ...asking, ...AT_DEEPSEEK, messages });
    const one = (await ask(turns.slice(0, 2))).sent["messages"] as Fields[];
    const two = (await ask(turns)).sent["messages"] as Fields[];
    expect(one[0]?.["content"]).toStartWith("You know cities.");
    expect(two.slice(0, 2)).toEqual(one);
  });

  test("is sent as it is to a host that has schemas", async () => {
    const [, asking] = ASKING[0];
    const { sent, named } = await site.ask(CHAT, "openai/gpt-4.1", asking);
    expect([sent["response_format"], named]).toEqual([asking.response_format, []]);
  });
});

test("structured outputs are no parameter of a model at a host without schemas", async () => {
  const { gateway } = site;
  const response = await fetch(`${gateway.base}/models/${MODEL}/endpoints`);
  const { data } = (await response.json()) as {
    data: { endpoints: { provider_name: string; supported_parameters: string[] }[] };
  };
  const own = data.endpoints.find(({ provider_name }) => provider_name === "DeepSeek");
  expect(own?.supported_parameters).toContain("response_format");
  expect(own?.supported_parameters).not.toContain("structured_outputs");
});
