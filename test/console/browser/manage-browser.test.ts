import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Cookie, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  type ConsolePage,
  expectVisible,
  listViolations,
  openConsolePage,
  signInWith,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;

describe.skipIf(CHROMIUM === null)("usage, credits, people and provider keys in a browser", () => {
  let site: ConsoleSite;
  let browser: Browser;
  const opened: ConsolePage[] = [];
  /** The cookies of sessions by role, so that each test does not sign in again. */
  const sessions = new Map<string, Cookie[]>();

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 300, spanMs: 10 * DAY_MS });
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

  async function open(options: Parameters<typeof openConsolePage>[2] = {}): Promise<Page> {
    const one = await openConsolePage(browser, site.gateway.url, options);
    opened.push(one);
    return one.page;
  }

  async function openAs(role: keyof ConsoleSite["secrets"], path: string): Promise<Page> {
    const page = await open();
    const cookies = sessions.get(role);
    if (cookies === undefined) {
      await signInWith(page, site.secrets[role]);
      sessions.set(role, await page.context().cookies());
    } else await page.context().addCookies(cookies);
    await page.goto(`${site.gateway.url}/console/${path}`);
    return page;
  }

  const admin = (method: string, path: string, body?: unknown) =>
    callAdmin(site.gateway, site.secrets.operator, method, path, body);

  /** Removes the browser's own report of a response of the API that the test provokes. */
  function expectStatus(status: number): void {
    for (const { problems } of opened)
      expect(problems.list.splice(0).every((line) => line.includes(String(status)))).toBe(true);
  }

  describe("answers that are late or fail", () => {
    const SCREENS = [
      "requests",
      "usage",
      "budgets",
      "credits",
      "people",
      "providers",
      "keys",
      "models",
      "settings",
      "audit",
    ];

    test("every screen shows its heading and that it is loading while the API does not answer", async () => {
      const page = await openAs("operator", "welcome");
      const { promise, resolve } = Promise.withResolvers<void>();
      await page.route("**/api/admin/**", async (route) => {
        await promise;
        await route.abort();
      });
      for (const path of [...SCREENS, `people/${site.organization}`, `credits/${site.organization}`]) {
        await page.goto(`${site.gateway.url}/console/${path}`, { waitUntil: "commit" });
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page.locator("[aria-busy=true]").first().waitFor();
        // A name that is being loaded is not replaced by an id.
        expect(await page.getByRole("heading", { level: 1 }).innerText()).not.toContain("org_");
      }
      // The browser would report each request that fails, at any time from now on.
      await page.goto("about:blank");
      resolve();
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });

    test("every screen says that the API has failed, and loads when it is asked to try again", async () => {
      const page = await openAs("operator", "welcome");
      const message = "The database is not available.";
      const body = JSON.stringify({ error: { message, code: 503, metadata: {} } });
      for (const path of SCREENS) {
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
      }
      expectStatus(503);
    }, 60_000);
  });

  describe("usage", () => {
    test("the table has the numbers of the API, and the sum is that of the whole period", async () => {
      const page = await openAs("operator", "usage?by=provider");
      const table = page.getByRole("region", { name: "Usage by provider" });
      await table.getByRole("link").first().waitFor();
      const { rows } = await admin("GET", "/usage?group_by=provider");
      expect(await table.locator("tbody tr").count()).toBe(rows.length);
      const total = rows.reduce((sum, { requests }) => sum + Number(requests), 0);
      const titles = await table.locator("thead th").allInnerTexts();
      const at = titles.findIndex((title) => title.startsWith("Requests"));
      expect(await table.locator("tfoot td").nth(at).innerText()).toBe(total.toLocaleString("en-US"));
    });

    test("the grouping, the range, the metric and the order are in the address and survive a reload", async () => {
      const page = await openAs("operator", "usage");
      await page.getByRole("region", { name: "Usage by model" }).waitFor();
      await page.getByRole("button", { name: "Key", exact: true }).click();
      await page.getByRole("button", { name: "7 days" }).click();
      await page.getByRole("combobox", { name: "Metric" }).selectOption("tokens");
      await page.getByRole("button", { name: "Requests" }).click();
      expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
        by: "key",
        range: "7d",
        metric: "tokens",
        sort: "-requests",
      });
      await page.reload();
      await page.getByRole("columnheader", { name: "Requests" }).waitFor();
      expect(await page.getByRole("columnheader", { name: "Requests" }).getAttribute("aria-sort")).toBe(
        "descending",
      );
      await page.getByRole("heading", { name: "Tokens by day" }).waitFor();
    });

    test("the chart is drawn, and the same numbers are in a table", async () => {
      const page = await openAs("owner", "usage?range=7d");
      await page.locator(".chart canvas").waitFor();
      await page.getByRole("button", { name: "Table" }).click();
      const rows = page.getByRole("region", { name: "Cost by day" }).locator("tbody tr");
      expect(await rows.count()).toBe(7);
      expect(await page.locator(".chart canvas").count()).toBe(0);
    });

    test("the chart has a line for each of the largest groups, and one group can be shown alone", async () => {
      const page = await openAs("operator", "usage?by=model");
      await page.getByRole("button", { name: "By model" }).click();
      await page.locator(".legend").getByText("All others").waitFor();
      expect(await page.locator(".legend-item").count()).toBe(6);
      const row = page.getByRole("row", { name: /claude-opus/ });
      await row.hover();
      await row.getByRole("button", { name: "Show only this" }).click();
      await page.getByRole("button", { name: "Model is anthropic/claude-opus-4.8" }).waitFor();
      await page.locator(".legend-item").nth(1).waitFor({ state: "detached" });
      expect(await page.locator(".legend-item").count()).toBe(1);
      expect(new URL(page.url()).searchParams.get("model")).toBe("anthropic/claude-opus-4.8");
    });

    test("24 hours are drawn by hour, with the percentiles of a time as lines and in a table", async () => {
      const page = await openAs("operator", "usage?range=7d");
      await page.getByRole("button", { name: "24 hours" }).click();
      await page.getByRole("heading", { name: "Cost by hour" }).waitFor();
      await page.getByRole("combobox", { name: "Metric" }).selectOption("latency");
      await page.getByRole("heading", { name: "Time to first token by hour" }).waitFor();
      expect(await page.locator(".legend-item").allInnerTexts()).toEqual(["p50", "p90", "p99"]);
      await page.getByRole("button", { name: "Table" }).click();
      const table = page.getByRole("region", { name: "Time to first token by hour" });
      expect(await table.locator("tbody tr").count()).toBe(24);
      const { rows } = await admin("GET", "/usage?group_by=hour");
      const cells = (await table.locator("tbody td.number").allInnerTexts()).filter((cell) => cell !== "–");
      expect(cells.length).toBe(3 * rows.filter((row) => row["latency_ms"] !== null).length);
      expect(cells.length).toBeGreaterThan(0);
      await page.reload();
      await page.getByRole("heading", { name: "Time to first token by hour" }).waitFor();
    });

    test("errors are shown by their class, each with its requests", async () => {
      const page = await openAs("operator", "usage?metric=errors");
      await page.getByRole("button", { name: "Outcome", exact: true }).click();
      await page.getByRole("button", { name: "By outcome" }).click();
      const { rows } = await admin("GET", "/usage?group_by=outcome");
      const failed = rows.filter(({ errors }) => Number(errors) > 0).map(({ outcome }) => String(outcome));
      expect(failed.length).toBeGreaterThan(0);
      await page
        .locator(".legend")
        .getByText(failed[0] ?? "")
        .waitFor();
      expect((await page.locator(".legend-item").allInnerTexts()).sort()).toEqual(failed.sort());
      const error = failed.find((outcome) => outcome !== "interrupted") ?? "";
      await page.getByRole("link", { name: error }).click();
      await page.waitForURL(new RegExp(`/console/requests\\?.*error_type=${error}`));
      await page
        .getByRole("row", { name: /Failed/i })
        .first()
        .waitFor();
    });

    test("a line of the table leads to its requests", async () => {
      const page = await openAs("operator", "usage?by=model");
      const link = page.getByRole("link", { name: "openai/gpt-5-mini" });
      await link.click();
      await page.waitForURL(/\/console\/requests\?.*model=openai%2Fgpt-5-mini/);
      await expectVisible(page.getByRole("cell", { name: "openai/gpt-5-mini" }).first());
    });

    test("an own range whose days are the wrong way around is refused beside the field", async () => {
      const page = await openAs("operator", "usage");
      await page.getByRole("button", { name: "Custom range" }).click();
      const dialog = page.getByRole("dialog", { name: "Custom range of days" });
      await dialog.getByLabel("First day").fill("2026-03-02");
      await dialog.getByLabel("Last day").fill("2026-03-01");
      await dialog.getByText("must not be before").waitFor();
      await dialog.getByLabel("Last day").fill("2026-03-03");
      await dialog.getByRole("button", { name: "Show" }).click();
      await page.getByRole("heading", { name: "No requests in this range" }).waitFor();
      expect(new URL(page.url()).searchParams.get("to")).toBe("2026-03-03");
    });
  });

  describe("credits", () => {
    test("credits are added after a question, once, and the ledger shows the balance after them", async () => {
      const page = await openAs("operator", `credits/${site.organization}`);
      await page.getByRole("button", { name: "Add credits" }).click();
      const dialog = page.getByRole("dialog", { name: "Add credits to Northwind Traders" });
      await dialog.getByLabel("Amount in US dollars").fill("-1");
      await dialog.getByRole("button", { name: "Continue" }).click();
      await dialog.getByText("The amount must be more than 0").waitFor();
      await dialog.getByLabel("Amount in US dollars").fill("12.50");
      await dialog.getByLabel("Note").fill("Invoice 17");
      await dialog.getByRole("button", { name: "Continue" }).click();
      const { data: before } = await admin("GET", `/accounts/${site.organization}/balance`);
      await dialog.getByRole("button", { name: "Add $12.50" }).click();
      const row = page.getByRole("row", { name: /Invoice 17/ });
      await row.waitFor();
      const { data: after } = await admin("GET", `/accounts/${site.organization}/balance`);
      expect(Number(after["balance_nanodollars"]) - Number(before["balance_nanodollars"])).toBe(
        12_500_000_000,
      );
      expect(await row.innerText()).toContain("+$12.50");
      expect(await row.innerText()).toContain(`$${Number(after["balance"]).toFixed(2)}`);
    });

    test("what was typed is still there after the dialog was closed", async () => {
      const page = await openAs("operator", `credits/${site.organization}`);
      await page.getByRole("button", { name: "Correct" }).click();
      await page.getByLabel("Note").fill("Double charge of Tuesday");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Correct" }).click();
      expect(await page.getByLabel("Note").inputValue()).toBe("Double charge of Tuesday");
    });

    test("the operator sees that the ledger is consistent, and the balances of all organizations", async () => {
      const page = await openAs("operator", "credits");
      await page.getByText("The ledger is consistent").waitFor();
      await page.getByRole("link", { name: "Northwind Traders" }).click();
      await page.waitForURL(new RegExp(site.organization));
      await expectVisible(page.getByRole("heading", { name: "Ledger" }));
    });

    test("the ledger is limited to days, which the address keeps, and says when none has a transfer", async () => {
      const page = await openAs("owner", "credits");
      const table = page.getByRole("region", { name: "Ledger" });
      await table.getByRole("row").nth(1).waitFor();
      await page.getByLabel("Last day (UTC)").fill("2020-01-02");
      await page.getByRole("heading", { name: "No transfers match" }).waitFor();
      expect(new URL(page.url()).searchParams.get("to")).toBe("2020-01-02");
      await page.getByRole("button", { name: "Clear filters" }).click();
      const today = new Date().toISOString().slice(0, 10);
      await page.getByLabel("Last day (UTC)").fill(today);
      await table.getByRole("row").nth(1).waitFor();
      // Only the newest transfers, without a gap, have a balance.
      expect(await page.getByRole("columnheader", { name: "Balance after" }).count()).toBe(0);
    });

    test("a ledger line leads to its request, and kinds can be chosen", async () => {
      const page = await openAs("owner", "credits?kind=usage");
      await page.getByRole("cell", { name: "Usage" }).first().waitFor();
      expect(await page.getByRole("cell", { name: "Grant" }).count()).toBe(0);
      expect(await page.getByRole("button", { name: "Add credits" }).count()).toBe(0);
      await page.getByRole("link", { name: /^gen_/ }).first().click();
      await page.waitForURL(/\/console\/requests\/gen_/);
    });
  });

  describe("people", () => {
    test("an organization is created, gets a member with a limit, and is closed after a question", async () => {
      const page = await openAs("operator", "people");
      await page.getByRole("button", { name: "New organization" }).click();
      await page.getByLabel("Name").fill("Fabrikam");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Fabrikam" }).waitFor();
      await page.getByRole("tab", { name: "Members" }).click();
      await page.getByRole("button", { name: "Add a member" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a member" });
      await dialog.getByRole("combobox", { name: "User" }).click();
      await dialog.getByRole("option", { name: /Grace Hopper/ }).click();
      await dialog.getByLabel("Daily limit").fill("5");
      await dialog.getByRole("button", { name: "Add", exact: true }).click();
      expect(await page.getByRole("row", { name: /Grace Hopper/ }).innerText()).toContain("$5.00");
      await page.getByRole("tab", { name: "Overview" }).click();
      await page.getByRole("button", { name: "Close account" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Close account" }).click();
      await page.getByText("The account is closed").waitFor();
      await page.getByRole("button", { name: "Reopen account" }).waitFor();
    });

    test("a policy is tried on past requests before it is saved, and an unknown name is refused beside its field", async () => {
      const page = await openAs("owner", "people?tab=policy");
      const denied = page.getByRole("combobox", { name: "Denied models" });
      await denied.fill("openai/*");
      await denied.press("Enter");
      await page.getByRole("button", { name: "Try on past requests" }).click();
      await page.getByText(/^\d+ of the last \d+ requests would have been rejected/).waitFor();
      const { data } = await admin("GET", `/organizations/${site.organization}`);
      expect(data["policy"]).toMatchObject({ denied_models: [] });
      await page.getByRole("button", { name: "Clear openai/*" }).click();
      await denied.fill("openai/gpt-nothing");
      await denied.press("Enter");
      await page.locator("form", { has: denied }).getByRole("button", { name: "Save" }).click();
      await page.getByRole("alert").getByText("openai/gpt-nothing").waitFor();
      expect(await denied.getAttribute("aria-invalid")).toBe("true");
      expectStatus(400);
    });

    test("a user is created with an e-mail, which is refused beside its field if another user has it", async () => {
      await admin("POST", "/users", { name: "Eve", email: "eve@example.com" });
      const page = await openAs("operator", "people?kind=user");
      await page.getByRole("button", { name: "New user" }).click();
      const dialog = page.getByRole("dialog", { name: "New user" });
      await dialog.getByLabel("Name").fill("Mallory");
      await dialog.getByLabel("E-mail").fill("EVE@example.com");
      await dialog.getByRole("button", { name: "Create", exact: true }).click();
      await dialog.getByText("Another user has this e-mail address").waitFor();
      expect(await dialog.getByLabel("E-mail").getAttribute("aria-invalid")).toBe("true");
      expectStatus(409);
      await dialog.getByLabel("E-mail").fill("mallory@example.com");
      await dialog.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Mallory" }).waitFor();
      await page.getByLabel("External id").fill("C-4711");
      const form = page.locator("form", { has: page.getByLabel("External id") });
      await form.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved").first().waitFor();
      const { rows } = await admin("GET", "/users?external_id=C-4711");
      expect(rows).toMatchObject([{ name: "Mallory", email: "mallory@example.com" }]);
    });

    test("an owner may not set what the operator sets", async () => {
      const page = await openAs("owner", "people");
      await page.getByLabel("Monthly limit in US dollars").waitFor();
      expect(await page.getByLabel("Overdraft in US dollars").isDisabled()).toBe(true);
      expect(await page.getByLabel("External id").isDisabled()).toBe(true);
      expect(await page.getByLabel("Monthly limit in US dollars").isDisabled()).toBe(false);
    });
  });

  describe("provider keys", () => {
    test("a key is added, tested in words, disabled and removed, and its secret is never shown", async () => {
      const page = await openAs("owner", "provider-keys");
      await page.getByRole("button", { name: "Add a key" }).click();
      const form = page.getByRole("dialog", { name: "Add a key" });
      await form.getByRole("button", { name: "Add a key" }).click();
      await form.getByLabel("Key", { exact: true }).fill("sk-0123456789abcd");
      await form.getByRole("button", { name: "Add a key" }).click();
      await form.getByText("Choose the provider").waitFor();
      await form.getByRole("combobox", { name: "Provider" }).click();
      await form.getByRole("combobox", { name: "Provider" }).fill("openai");
      await form
        .getByRole("option", { name: /OpenAI/ })
        .first()
        .click();
      await form.getByLabel("Name").fill("Our contract");
      await form.getByRole("button", { name: "Add a key" }).click();
      const row = page.getByRole("row", { name: /Our contract/ });
      await row.waitFor();
      expect(await page.content()).not.toContain("sk-0123456789abcd");
      await row.getByRole("button", { name: "Test" }).click();
      await page.getByText("The key works.").waitFor();
      await page.getByText(/^Gives access to \d+ models$/).waitFor();
      await page.keyboard.press("Escape");
      await row.getByRole("button", { name: "Disable" }).click();
      await row.getByText("Disabled").waitFor();
      await row.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByRole("heading", { name: "No provider keys" }).waitFor();
    });
  });

  describe("budgets", () => {
    test("an owner creates a budget, sees what is spent, changes it and deletes it", async () => {
      const page = await openAs("owner", "budgets");
      await page.getByRole("button", { name: "Create budget" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Create budget" }).click();
      await page.getByText("Enter an amount in dollars above 0").waitFor();
      await page.getByLabel("Limit in dollars").fill("0.5");
      await page.getByLabel("Period").selectOption("rolling");
      await page.getByLabel("Number of days").fill("90");
      await page.getByLabel("Name").fill("Quarter");
      await page.getByRole("dialog").getByRole("button", { name: "Create budget" }).click();
      const row = page.getByRole("row", { name: /Quarter/ });
      await row.getByText("last 90 days").waitFor();
      await row.getByText(/^Reached$/).waitFor();
      await row.getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("Limit in dollars").fill("1000000");
      await page.getByLabel("At the limit").selectOption("warn");
      await page.getByRole("button", { name: "Save" }).click();
      await row.getByText(/^OK$/).waitFor();
      await expectVisible(row.getByText(/^Warn$/));
      await row.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await row.waitFor({ state: "detached" });
    });

    test("an owner sees a budget that the operator has set, and cannot change it", async () => {
      const { data } = await admin("POST", "/budgets", {
        account_id: site.organization,
        limit: 5,
        name: "Fixed",
      });
      const page = await openAs("owner", "budgets");
      const row = page.getByRole("row", { name: /Fixed/ });
      await row.getByText("Set by the operator").waitFor();
      expect(await row.getByRole("button").count()).toBe(0);
      await admin("DELETE", `/budgets/${data.id}`);
    });
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`the dialog of credits has no violation of WCAG 2.1 AA in the ${colorScheme} theme`, async () => {
      const page = await open({ colorScheme });
      await signInWith(page, site.secrets.operator);
      await page.goto(`${site.gateway.url}/console/credits/${site.organization}`);
      await page.getByRole("button", { name: "Add credits" }).click();
      expect(await listViolations(page)).toEqual([]);
    });
});
