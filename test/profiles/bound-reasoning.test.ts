import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "./sites/answer-turns.ts";
import { MESSAGES, type ProfileSite, startProfileSite } from "./sites/profile-site.ts";

/* Vendors bind thinking to the account that got it. */

const HOSTS = `
providers:
  cheap:
    base_url: "{vendor}/cheap"
    format: anthropic-messages
    api_keys: [key-cheap-0001]
    models: [{ id: acme/thinker, prices: { prompt: "0.000001", completion: "0.000001" } }]
  dear:
    base_url: "{vendor}/dear"
    format: anthropic-messages
    api_keys: [key-dear-0001, key-dear-0002, key-dear-0003]
    models: [{ id: acme/thinker, prices: { prompt: "0.000002", completion: "0.000002" } }]
`;

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(HOSTS);
});
afterAll(() => site.stop());

const CONTENT = [
  { type: "thinking", thinking: "thought", signature: "c2lnbmVk" },
  { type: "text", text: "Hello." },
];
const answer = () =>
  Response.json({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "up",
    content: CONTENT,
    stop_reason: "end_turn",
    usage: { input_tokens: 3_000, output_tokens: 2 },
  });

test("a conversation with signed thinking stays at its provider and key, wherever its cache marks are", async () => {
  const ask = async (messages: readonly Json[], more: object) => {
    const { status, sent } = await site.ask(MESSAGES, "acme/thinker", { messages, ...more }, answer);
    const { path, headers } = site.vendor.last();
    return { status, sent, account: [path, headers.get("x-api-key") ?? headers.get("authorization")] };
  };
  const mark = { cache_control: { type: "ephemeral" } };
  for (let conversation = 0; conversation < 8; conversation++) {
    const say = (text: string, more: object = {}) => ({
      role: "user",
      content: [{ type: "text", text: `${text} ${conversation}`, ...more }],
    });
    const first = await ask([say("Hi", mark)], { provider: { only: ["dear"] } });
    let history: readonly Json[] = [say("Hi"), { role: "assistant", content: CONTENT }];
    for (let turn = 0; turn < 3; turn++) {
      const next = await ask([...history, say("Go on", mark)], {});
      expect([next.status, next.account]).toEqual([200, first.account]);
      expect((next.sent["messages"] as Json[])[1]).toEqual({ role: "assistant", content: CONTENT });
      history = [...history, say("Go on"), { role: "assistant", content: CONTENT }];
    }
  }
});
