import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

describe.skipIf(CHROMIUM === null)("a page of another origin in a browser", () => {
  let browser: Browser;
  /** Serves an empty page. */
  let site: Bun.Server<undefined>;
  let gateway: TestGateway;

  beforeAll(async () => {
    const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
    site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: page });
    const yaml = JSON.stringify({ server: { cors: { origins: [`http://127.0.0.1:${site.port}`] } } });
    gateway = await startTestGateway({ yaml });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await site.stop(true);
  });

  /** Calls a model from a page at `origin`, as a script does. Returns what the script can read. */
  async function callFrom(origin: string): Promise<unknown> {
    const page = await browser.newPage();
    await page.goto(origin);
    const body = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] });
    const script = `fetch(${JSON.stringify(`${gateway.base}/chat/completions`)}, {
      method: "POST",
      headers: { authorization: "Bearer ${gateway.key}", "content-type": "application/json" },
      body: ${JSON.stringify(body)},
    }).then(
      async (response) => ({
        status: response.status,
        generation: response.headers.get("x-gateway-generation-id"),
        object: (await response.json()).object,
      }),
      (error) => error.name,
    )`;
    const result = await page.evaluate(script);
    await page.close();
    return result;
  }

  test("calls a model and reads the id of the generation if its origin is listed", async () => {
    expect(await callFrom(`http://127.0.0.1:${site.port}`)).toEqual({
      status: 200,
      generation: expect.stringMatching(/^gen_/),
      object: "chat.completion",
    });
  });

  test("is stopped by the browser if its origin is not listed", async () => {
    expect(await callFrom(`http://localhost:${site.port}`)).toBe("TypeError");
  });
});
