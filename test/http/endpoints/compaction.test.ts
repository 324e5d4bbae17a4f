import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ProfileSite, RESPONSES, startProfileSite } from "../../profiles/sites/profile-site.ts";
import { findFaults } from "../../support/open-responses/shapes.ts";

const HOSTS = `
providers:
  responder:
    base_url: "{vendor}"
    format: openai-responses
    models: [{ id: mine/responder, prices: { prompt: "0.000001", completion: "0.000001" } }]
`;

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(HOSTS);
});
afterAll(() => site.stop());

const input = [
  { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] },
  { type: "compaction_trigger" },
];
const compaction = { type: "compaction", id: "cmp_1", encrypted_content: "gAAA" };
const answer = () =>
  Response.json({
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [compaction],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });

describe("a request of Codex for a compaction", () => {
  test("reaches OpenAI as it is, and the compaction comes back", async () => {
    const { status, sent, text } = await site.ask(RESPONSES, "openai/gpt-5.4", { input }, answer);
    expect([status, sent["input"]]).toEqual([200, input]);
    expect(JSON.parse(text).output).toMatchObject([compaction]);
  });

  test.each([
    "mine/responder",
    "anthropic/claude-opus-4.8",
    "google/gemini-2.5-flash",
    "deepseek/deepseek-v4-pro",
  ])("asks %s, which has none, for a handover in plain text", async (model) => {
    const { sent } = await site.ask(RESPONSES, model, { input });
    expect(JSON.stringify(sent)).toContain("Write a complete handover");
    expect(JSON.stringify(sent)).not.toContain("compaction_trigger");
  });

  test.each(["anthropic/claude-opus-4.8", "google/gemini-2.5-flash"])(
    "with a compaction that OpenAI has made is a 400 before any call for %s",
    async (model) => {
      const { status, sent, text } = await site.ask(RESPONSES, model, {
        input: [compaction, ...input.slice(0, 1)],
      });
      expect([status, sent]).toEqual([400, {}]);
      expect(JSON.parse(text).error.message).toContain("only the vendor which made it");
    },
  );

  test("at the endpoint of older versions reaches OpenAI with a trigger, and has the compaction in its form", async () => {
    site.vendor.reset(answer);
    const response = await fetch(`${site.gateway.base}/responses/compact`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-5.4", input: input.slice(0, 1), instructions: "" }),
    });
    const compacted = await response.json();
    expect(compacted).toMatchObject({ object: "response.compaction", output: [compaction] });
    expect(findFaults("compaction", compacted)).toEqual([]);
  });
});
