import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  addFilter,
  expectVisible,
  listViolations,
  openConsolePage,
  type PageOptions,
  type PageProblems,
  signInWith,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";

/** Returns the text of the element with the focus. */
const FOCUSED = "document.activeElement.textContent";

describe.skipIf(CHROMIUM === null)("the traffic side of the console in a browser", () => {
  let site: ConsoleSite;
  let browser: Browser;
  const opened: { readonly page: Page; readonly problems: PageProblems }[] = [];

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 400 });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    expect(pages.flatMap(({ problems }) => problems.list)).toEqual([]);
  });

  async function open(path: string, options: PageOptions = {}): Promise<Page> {
    const one = await openConsolePage(browser, site.gateway.url, options);
    opened.push(one);
    await signInWith(one.page, site.secrets.operator);
    await one.page.goto(site.gateway.url + path);
    return one.page;
  }

  const search = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

  describe("columns", () => {
    test("a phone shows each request as a card with its model and its cost side by side", async () => {
      const page = await open("/console/requests", { width: 390 });
      const row = page.getByRole("table", { name: "Requests" }).locator("tbody tr").first();
      await row.waitFor();
      const [model, cost] = await Promise.all([
        row.locator(".card-title").boundingBox(),
        row.locator(".card-aside").boundingBox(),
      ]);
      expect([model?.x, cost!.x + cost!.width]).toEqual([16, 374]);
      expect(Math.abs(model!.y - cost!.y)).toBeLessThan(4);
      const titles = 'getComputedStyle(document.querySelector("tbody td:nth-child(9)"), "::before").content';
      expect(await page.evaluate(titles)).toContain("Duration");
      expect(await listViolations(page)).toEqual([]);
    });
  });

  describe("the filter bar", () => {
    test("a part of a model's name filters, and its chip is changed and removed with the keyboard", async () => {
      const page = await open("/console/requests");
      await page.getByRole("cell", { name: "openai/gpt-5-mini" }).first().waitFor();
      await page.keyboard.press("f");
      await page.getByRole("combobox", { name: "Filter by" }).fill("model");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "contains", exact: true }).click();
      await page.getByRole("combobox", { name: "Model contains" }).fill("CLAUDE");
      await page.keyboard.press("Enter");
      await page.waitForURL(/model_contains=CLAUDE/);
      await page.getByRole("cell", { name: "openai/gpt-5-mini" }).first().waitFor({ state: "detached" });
      await expectVisible(page.getByRole("cell", { name: /anthropic\/claude/ }).first());
      const chip = page.getByRole("button", { name: "Model contains CLAUDE" });
      await chip.press("Enter");
      await page.getByRole("combobox", { name: "Model contains" }).fill("kimi");
      expect(await listViolations(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await page.waitForURL(/model_contains=kimi/);
      await page.getByRole("button", { name: "Model contains kimi" }).press("Delete");
      await page.waitForURL((url) => url.search === "");
      expect(await page.evaluate(FOCUSED)).toBe("Filter");
    });

    test("Escape closes the menu and returns to the button, and Backspace returns to the fields", async () => {
      const page = await open("/console/requests");
      const add = page.getByRole("button", { name: "Filter", exact: true });
      await add.press("Enter");
      await page.getByRole("option", { name: "Outcome" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "Outcome is" }).waitFor();
      await page.keyboard.press("Backspace");
      await page.getByRole("combobox", { name: "Filter by" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("combobox", { name: "Filter by" }).waitFor({ state: "detached" });
      expect(await page.evaluate(FOCUSED)).toBe("Filter");
      expect(search(page)).toEqual({});
    });

    test("usage is filtered by the same bar, by names in place of ids", async () => {
      const page = await open("/console/usage?by=key");
      await page.getByRole("link", { name: "support assistant" }).waitFor();
      await addFilter(page, "Key", "support assistant");
      await expectVisible(page.getByRole("button", { name: "Key is support assistant" }));
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor({ state: "detached" });
      expect(search(page)["key_id"]).toStartWith("key_");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
    });
  });

  test("the histogram has a scale, and arrow keys read and choose its periods", async () => {
    const page = await open("/console/requests");
    const cursor = page.getByRole("slider", { name: /^Period/ });
    await cursor.waitFor();
    const [top = ""] = await page.locator(".histogram-scale span").allInnerTexts();
    expect(Number(top)).toBeGreaterThan(0);
    await cursor.focus();
    await cursor.press("ArrowLeft");
    const said = (await cursor.getAttribute("aria-valuetext")) ?? "";
    expect(said).toMatch(/^\d+ \w+, \d\d:\d\d – .*: /);
    await expectVisible(page.locator(".histogram-legend").getByText(said.split(": ")[0] ?? ""));
    await cursor.press("Shift+ArrowLeft");
    await cursor.press("Enter");
    await page.waitForURL(/from=.*&to=/);
    const { from = "", to = "" } = search(page);
    expect(Date.parse(to) - Date.parse(from)).toBe(2 * 30 * 60_000);
  });

  describe("the time zone", () => {
    test("times are in the zone of the browser until UTC is chosen, for list, hints and file alike", async () => {
      const page = await open("/console/requests", { timeZone: "Asia/Kolkata" });
      await page.getByRole("columnheader", { name: "Time (UTC+5:30)" }).waitFor();
      const first = page.locator("tbody tr td:first-child").first();
      expect(await first.getAttribute("title")).toEndWith(" UTC+5:30");
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export as CSV" }).click();
      const [head = "", row = ""] = readFileSync(await (await saved).path(), "utf8").split("\r\n");
      const at = row.split(",")[head.split(",").indexOf("created_at")] ?? "";
      expect(at).toMatch(/T\d\d:\d\d:\d\d\.\d{3}\+05:30$/);
      expect(Number.isNaN(Date.parse(at))).toBe(false);
      await page
        .getByRole("button", { name: /^Times in UTC\+5:30/ })
        .first()
        .click();
      await page.getByRole("columnheader", { name: "Time (UTC)" }).waitFor();
      expect(await first.getAttribute("title")).toEndWith(" UTC");
      await page.reload();
      await page.getByRole("columnheader", { name: "Time (UTC)" }).waitFor();
      await page.goto(`${site.gateway.url}/console/usage?range=24h`);
      await page
        .locator(".chart")
        .getByRole("button", { name: /^Times in UTC\./ })
        .waitFor();
      await page.getByRole("button", { name: "7 days" }).click();
      await expectVisible(page.locator(".chart").getByText("Days in UTC"));
    });

    test("days of usage are days in the zone, and the requests behind a line are those of these days", async () => {
      const page = await open("/console/welcome", { timeZone: "Etc/GMT-9" });
      const asked = page.waitForRequest(/\/api\/admin\/usage\?.*timezone=Etc%2FGMT-9/);
      await page.goto(`${site.gateway.url}/console/usage?range=7d`);
      await asked;
      await expectVisible(page.locator(".chart").getByText("Days in UTC+9"));
      await page.getByRole("link", { name: "openai/gpt-5-mini" }).click();
      await page.waitForURL(/from=.*T15%3A00%3A00.000Z&to=.*T15%3A00%3A00.000Z/);
    });

    test("a chart says that its last hour still runs", async () => {
      const page = await open("/console/usage?range=24h");
      await expectVisible(page.getByText("This hour, so far"));
      await page.getByRole("button", { name: "Table", exact: true }).click();
      const times = page.getByRole("region", { name: "Cost by hour" }).locator("tbody td:first-child");
      await times.first().waitFor();
      const texts = await times.allInnerTexts();
      expect(texts.map((text) => text.endsWith("(so far)"))).toEqual([...Array(23).fill(false), true]);
      await page.goto(`${site.gateway.url}/console/usage?from=2026-01-01&to=2026-01-31`);
      await page.getByRole("heading", { name: "No requests in this range" }).waitFor();
    });
  });

  describe("a load that fails", () => {
    const body = JSON.stringify({ error: { message: "The database is not available.", code: 503 } });
    const expectFailures = () => {
      for (const { problems } of opened)
        expect(problems.list.splice(0).every((line) => line.includes("503"))).toBe(true);
    };

    test("of another range of usage leaves none of the former numbers", async () => {
      const page = await open("/console/usage?range=7d");
      await page.getByRole("table", { name: "Usage by model" }).waitFor();
      await page.route("**/api/admin/usage*", (route) =>
        route.fulfill({ status: 503, contentType: "application/json", body }),
      );
      await page.getByRole("button", { name: "30 days" }).click();
      await page.getByRole("alert").getByText("The database is not available.").waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
      expect(await page.locator(".figure-value").count()).toBe(0);
      await page.unrouteAll();
      await page.getByRole("button", { name: "Try again" }).click();
      await expectVisible(page.getByRole("table", { name: "Usage by model" }));
      expectFailures();
    });

    test("of other filters of the list leaves neither rows nor bars, and both load again", async () => {
      const page = await open("/console/requests");
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await page.route(/\/api\/admin\/generations(\/histogram)?\?/, (route) =>
        route.fulfill({ status: 503, contentType: "application/json", body }),
      );
      await addFilter(page, "Outcome", "Failed");
      await page.getByRole("alert").nth(1).waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
      expect(await page.locator(".bars").count()).toBe(0);
      await page.unrouteAll();
      const retry = page.getByRole("button", { name: "Try again" });
      await retry.nth(1).click();
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await retry.click();
      await page.locator(".bars").waitFor();
      expect(await page.getByRole("cell", { name: "Completed" }).count()).toBe(0);
      expectFailures();
    });
  });

  test("done first steps leave the navigation but not the list of pages, and the documentation is linked", async () => {
    const page = await open("/console");
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
    const navigation = page.getByRole("navigation", { name: "Screens" });
    expect(await navigation.getByRole("link", { name: "Welcome" }).count()).toBe(0);
    const link = await navigation.getByRole("link", { name: "Documentation" }).getAttribute("href");
    expect((await fetch(site.gateway.url + link)).status).toBe(200);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to" }).fill("welcome");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Welcome" }).waitFor();
  });
});
