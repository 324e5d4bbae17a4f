import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  addFilter,
  expectVisible,
  listViolations,
  openConsolePage,
  type PageProblems,
  signInWith,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { healthy } from "../../support/vendors/vendor.ts";

/** The most bytes of scripts of all screens together, compressed. */
const MAX_SCRIPT_BYTES = 270_000;

describe.skipIf(CHROMIUM === null)("the console in a browser", () => {
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

  async function open(options: Parameters<typeof openConsolePage>[2] = {}): Promise<Page> {
    const one = await openConsolePage(browser, site.gateway.url, options);
    opened.push(one);
    return one.page;
  }

  async function openAs(role: keyof ConsoleSite["secrets"], path: string): Promise<Page> {
    const page = await open();
    await signInWith(page, site.secrets[role]);
    await page.goto(site.gateway.url + path);
    return page;
  }

  const send = (body: Readonly<Record<string, unknown>>) =>
    fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.inferenceKey}`, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content: "Hello!" }], ...body }),
    });

  /** The id of a recorded generation for which a condition holds. */
  async function findGeneration(holds: (row: Readonly<Record<string, unknown>>) => boolean): Promise<string> {
    let after = "";
    for (let page = 0; page < 5; page++) {
      const { body, rows } = await callAdmin(
        site.gateway,
        site.secrets.operator,
        "GET",
        `/generations?limit=100${after}`,
      );
      const found = rows.find(holds);
      if (found !== undefined) return found.id;
      after = `&after=${body["next"]}`;
    }
    throw new Error("no recorded generation is like that");
  }

  describe("signing in", () => {
    test("a wrong key is refused in the API's words, and the right one opens the console", async () => {
      const page = await open();
      await page.getByLabel("Management key").fill("gw_wrong");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").waitFor();
      await signInWith(page, site.secrets.operator);
      // The first steps are done.
      await expectVisible(page.getByRole("heading", { level: 1, name: "Requests" }));
    });

    test("the address survives signing in, and a session that ends in the middle of work asks for the key again", async () => {
      const page = await open();
      await page.goto(`${site.gateway.url}/console/requests?outcome=failed`);
      await signInWith(page, site.secrets.operator);
      await page.getByRole("table", { name: "Requests" }).waitFor();
      const { rows } = await callAdmin(site.gateway, site.secrets.operator, "GET", "/sessions");
      for (const { id } of rows)
        await callAdmin(site.gateway, site.secrets.operator, "DELETE", `/sessions/${id}`);
      await page.getByRole("link", { name: "Keys" }).first().click();
      await page.getByText("Your session has ended").waitFor();
      await signInWith(page, site.secrets.operator);
      await expectVisible(page.getByRole("table", { name: "Keys" }));
    });

    test("signing out ends the session", async () => {
      const page = await openAs("operator", "/console/keys");
      await page.getByRole("button", { name: "Sign out" }).first().click();
      await page.getByLabel("Management key").waitFor();
      await page.reload();
      await expectVisible(page.getByLabel("Management key"));
    });
  });

  describe("the request list", () => {
    test("a request that is sent while the list is open appears in it", async () => {
      const page = await openAs("operator", "/console/requests?model=openai/gpt-5-nano");
      await page.getByRole("heading", { name: "No request matches" }).waitFor();
      expect((await send({ model: "openai/gpt-5-nano" })).status).toBe(200);
      await page.getByRole("cell", { name: "openai/gpt-5-nano" }).waitFor();
    });

    test("filters are in the address and survive a reload", async () => {
      const page = await openAs("operator", "/console/requests");
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await addFilter(page, "Outcome", "Failed");
      await page.getByRole("combobox", { name: "Time range" }).selectOption("7d");
      await page.getByRole("cell", { name: "Failed" }).first().waitFor();
      expect(new URL(page.url()).search).toBe("?outcome=failed&last=7d");
      await page.reload();
      await page.getByRole("cell", { name: "Failed" }).first().waitFor();
      expect(await page.getByRole("cell", { name: "Completed" }).count()).toBe(0);
    });

    test("a model is chosen with the keyboard from suggestions", async () => {
      const page = await openAs("operator", "/console/requests");
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await page.keyboard.press("f");
      await page.getByRole("combobox", { name: "Filter by" }).pressSequentially("mod");
      await page.keyboard.press("Enter");
      await page.getByRole("combobox", { name: "Model is" }).pressSequentially("gpt-5-mini");
      await expectVisible(page.getByRole("option", { name: "openai/gpt-5-mini" }).first());
      await page.keyboard.press("Enter");
      await page.waitForURL(/model=openai%2Fgpt-5-mini/);
    });

    test("new rows wait while the list is read, and are shown on request", async () => {
      const page = await openAs("operator", "/console/requests");
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await page.locator("tbody tr").first().hover();
      await send({ model: "openai/gpt-4.1-nano" });
      const pill = page.getByRole("button", { name: "1 new" });
      await pill.waitFor();
      expect(await page.getByRole("cell", { name: "openai/gpt-4.1-nano" }).count()).toBe(0);
      await pill.click();
      await page.getByRole("cell", { name: "openai/gpt-4.1-nano" }).waitFor();
    });

    test("j and k move, Enter opens the request, and older pages are loaded at the end of the list", async () => {
      const page = await openAs("operator", "/console/requests");
      await page.getByRole("table", { name: "Requests" }).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await page.keyboard.press("k");
      const selected = page.locator("tr[aria-selected=true]");
      expect(await selected.count()).toBe(1);
      await page.getByRole("region", { name: "Requests" }).press("End");
      await page.locator("tbody tr").nth(150).waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/console\/requests\/gen_/);
    });

    test("the id of a request leads to its page, and another text is refused with what is expected", async () => {
      const id = await findGeneration(() => true);
      const page = await openAs("operator", "/console/requests");
      await page.getByLabel("Search by id").fill("hello");
      await page.keyboard.press("Enter");
      await expectVisible(page.getByText("Enter the id of a request"));
      await page.getByLabel("Search by id").fill(id);
      await page.keyboard.press("Enter");
      await page.waitForURL(new RegExp(id));
    });

    test("the rows that match are saved as CSV", async () => {
      const page = await openAs("operator", "/console/requests?outcome=failed");
      await page.getByRole("cell", { name: "Failed" }).first().waitFor();
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export as CSV" }).click();
      const lines = readFileSync(await (await download).path(), "utf8")
        .trim()
        .split("\r\n");
      expect(lines[0]).toStartWith("id,request_id,created_at");
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.slice(1).every((line) => line.includes(",failed,"))).toBe(true);
    });

    test("a chosen column stays after a reload", async () => {
      const page = await openAs("operator", "/console/requests");
      await page.getByRole("button", { name: "Columns" }).click();
      await page.getByLabel("Tokens/s").check();
      await page.reload();
      await expectVisible(page.getByRole("columnheader", { name: "Tokens/s" }));
    });
  });

  test("a member sees own requests and keys only", async () => {
    const page = await openAs("member", "/console/requests");
    await page.getByRole("cell", { name: "Grace's laptop" }).first().waitFor();
    expect(await page.getByRole("cell", { name: "storefront production" }).count()).toBe(0);
    await page.goto(`${site.gateway.url}/console/keys`);
    await page.getByRole("cell", { name: "Grace's laptop" }).waitFor();
    expect(await page.getByRole("cell", { name: "storefront production" }).count()).toBe(0);
  });

  describe("one request", () => {
    test("the page shows every attempt, the route with who was left out, and a cost that adds up", async () => {
      const id = await findGeneration(({ attempts, outcome }) => attempts === 2 && outcome === "completed");
      const page = await openAs("operator", `/console/requests/${id}`);
      await page.getByText("1 of 2 attempts failed").waitFor();
      expect(await page.locator(".timeline-bar.bad").count()).toBe(1);
      await page.getByRole("cell", { name: "Answered" }).waitFor();
      expect(await page.getByRole("cell", { name: "Left out" }).count()).toBe(2);
      const amounts = await page
        .getByRole("table", { name: "What it cost" })
        .locator("td:last-child")
        .allInnerTexts();
      const numbers = amounts.map((text) => Math.round(Number(text.replace(/[$,]/g, "")) * 1e9));
      expect(numbers.slice(0, -1).reduce((sum, one) => sum + one, 0)).toBe(numbers.at(-1)!);
    });

    test("the page shows what was repaired, the provider's words, and the other requests of the session", async () => {
      const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
      const messages = [
        { role: "user", content: "Look!" },
        { role: "assistant", content: null, tool_calls: [call, call] },
        { role: "user", content: "And now?" },
      ];
      const session_id = "browser test";
      site.vendor.perform((asked) => asked.respond(400, { error: { message: "That is too odd for me." } }));
      const failed = await send({ model: "openai/gpt-5-nano", messages, session_id });
      site.vendor.perform(healthy("Alpha"));
      const answered = await send({ model: "openai/gpt-5-nano", session_id });
      const [id, other] = [failed, answered].map((one) => one.headers.get("x-gateway-generation-id"));
      const page = await openAs("operator", `/console/requests/${id}`);
      await page.getByText("1 duplicate tool call removed").waitFor();
      await page.getByText("1 placeholder added").waitFor();
      expect(await page.locator(".upstream-words").innerText()).toContain("That is too odd for me.");
      await page.locator("#who").getByRole("link", { name: "Show its requests" }).click();
      await page.locator(`a[href="/console/requests/${other}"]`).waitFor();
      expect(await page.locator("tbody tr").count()).toBe(2);
    });

    test("the operator refunds a request, and the ledger entry appears on its page", async () => {
      const id = await findGeneration(
        ({ total_cost_nanodollars, outcome }) =>
          Number(total_cost_nanodollars) > 0 && outcome === "completed",
      );
      const page = await openAs("operator", `/console/requests/${id}`);
      await page.getByRole("button", { name: "Refund" }).click();
      const dialog = page.getByRole("dialog", { name: "Refund the request" });
      await dialog.getByLabel("Note for the ledger").fill("goodwill");
      await dialog.getByRole("button", { name: "Refund" }).click();
      await expectVisible(page.getByText("goodwill"));
    });

    test("an id that does not exist is said to be missing", async () => {
      const page = await open();
      await signInWith(page, site.secrets.operator);
      const { problems } = opened[0]!;
      await page.goto(`${site.gateway.url}/console/requests/gen_01m83xs0znhz09bnhhcf1yyqp6`);
      await page.getByRole("heading", { name: "Request not found" }).waitFor();
      // The browser reports the 404 of the API.
      expect(problems.list.splice(0).every((line) => line.includes("404"))).toBe(true);
    });
  });

  test("Ctrl+K opens a list of pages that is used with the keyboard, and takes the id of a request", async () => {
    const id = await findGeneration(() => true);
    const page = await openAs("operator", "/console/welcome");
    await page.getByRole("heading", { name: "Welcome" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to" }).pressSequentially("keys");
    await expectVisible(page.getByRole("option", { name: /^Keys/, selected: true }));
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/keys/);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to" }).fill(id);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(id));
  });

  test("a button opens the list of pages on a phone, which has no keyboard", async () => {
    const page = await open({ width: 390 });
    await signInWith(page, site.secrets.operator);
    await page.getByRole("button", { name: "Go to …" }).click();
    await page.getByRole("option", { name: /^Keys/ }).click();
    await page.waitForURL(/\/console\/keys/);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toContain("/console/keys");
  });

  test("a click on a button shows the numbers of the histogram as a table, also after a reload", async () => {
    const page = await openAs("operator", "/console/requests");
    await page.getByRole("button", { name: "Show as table" }).click();
    const table = page.getByRole("table", { name: "Requests over time" });
    await table.waitFor();
    await page.reload();
    await table.waitFor();
    const cells = await table.locator("tbody td.number").allInnerTexts();
    const bars = page.getByRole("img", { name: /Requests over time/ });
    expect(cells.reduce((sum, cell) => sum + Number(cell), 0)).toBeGreaterThan(300);
    await page.getByRole("button", { name: "Show as bars" }).click();
    await bars.waitFor();
  });

  test("requests are filtered by their user's name and by the type of their error", async () => {
    const page = await openAs("owner", "/console/requests");
    await addFilter(page, "User", "Grace Hopper");
    await page.waitForURL(/user_id=user_/);
    await addFilter(page, "Error", "unavailable");
    await page.waitForURL(/error_type=unavailable/);
    await expectVisible(page.getByRole("button", { name: "User is Grace Hopper" }));
    await page.getByRole("button", { name: "Clear Error" }).click();
    await page.waitForURL((url) => !url.search.includes("error_type"));
    const member = await openAs("member", "/console/requests");
    await member.getByRole("button", { name: "Filter", exact: true }).click();
    await member.getByRole("option", { name: "Model" }).waitFor();
    expect(await member.getByRole("option", { name: "User" }).count()).toBe(0);
  });

  describe("keys and the first steps", () => {
    test("a newcomer creates a key, sends the printed request, and sees it arrive", async () => {
      const page = await openAs("owner", "/console/welcome");
      await page.getByRole("button", { name: "Create key" }).click();
      const secret = await page.getByRole("region", { name: "Key" }).innerText();
      expect(secret).toStartWith("gw_");
      const command = await page.getByRole("region", { name: "curl" }).innerText();
      const sent = Bun.spawn(
        ["sh", "-c", `${command.replace("gateway-auto/balanced", "openai/gpt-4.1-mini")} -sS`],
        {
          stdout: "pipe",
          stderr: "pipe",
        },
      );
      expect(await new Response(sent.stdout).text()).toContain("chat.completion");
      await page.getByRole("status").getByText("openai/gpt-4.1-mini").waitFor();
    });

    test("a key is created with limits, its secret is shown once, and it is revoked", async () => {
      const page = await openAs("operator", "/console/keys");
      await page.getByRole("button", { name: "Create key" }).click();
      const form = page.getByRole("dialog", { name: "Create key" });
      await form.getByLabel("Name").fill("billing service");
      await form.getByLabel("Spending limit in dollars").fill("much");
      await form.getByRole("button", { name: "Create key" }).click();
      await form.getByText("Enter an amount in dollars").waitFor();
      await form.getByLabel("Spending limit in dollars").fill("25");
      await form.getByLabel("Concurrent requests").fill("3");
      await form.getByLabel("Store bodies for: unit").selectOption("hours");
      await form.getByLabel("Store bodies for", { exact: true }).fill("1.5");
      await form.getByRole("button", { name: "Create key" }).click();
      const made = page.getByRole("dialog", { name: "The key billing service was created" });
      await made.getByText(/^gw_/).first().waitFor();
      await page.keyboard.press("Escape");
      await made.waitFor({ state: "detached" });
      const row = page.getByRole("row", { name: /billing service/ });
      expect(await row.innerText()).toContain("$25.00");
      await row.getByRole("button", { name: "Edit" }).click();
      const settings = page.getByRole("dialog", { name: "Settings of billing service" });
      expect(await settings.getByLabel("Store bodies for", { exact: true }).inputValue()).toBe("90");
      await settings.getByLabel("Store bodies for", { exact: true }).fill("");
      await settings.getByLabel("Cache answers for: unit").selectOption("minutes");
      await settings.getByLabel("Cache answers for", { exact: true }).fill("10");
      await settings.getByRole("button", { name: "Save" }).click();
      await settings.waitFor({ state: "detached" });
      const { rows } = await callAdmin(site.gateway, site.secrets.operator, "GET", "/keys?limit=100");
      expect(rows.find(({ name }) => name === "billing service")).toMatchObject({
        rate_limit: { requests_per_minute: null, tokens_per_minute: null, concurrent: 3 },
        prompt_log: null,
        cache: 600,
      });
      await row.getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await row.waitFor({ state: "detached" });
    });
  });

  describe("every screen", () => {
    for (const colorScheme of ["light", "dark"] as const)
      test(`the sign-in, the dialog of a key and a missing page have no violation of WCAG 2.1 AA in the ${colorScheme} theme`, async () => {
        const page = await open({ colorScheme });
        await page.getByLabel("Management key").waitFor();
        const found: string[] = (await listViolations(page)).map((text) => `sign-in ${text}`);
        await signInWith(page, site.secrets.operator);
        await page.goto(`${site.gateway.url}/console/keys`);
        await page.getByRole("button", { name: "Create key" }).click();
        found.push(...(await listViolations(page)).map((text) => `key dialog ${text}`));
        await page.goto(`${site.gateway.url}/console/no-such-page`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        found.push(...(await listViolations(page)).map((text) => `missing page ${text}`));
        expect(found).toEqual([]);
      }, 60_000);

    test("the scripts of all screens together are small", async () => {
      const page = await open();
      await page.getByLabel("Management key").waitFor();
      const [folder = ""] = readdirSync(site.gateway.dataDir).filter((name) => name.startsWith("console-"));
      const files = readdirSync(join(site.gateway.dataDir, folder)).filter((name) => name.endsWith(".js.gz"));
      const bytes = files.map((name) => readFileSync(join(site.gateway.dataDir, folder, name)).length);
      expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(MAX_SCRIPT_BYTES);
    });
  });
});
