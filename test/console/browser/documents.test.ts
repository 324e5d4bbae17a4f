import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import { listViolations, openConsolePage, type PageOptions } from "../../support/browser/console-page.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

describe.skipIf(CHROMIUM === null)("the documents in a browser", () => {
  let browser: Browser;
  let gateway: TestGateway;
  beforeAll(async () => {
    [browser, gateway] = await Promise.all([startBrowser(), startTestGateway()]);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
  });

  /** Opens a page of the documents. The list has what went wrong, without the icon that browsers ask for. */
  async function open(path: string, options: PageOptions) {
    const { page, problems } = await openConsolePage(browser, gateway.url, options);
    await page.goto(`${gateway.url}${path}`);
    return { page, listProblems: () => problems.list.filter((one) => !one.includes("favicon.ico")) };
  }

  const measureOverflow = (page: Page) =>
    page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");

  test.each([
    ["light", 1_280],
    ["dark", 1_920],
    ["light", 390],
    ["dark", 390],
  ] as const)(
    "pages in %s at a width of %d are accessible, and scroll only down",
    async (colorScheme, width) => {
      const { page, listProblems } = await open("/docs", { colorScheme, width });
      for (const path of [
        "/docs",
        "/docs/operations/install",
        "/docs/performance",
        "/docs/search?q=budget",
      ]) {
        await page.goto(`${gateway.url}${path}`);
        expect([path, await measureOverflow(page), await listViolations(page)]).toEqual([path, 0, []]);
      }
      expect(listProblems()).toEqual([]);
      await page.context().close();
    },
    60_000,
  );

  test("the search is used with the keyboard alone, and a result leads to its section", async () => {
    const { page, listProblems } = await open("/docs/routing", {});
    await page.keyboard.press("Tab");
    expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Skip to the content");
    await page.getByRole("searchbox", { name: "Search the documents" }).focus();
    await page.keyboard.type("prompt caches");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${gateway.url}/docs/search?q=prompt+caches`);
    await page.getByRole("main").getByRole("link", { name: "Prompt caches", exact: true }).click();
    await page.waitForURL(`${gateway.url}/docs/routing#prompt-caches`);
    expect(listProblems()).toEqual([]);
    await page.context().close();
  });

  test("a block of code is copied without a line break at its end", async () => {
    const { page, listProblems } = await open("/docs/operations/install", {});
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const button = page.getByRole("button", { name: "Copy" }).first();
    await button.click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const shown = await page.locator("pre").first().textContent();
    expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(shown?.trimEnd() ?? "");
    expect(listProblems()).toEqual([]);
    await page.context().close();
  });

  test("on a phone the pages are in a menu, and a wide table scrolls by itself", async () => {
    const { page } = await open("/docs/performance", { width: 390 });
    await page.getByText("Pages", { exact: true }).click();
    await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link", { name: "Routing", exact: true })
      .waitFor();
    const hidden = await page.evaluate<number>(
      "Math.max(...[...document.querySelectorAll('.scroll')].map((table) => table.scrollWidth - table.clientWidth))",
    );
    expect(hidden).toBeGreaterThan(0);
    expect(await measureOverflow(page)).toBe(0);
    await page.context().close();
  });
});
