import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  expectVisible,
  listViolations,
  openConsolePage,
  type PageProblems,
  signInWith,
} from "../../support/browser/console-page.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { addAccountWithKey, manage } from "../../support/money.ts";
import { healthy, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

describe.skipIf(CHROMIUM === null)("the page of a request in a browser", () => {
  let vendor: Vendor;
  let gateway: TestGateway;
  let browser: Browser;
  let key: string;
  const opened: { readonly page: Page; readonly problems: PageProblems }[] = [];

  beforeAll(async () => {
    vendor = startVendor();
    const model = (id: string) =>
      `{id: ${id}, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}`;
    gateway = await startTestGateway({
      yaml: `
limits: {repeats: 0}
providers:
  two-keys: {base_url: "${vendor.baseUrl}", api_keys: [key-a, key-b], models: [${model("acme/one")}, ${model("acme/blocked")}]}
guardrails:
  - {name: no-tulips, kind: regex, on: request, action: block, patterns: [tulip], models: [acme/blocked]}`,
    });
    key = await addAccountWithKey(gateway, { id: "user_1" }, { cache: 600 });
    await manage(gateway, "/accounts/user_1/credits", { amount: 5 });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    vendor.stop();
  });
  afterEach(async () => {
    vendor.perform(healthy("Alpha"));
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    expect(pages.flatMap(({ problems }) => problems.list)).toEqual([]);
  });

  /** Asks, and returns the id of the generation. */
  async function ask(model: string, body: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "user-agent": "claude-cli/2.0.14 (external, cli)" },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }], ...body }),
    });
    await response.text();
    return response.headers.get("x-gateway-generation-id") ?? "";
  }

  async function openRequest(id: string, width = 1_280): Promise<Page> {
    const one = await openConsolePage(browser, gateway.url);
    opened.push(one);
    await one.page.setViewportSize({ width, height: 900 });
    await signInWith(one.page, gateway.adminKey);
    await one.page.goto(`${gateway.url}/console/requests/${id}`);
    await one.page.locator("#story").waitFor();
    return one.page;
  }

  const textsOf = (page: Page, selector: string) =>
    page
      .locator(selector)
      .allInnerTexts()
      .then((texts) => texts.map((text) => text.replace(/\s+/g, " ").trim()));

  test("names the key that failed and the key that answered, in the story, the timeline and the plan", async () => {
    vendor.perform((call) =>
      vendor.calls.length === 1
        ? call.respond(503, { error: { message: "Come back later.", code: "busy" } })
        : healthy("Alpha")(call),
    );
    const id = await ask("acme/one");
    const [failed, answered] = vendor.calls.map(({ head }) => (head.includes("key-a") ? 1 : 2));
    const page = await openRequest(id);
    expect(await textsOf(page, "#story li")).toEqual([
      `Key ${failed} of two-keys failed with 503: "Come back later."`,
      `Key ${answered} of two-keys answered.`,
      "The answer is complete.",
    ]);
    expect(await textsOf(page, "#why tbody tr")).toEqual([
      expect.stringContaining(`two-keys · key ${failed} Failed acme/one`),
      expect.stringContaining(`two-keys · key ${answered} Answered acme/one`),
    ]);
    const timeline = (await textsOf(page, "#way")).join(" ");
    expect(timeline).toContain(`two-keys · key ${failed}`);
    expect(timeline).toContain(`two-keys · key ${answered}`);
    await expectVisible(page.locator("#who").getByRole("link", { name: "claude-code" }));
    expect(await textsOf(page, "#who dd")).toContain("claude-code 2.0.14");
    expect(await listViolations(page)).toEqual([]);
  });

  test("leads from a cached answer to the request that produced it", async () => {
    const first = await ask("acme/one", { temperature: 0.1 });
    const second = await ask("acme/one", { temperature: 0.1 });
    const page = await openRequest(second);
    await expectVisible(page.locator(".request-head").getByText("Cached"));
    expect((await textsOf(page, "#cost dl")).join(" ")).toContain("Saved by the stored answer $0.00006");
    await page.locator("#story").getByRole("link", { name: first }).click();
    await page.waitForURL(new RegExp(`${first}$`));
    await expectVisible(page.locator(".request-head").getByText("Completed"));
  });

  test("names the guardrail that blocked a request, and fits a phone", async () => {
    const id = await ask("acme/blocked", { messages: [{ role: "user", content: "A tulip." }] });
    const page = await openRequest(id, 390);
    expect((await textsOf(page, "#story li"))[0]).toBe('The guardrail "no-tulips" blocked the request.');
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    expect(await listViolations(page)).toEqual([]);
  });
});
