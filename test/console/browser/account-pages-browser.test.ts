import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  addFilter,
  expectVisible,
  listViolations,
  type PageOptions,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { SitePages, type SiteUser } from "../../support/browser/site-pages.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;

describe.skipIf(CHROMIUM === null)(
  "pages of keys and accounts, lists with a search, and the audit log in a browser",
  () => {
    let site: ConsoleSite;
    let browser: Browser;
    let keyId = "";
    let pages: SitePages;

    beforeAll(async () => {
      site = await startConsoleSite({ generations: 200, spanMs: 5 * DAY_MS });
      browser = await startBrowser();
      pages = new SitePages(site, browser);
      const { rows } = await admin("GET", "/keys?limit=100");
      keyId = String(rows.find(({ name }) => name === "storefront production")?.["id"]);
      await admin("PATCH", `/keys/${keyId}`, { spend_limit: 20, spend_limit_period: "month" });
      await admin("PATCH", `/keys/${keyId}`, { spend_limit: 1_234.5 });
      for (const [name, limit] of [
        ["Whole organization", 500],
        ["Tiny", 0.000001],
      ] as const)
        await admin("POST", "/budgets", { account_id: site.organization, name, limit, period: "month" });
    }, 60_000);
    afterAll(async () => {
      await browser.close();
      await site.stop();
    });
    afterEach(async () => {
      expect(await pages.closeAll()).toEqual([]);
    });

    const admin = (method: string, path: string, body?: unknown) =>
      callAdmin(site.gateway, site.secrets.operator, method, path, body);

    const openAs = (user: SiteUser, path: string, options?: PageOptions) => pages.openAs(user, path, options);

    describe("the page of a key", () => {
      test("shows what was spent of its limit, its settings, budgets, usage and newest requests, and is reached from the list", async () => {
        const page = await openAs("operator", "keys");
        await page.getByRole("link", { name: "storefront production" }).click();
        await page.waitForURL(new RegExp(`/console/keys/${keyId}$`));
        await page.getByText(/^\$[\d.]+ \/ \$1,235$/).waitFor();
        await expectVisible(page.getByText("$1,235 – Each month (UTC)"));
        const budgets = page.getByRole("region", { name: "Budgets" });
        await budgets.getByRole("row", { name: /Tiny.*Reached/ }).waitFor();
        await page.locator(".chart canvas").waitFor();
        const requests = page.getByRole("region", { name: "Newest requests" });
        expect(await requests.locator("tbody tr").count()).toBe(10);
        await page.getByRole("link", { name: "All requests" }).click();
        await page.waitForURL(/\/console\/requests\?.*key_id=key_/);
      });

      test("changes the key, and leads to what was changed, as sentences", async () => {
        const page = await openAs("operator", `keys/${keyId}`);
        await page.getByRole("button", { name: "Edit" }).click();
        const form = page.getByRole("dialog");
        await form.getByLabel("Cache answers for: unit").selectOption("hours");
        await form.getByLabel("Cache answers for", { exact: true }).fill("2");
        await form.getByRole("button", { name: "Save" }).click();
        await form.waitFor({ state: "detached" });
        await page.getByText("2 hours", { exact: true }).waitFor();
        await page.getByRole("link", { name: "Changes" }).click();
        await page
          .getByText("changed the limit of the key storefront production from $20.00 to $1,235")
          .waitFor();
        await expectVisible(
          page.getByText(
            "changed how long answers are cached of the key storefront production from none to 2 hours",
          ),
        );
      });

      test("of another account is not found by an owner", async () => {
        const { rows } = await admin("GET", "/keys?limit=100");
        const other = rows.find(({ account_id }) => account_id !== site.organization);
        const page = await openAs("owner", `keys/${other?.["id"]}`);
        await page.getByText("There is no key with that id").waitFor();
        pages.takeProblems();
      });
    });

    describe("the list of keys", () => {
      test("is searched, and shows the keys that were never used", async () => {
        const page = await openAs("operator", "keys");
        await page.getByRole("searchbox", { name: "Search keys" }).fill("LAPTOP");
        await page.getByRole("link", { name: "storefront production" }).waitFor({ state: "detached" });
        await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
        expect(new URL(page.url()).searchParams.get("q")).toBe("LAPTOP");
        await page.getByRole("combobox", { name: "Use" }).selectOption("30d");
        await page.getByRole("heading", { name: "No key matches" }).waitFor();
        await page.getByRole("combobox", { name: "Use" }).selectOption("never");
        await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
        await page.reload();
        await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
        expect(await page.getByRole("searchbox", { name: "Search keys" }).inputValue()).toBe("LAPTOP");
      });

      test("is sorted by cost, the largest first", async () => {
        const page = await openAs("operator", "keys?ended=1");
        await page.getByRole("row", { name: /storefront production.*\$\d/ }).waitFor();
        await page.getByRole("button", { name: "Cost 30 d" }).click();
        const first = await page.locator("tbody tr").first().innerText();
        expect(first).toContain("storefront production");
        expect(new URL(page.url()).searchParams.get("sort")).toBe("-cost");
      });

      test("suggests models, routes and patterns for a new key", async () => {
        const page = await openAs("owner", "keys");
        await page.getByRole("button", { name: "Create key" }).click();
        const form = page.getByRole("dialog");
        const models = form.getByRole("combobox", { name: "Models" });
        await models.click();
        await models.fill("openai/");
        await form.getByRole("option", { name: /^openai\/\* ?matches \d+ models$/ }).waitFor();
        await models.press("Enter");
        await models.fill("gpt-5-mini");
        await form.getByRole("option", { name: "openai/gpt-5-mini" }).click();
        await form.getByLabel("Name").fill("suggested");
        await form.getByRole("button", { name: "Create key" }).click();
        await page.getByRole("dialog", { name: /was created/ }).waitFor();
        const { rows } = await admin("GET", "/keys?name=suggested");
        expect(rows[0]?.["models"]).toEqual(["openai/*", "openai/gpt-5-mini"]);
      });
    });

    describe("the page of an organization", () => {
      test("has tabs that the address names and the arrow keys move between", async () => {
        const page = await openAs("operator", `people/${site.organization}`);
        await page.getByText("Spent this month (UTC)").waitFor();
        const tab = (name: string) => page.getByRole("tab", { name });
        await tab("Overview").focus();
        await page.keyboard.press("ArrowRight");
        await page.getByRole("row", { name: /Grace Hopper/ }).waitFor();
        await tab("Keys").click();
        await page.getByRole("link", { name: "storefront production" }).waitFor();
        expect(await page.getByRole("link", { name: /nightly evaluation/ }).count()).toBe(0);
        await tab("Budgets").click();
        await page.getByRole("row", { name: /Tiny.*Reached/ }).waitFor();
        await tab("Usage").click();
        await page.locator(".chart canvas").waitFor();
        expect(new URL(page.url()).searchParams.get("tab")).toBe("usage");
        await page.reload();
        await page.locator(".chart canvas").waitFor();
      });

      test("creates a key and a budget of a member for the organization, chosen by names", async () => {
        const page = await openAs("operator", `people/${site.organization}?tab=keys`);
        await page.getByRole("button", { name: "Create key" }).click();
        const form = page.getByRole("dialog");
        expect(await form.getByRole("combobox", { name: "Account" }).count()).toBe(0);
        await form.getByLabel("Name").fill("made here");
        await form.getByRole("button", { name: "Create key" }).click();
        await page.getByRole("dialog", { name: /was created/ }).waitFor();
        await page.keyboard.press("Escape");
        const { rows: keys } = await admin("GET", "/keys?name=made+here");
        expect(keys[0]?.["account_id"]).toBe(site.organization);
        await page.getByRole("tab", { name: "Budgets" }).click();
        await page.getByRole("button", { name: "Create budget" }).click();
        const budget = page.getByRole("dialog");
        await budget.getByLabel("Limits").selectOption("member");
        await budget.getByRole("combobox", { name: "Member" }).click();
        await budget.getByRole("option", { name: /Grace Hopper/ }).click();
        await budget.getByLabel("Limit in dollars").fill("7");
        await budget.getByRole("button", { name: "Create budget" }).click();
        await page.getByRole("row", { name: /Grace Hopper.*\$7\.00/ }).waitFor();
      });

      test("searches members", async () => {
        const page = await openAs("owner", "people?tab=members");
        await page.getByRole("row", { name: /Ada Lovelace/ }).waitFor();
        await page.getByRole("searchbox", { name: "Search members" }).fill("hopper");
        await page.getByRole("row", { name: /Ada Lovelace/ }).waitFor({ state: "detached" });
        await page.getByRole("row", { name: /Grace Hopper/ }).waitFor();
        await page.getByRole("searchbox", { name: "Search members" }).fill("without a match");
        await page.getByRole("heading", { name: "None matches" }).waitFor();
      });
    });

    test("budgets are searched, and one that is used up is red", async () => {
      const page = await openAs("operator", "budgets");
      const spent = page.getByRole("row", { name: /Tiny/ }).getByText(/ \/ /);
      await spent.waitFor();
      expect(await spent.getAttribute("class")).toBe("bad");
      await page.getByRole("searchbox", { name: "Search budgets" }).fill("whole org");
      await page.getByRole("row", { name: /Tiny/ }).waitFor({ state: "detached" });
      await page.getByRole("row", { name: /Whole organization/ }).waitFor();
    });

    test("the audit log is filtered by time, who made a change and its kind, and the filters are in the address", async () => {
      await callAdmin(site.gateway, site.secrets.owner, "POST", "/keys", { name: "by Ada" });
      const page = await openAs("operator", "audit");
      await page.getByText("created the key by Ada").waitFor();
      await page.getByRole("combobox", { name: "Time", exact: true }).selectOption("24h");
      await addFilter(page, "Who", "Ada Lovelace");
      await addFilter(page, "Kind of change", "Key created");
      await page.getByText("granted $250.00").first().waitFor({ state: "detached" });
      expect(await page.locator("tbody tr .strong-name").first().innerText()).toBe("Ada Lovelace");
      const { searchParams } = new URL(page.url());
      expect([searchParams.get("last"), searchParams.get("kind")]).toEqual(["24h", "keyCreated"]);
      await page.reload();
      await page.getByText("created the key by Ada").waitFor();
      await page.locator("tbody button").first().click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("POST /api/admin/keys", { exact: true }).waitFor();
    });

    describe("every one of these pages", () => {
      const paths = () => [
        "keys",
        `keys/${keyId}`,
        "budgets",
        "people",
        "people?kind=user",
        "credits",
        `credits/${site.organization}`,
        `provider-keys?account=${site.organization}`,
        "audit",
        "models",
        ...["overview", "members", "keys", "budgets", "policy", "usage"].map(
          (tab) => `people/${site.organization}?tab=${tab}`,
        ),
      ];

      test("says that the API has failed, and loads when it is asked to try again", async () => {
        const page = await openAs("operator", "welcome");
        const message = "The database is not available.";
        const body = JSON.stringify({ error: { message, code: 503, metadata: {} } });
        for (const path of paths()) {
          await page.route("**/api/admin/**", (route) =>
            route.fulfill({ status: 503, contentType: "application/json", body }),
          );
          await page.goto(`${site.gateway.url}/console/${path}`);
          await page.getByText(message).first().waitFor();
          expect([path, await page.locator("[aria-busy=true]").count()]).toEqual([path, 0]);
          await page.unrouteAll();
          const retry = page.getByRole("button", { name: "Try again" });
          for (let left = await retry.count(); left > 0; left--) {
            await retry.first().click();
            await page
              .locator(".error-box")
              .nth(left - 1)
              .waitFor({ state: "detached" });
          }
          await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
          expect([path, await page.getByText(message).count()]).toEqual([path, 0]);
        }
        // The browser itself reports each response that was replaced.
        expect(pages.takeProblems().every((line) => line.includes("503"))).toBe(true);
      }, 90_000);

      for (const colorScheme of ["light", "dark"] as const)
        test(`the dialog of a key has no violation of WCAG 2.1 AA in the ${colorScheme} theme`, async () => {
          const page = await openAs("operator", "keys", { colorScheme });
          await page.getByRole("button", { name: "Create key" }).click();
          await page.getByRole("combobox", { name: "Models" }).click();
          expect(await listViolations(page)).toEqual([]);
        });
    });
  },
);
