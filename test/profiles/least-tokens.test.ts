import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CHAT, MESSAGES, type ProfileSite, RESPONSES, startProfileSite } from "./sites/profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(`
providers:
  own:
    base_url: "{vendor}"
    format: openai-responses
    models: [{ id: acme/model, prices: { prompt: "0.000001", completion: "0.0001" } }]
`);
});
afterAll(() => site.stop());

const OWN = "acme/model";

describe("less than 16 tokens for a host of the Responses format", () => {
  test.each([
    [RESPONSES, { max_output_tokens: 8 }],
    [CHAT, { max_tokens: 8 }],
    [CHAT, { max_completion_tokens: 1 }],
    [MESSAGES, { max_tokens: 1 }],
  ])("become 16 for a client of $name, and are named: %j", async (api, more) => {
    const { status, sent, named } = await site.ask(api, OWN, more);
    expect([status, sent["max_output_tokens"]]).toEqual([200, 16]);
    expect(named).toContain("max_output_tokens");
  });

  test("become 16 at OpenAI, in its Responses format", async () => {
    const { sent, named } = await site.ask(RESPONSES, "openai/gpt-5.1", { max_output_tokens: 1 });
    expect([sent["max_output_tokens"], named]).toEqual([16, ["max_output_tokens"]]);
  });

  test("stay what they are in its chat format", async () => {
    const { sent, named } = await site.ask(CHAT, "openai/gpt-4.1", { max_tokens: 8 });
    expect([sent["max_completion_tokens"], named]).toEqual([8, []]);
  });

  test.each([[16], [4_000]])("do not concern %d, which arrive as they are", async (tokens) => {
    const { sent, named } = await site.ask(RESPONSES, OWN, { max_output_tokens: tokens });
    expect([sent["max_output_tokens"], named]).toEqual([tokens, []]);
  });
});

describe("a code completion at a host that knows only the fields of its documents", () => {
  const code = "mistralai/codestral-latest";
  async function complete(more: Readonly<Record<string, unknown>>) {
    site.vendor.reset();
    const response = await fetch(`${site.gateway.url}/api/fim/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: code, prompt: "def f(", max_tokens: 20, ...more }),
    });
    const text = await response.text();
    return { status: response.status, text, sent: JSON.parse(site.vendor.last().text) as unknown };
  }

  test("has the seed under its own name, and no user", async () => {
    const { status, sent } = await complete({ seed: 7, user: "ada", safety_identifier: "ada" });
    expect(status).toBe(200);
    expect(sent).toEqual({ model: "codestral-latest", prompt: "def f(", max_tokens: 20, random_seed: 7 });
  });

  test("has every field of the documents as it came", async () => {
    const fields = {
      suffix: "return",
      temperature: 0.3,
      top_p: 0.9,
      min_tokens: 2,
      stop: ["x"],
      random_seed: 7,
    };
    const { sent } = await complete(fields);
    expect(sent).toMatchObject(fields);
  });
});
