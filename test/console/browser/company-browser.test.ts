import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import { openConsolePage, PageTraffic, signInWith, waitForData } from "../../support/browser/console-page.ts";
import { visitScreens } from "../../support/browser/console-screens.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;
const TEST_MS = 120_000;
/** The most requests that a screen sends to show its first data. */
const MAX_REQUESTS = 12;

describe.skipIf(CHROMIUM === null)("the console of a company with 200 people, 600 keys and 30 teams", () => {
  let site: ConsoleSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 2_000, spanMs: 10 * DAY_MS, isCompany: true });
    browser = await startBrowser();
  }, 90_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  for (const person of ["operator", "owner"] as const)
    test(
      `sends at most ${MAX_REQUESTS} requests for each screen that it shows to the ${person}`,
      async () => {
        const visits = await visitScreens(browser, site, site.secrets[person]);
        expect(visits.length).toBeGreaterThan(20);
        const many = visits.filter(({ sent }) => sent.length > MAX_REQUESTS);
        expect(many.map(({ address, sent }) => [address, sent])).toEqual([]);
      },
      TEST_MS,
    );

  test("shows the first page of each list, finds people and teams, and orders all keys and not those of a page", async () => {
    const { page } = await openConsolePage(browser, site.gateway.url);
    await signInWith(page, site.secrets.owner);
    const traffic = new PageTraffic(page);
    const rows = page.locator("tbody tr");
    const go = async (path: string) => {
      await page.goto(`${site.gateway.url}/console/${path}`);
      await waitForData(page, traffic);
    };
    await go("people?tab=members");
    expect(await rows.count()).toBe(100);
    await page.getByRole("searchbox", { name: "Search members" }).fill("person-199@");
    await page.getByRole("link", { name: "Person 199" }).waitFor();
    await page.getByRole("link", { name: "Person 0", exact: true }).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(1);

    await go("people?tab=teams");
    expect(await rows.count()).toBe(32);
    await go("keys?order=oldest_secret");
    expect(await rows.count()).toBe(100);
    const { rows: oldest } = await callAdmin(
      site.gateway,
      site.secrets.owner,
      "GET",
      `/keys?limit=100&order=oldest_secret`,
    );
    const names = await rows.locator("td:first-child a").allInnerTexts();
    expect(names).toEqual(oldest.map(({ name }) => String(name)));
    await page.getByRole("button", { name: "Show more" }).click();
    await rows.nth(150).waitFor();
    expect(await rows.count()).toBe(200);
    await page.context().close();
  }, 60_000);

  test("finds a person among 200 in the dialog of a key, and offers only the teams of this person", async () => {
    const { page } = await openConsolePage(browser, site.gateway.url);
    await signInWith(page, site.secrets.owner);
    await page.goto(`${site.gateway.url}/console/keys`);
    await page.getByRole("button", { name: "Create key" }).click();
    const form = page.getByRole("dialog", { name: "Create key" });
    await form.getByRole("combobox", { name: "Person" }).fill("person 137");
    await form.getByRole("option", { name: /Person 137/ }).click();
    const teams = form.getByRole("combobox", { name: "Team" });
    expect(await teams.locator("option").allInnerTexts()).toEqual(["No team", "Team 17"]);
    await page.context().close();
  });
});
