import { afterAll, beforeAll, expect, test } from "bun:test";
import { CHAT, MESSAGES, type ProfileSite, RESPONSES, startProfileSite } from "./profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite();
});
afterAll(() => site.stop());

const PNG = "iVBORw0KGgo=";

test.each([
  ["image/jpg", "image/jpeg"],
  ["IMAGE/PNG", "image/png"],
  ["image/png;charset=utf-8", "image/png"],
])("an image of the type %s reaches other formats as %s, from each client API", async (type, registered) => {
  const url = `data:${type};base64,${PNG}`;
  const chat = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
  const input = [{ role: "user", content: [{ type: "input_image", image_url: url }] }];
  const source = { type: "base64", media_type: type, data: PNG };
  const messages = [{ role: "user", content: [{ type: "image", source }] }];
  const toClaude = [
    await site.ask(CHAT, "anthropic/claude-sonnet-4.5", { messages: chat }),
    await site.ask(RESPONSES, "anthropic/claude-sonnet-4.5", { input }),
  ];
  for (const { sent } of toClaude) expect(JSON.stringify(sent)).toContain(`"media_type":"${registered}"`);
  const toGemini = [
    await site.ask(CHAT, "google/gemini-2.5-flash", { messages: chat }),
    await site.ask(RESPONSES, "google/gemini-2.5-flash", { input }),
    await site.ask(MESSAGES, "google/gemini-2.5-flash", { messages }),
  ];
  for (const { sent } of toGemini) expect(JSON.stringify(sent)).toContain(`"mimeType":"${registered}"`);
});
