import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AskableApi } from "../support/clients/client-apis.ts";
import {
  CHAT,
  type Fields,
  MESSAGES,
  OWN_HOSTS,
  type ProfileSite,
  RESPONSES,
  startProfileSite,
} from "./sites/profile-site.ts";

let site: ProfileSite;
beforeAll(async () => {
  site = await startProfileSite(OWN_HOSTS);
});
afterAll(() => site.stop());

const DATA = "iVBORw0KGgo=";

/** A request with an image whose media type is spelled like this. */
function withImage({ name: api }: AskableApi, type: string): Fields {
  const url = `data:${type};base64,${DATA}`;
  if (api === RESPONSES.name)
    return { input: [{ role: "user", content: [{ type: "input_image", image_url: url, detail: "auto" }] }] };
  const source = { type: "base64", media_type: type, data: DATA };
  const part = api === CHAT.name ? { type: "image_url", image_url: { url } } : { type: "image", source };
  return { messages: [{ role: "user", content: [part] }] };
}

const MODELS = [
  "own/chat",
  "own/responses",
  "own/messages",
  "anthropic/claude-sonnet-4.5",
  "google/gemini-2.5-flash",
];

describe.each([CHAT, RESPONSES, MESSAGES])("the media type of an image of $name", (api) => {
  test.each(MODELS)(
    "reaches %s as the registered one, in lower case and without parameters",
    async (model) => {
      for (const [type, normal] of [
        ["image/jpg", "image/jpeg"],
        ["IMAGE/PNG", "image/png"],
        ["image/png;charset=utf-8", "image/png"],
        ["Image/JPG; charset=utf-8", "image/jpeg"],
      ] as const) {
        const { status, sent } = await site.ask(api, model, withImage(api, type));
        const text = JSON.stringify(sent);
        expect(status).toBe(200);
        expect(text).toContain(normal);
        expect(text).not.toMatch(/jpg|IMAGE\/|charset/);
        expect(text).toContain(DATA);
      }
    },
  );

  test("is forwarded as it is where it is the usual one", async () => {
    const host = { [CHAT.name]: "own/chat", [RESPONSES.name]: "own/responses" }[api.name] ?? "own/messages";
    const more = withImage(api, "image/webp");
    expect((await site.ask(api, host, more)).sent).toMatchObject(more);
  });
});

test("a URL with escaped slashes is not changed, nor one that is no data URL", async () => {
  const body = (url: string) =>
    `{"model":"own/chat","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${url}"}}]}]}`;
  for (const url of ["data:image\\/png;base64,iVBORw0KGgo=", "https://a.test/data:image/jpg;base64,x"]) {
    site.vendor.reset();
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.gateway.key}`, "content-type": "application/json" },
      body: body(url),
    });
    expect(response.status).toBe(200);
    expect(site.vendor.last().text).toContain(url);
  }
});
