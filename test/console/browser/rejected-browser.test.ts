import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  expectVisible,
  listViolations,
  openConsolePage,
  signInWith,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";

const CHAT = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }] };

describe.skipIf(CHROMIUM === null)("rejected requests in the console", () => {
  let site: ConsoleSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 30 });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  async function openAs(role: keyof ConsoleSite["secrets"], path: string) {
    const { page, problems } = await openConsolePage(browser, site.gateway.url);
    await signInWith(page, site.secrets[role]);
    await page.goto(site.gateway.url + path);
    return { page, problems };
  }

  /** Sends a request that is rejected, and returns its id. */
  async function reject(body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${site.inferenceKey}`,
        "content-type": "application/json",
        ...headers,
      },
      body: JSON.stringify({ ...CHAT, ...body }),
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  }

  const search = async (page: Page, id: string) => {
    await page.getByRole("searchbox", { name: "Search by id" }).fill(id);
    await page.keyboard.press("Enter");
  };

  test("a request with an invalid field is found by its id, and its page names the field and what to do", async () => {
    const id = await reject({ temperature: "hot" }, { "user-agent": "claude-cli/2.1.329 (external, cli)" });
    const { page, problems } = await openAs("operator", "/console/requests");
    await search(page, id);
    await expectVisible(page.getByText("temperature must be a number from 0 to 2."));
    await expectVisible(page.getByText("400 invalid_request"));
    await expectVisible(page.getByText("The client must change the field temperature", { exact: false }));
    await expectVisible(page.getByText("claude-code 2.1.329"));
    expect(await listViolations(page)).toEqual([]);
    // The lookup of a generation by this id is answered with 404.
    expect(problems.list.filter((problem) => !problem.includes("404"))).toEqual([]);
    await page.context().close();
  });

  test("the list has rejected requests beside generations, can show them alone, and gets new ones live", async () => {
    const { page } = await openAs("operator", "/console/requests");
    const table = page.getByRole("table", { name: "Requests" });
    await expectVisible(table.getByText("Completed").first());
    await reject({ model: "openai/gpt-4o-minni" });
    await expectVisible(table.getByText("openai/gpt-4o-minni"));
    await page.goto(`${site.gateway.url}/console/requests?outcome=rejected`);
    await expectVisible(table.getByText("openai/gpt-4o-minni"));
    expect(await table.getByText("Completed").count()).toBe(0);
    await reject({ model: "openai/gpt-5-maxi" });
    await table.getByText("openai/gpt-5-maxi").click();
    await expectVisible(page.getByRole("link", { name: "Search the models" }));
    await page.context().close();
  });

  test("the owner of an account sees why its request was rejected, and only pages that the owner may see", async () => {
    const id = await reject({ model: "openai/gpt-4o-minni" });
    const { page } = await openAs("owner", `/console/requests/${id}`);
    await expectVisible(page.getByText("Did you mean", { exact: false }));
    expect(await page.getByRole("link", { name: "Open the named routes" }).count()).toBe(0);
    const unknown = await reject({}, { authorization: "Bearer sk-of-a-provider" });
    await page.goto(`${site.gateway.url}/console/requests/${unknown}`);
    await expectVisible(page.getByText("Request not found"));
    await page.context().close();
  });
});
