import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
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
import { healthy } from "../../support/vendors/vendor.ts";

describe.skipIf(CHROMIUM === null)("health, routing, settings and audit in a browser", () => {
  let site: ConsoleSite;
  let browser: Browser;
  const opened: ConsolePage[] = [];

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 50 });
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

  /** Opens the console, signed in as the operator. */
  async function open(options: Parameters<typeof openConsolePage>[2] = {}): Promise<Page> {
    const one = await openConsolePage(browser, site.gateway.url, options);
    opened.push(one);
    await signInWith(one.page, site.secrets.operator);
    return one.page;
  }

  async function go(page: Page, path: string): Promise<void> {
    await page.goto(`${site.gateway.url}/console/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  }

  const admin = (method: string, path: string, body?: unknown) =>
    callAdmin(site.gateway, site.secrets.operator, method, path, body);

  test("a provider is tested with a request, and what is measured of it is cleared", async () => {
    const page = await open();
    await go(page, "health");
    const calls = site.vendor.calls.length;
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("The provider answered as").first().waitFor();
    expect(site.vendor.calls.length).toBe(calls + 1);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByText("The health of OpenAI was cleared on this gateway.").waitFor();
  });

  test("a provider is drained for a time with a reason, which the list shows, and undrained", async () => {
    const page = await open();
    await go(page, "health");
    await page.getByRole("button", { name: "Drain", exact: true }).click();
    await page.getByLabel("How long").selectOption({ label: "1 hour" });
    await page.getByLabel("Why").fill("their status page reports errors");
    await page.getByRole("dialog").getByRole("button", { name: "Drain", exact: true }).click();
    await page.getByText("OpenAI gets no new requests.").waitFor();
    await page.getByText("Drained", { exact: true }).first().waitFor();
    const { rows } = await admin("GET", "/health");
    expect(rows.find(({ provider }) => provider === "openai")?.["drain"]).toMatchObject({
      note: "their status page reports errors",
      until: expect.stringMatching(/^\d{4}-/),
    });
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Undrain", exact: true }).click();
    await page.getByText("OpenAI is routed to again.").waitFor();
    await page.getByText("Drained", { exact: true }).first().waitFor({ state: "detached" });
  });

  test("the parameters that a provider refused are listed with what becomes of them", async () => {
    const { vendor, gateway } = site;
    vendor.perform((call) =>
      "prompt_cache_key" in call.body
        ? call.respond(400, {
            error: { message: "Unrecognized request argument supplied: prompt_cache_key" },
          })
        : healthy("Alpha")(call),
    );
    for (const key of [gateway.key, site.inferenceKey]) {
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({
          model: "openai/gpt-5-nano",
          messages: [{ role: "user", content: "Hi" }],
          prompt_cache_key: "a",
        }),
      });
      expect(response.status).toBe(200);
    }
    vendor.perform(healthy("Alpha"));
    const page = await open();
    await go(page, "health?provider=openai");
    const table = page.getByRole("table", { name: "Refused parameters" });
    await table.getByText("prompt_cache_key").waitFor();
    await table.getByText("Sent without it").waitFor();
    expect(await listViolations(page)).toEqual([]);
  });

  test("the outcomes of a provider are a strip that the keyboard reads, and its incident says what failed", async () => {
    const { vendor, gateway } = site;
    vendor.perform((call) => call.respond(500, { error: { message: "the disk is full" } }));
    for (let count = 0; count < 5; count++) {
      const response = await fetch(`${gateway.base}/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "Hi" }] }),
      });
      expect(response.status).toBe(502);
    }
    vendor.perform(healthy("Alpha"));
    const page = await open();
    await go(page, "health");
    const strip = page.getByRole("slider", { name: "OpenAI" });
    await strip.focus();
    expect(await strip.getAttribute("aria-valuetext")).toMatch(/^\d\d:\d\d–\d\d:\d\d: .*\d+ failed/);
    await page.keyboard.press("Home");
    expect(await strip.getAttribute("aria-valuetext")).toContain("No attempts");
    await page.getByRole("button", { name: "Hour", exact: true }).click();
    await expectVisible(page.locator("[role=slider][aria-valuemax='59']"));
    const incidents = page.getByRole("table", { name: "Incidents" });
    await incidents.getByText("It lasts").waitFor();
    await incidents.getByText("500 upstream_error").waitFor();
    await incidents.getByText("the disk is full").waitFor();
    expect(await listViolations(page)).toEqual([]);
    await incidents.getByRole("link", { name: "OpenAI", exact: true }).click();
    await page.getByRole("heading", { name: "Last day, on all gateways" }).waitFor();
    await admin("POST", "/health/openai/clear", {});
    await incidents.first().getByText("It lasts").waitFor({ state: "detached", timeout: 15_000 });
  }, 40_000);

  test("a tier is stored, resolves to its model, and is deleted", async () => {
    const page = await open();
    await go(page, "routing");
    await page.getByRole("button", { name: "New tier" }).click();
    // A draft that the API would reject is not sent. The browser would report the response as a problem.
    await page.getByText("This cannot be tried yet. Enter an id").waitFor();
    await page.getByLabel("Id", { exact: true }).fill("quick");
    await page.getByLabel("Name", { exact: true }).fill("Quick");
    await page.getByLabel("Models with a positive balance").fill("openai/gpt-5");
    await page.getByText("Enter at least one model otherwise.").waitFor();
    await page.getByLabel("Models otherwise").fill("openai/gpt-5-mini");
    await page.getByText(/Case that applies/).waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("gateway-auto/quick is in force on every gateway within a second.").waitFor();
    const { rows } = await admin("GET", "/tiers");
    expect(rows.find(({ id }) => id === "gateway-auto/quick")).toMatchObject({ source: "database" });
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("gateway-auto/quick was deleted.").waitFor();
    expect((await admin("GET", "/tiers")).rows.map(({ id }) => id)).not.toContain("gateway-auto/quick");
  });

  test("an explained request shows what its parameters meet at a candidate, and the rules behind it", async () => {
    const page = await open();
    await go(page, "routing");
    await page.getByRole("combobox", { name: "Model, tier or named route" }).fill("openai/gpt-5-nano");
    await page.keyboard.press("Enter");
    const parameters = page.getByLabel("More parameters of the request, as JSON");
    await parameters.fill('{"temperature": 0.2');
    await page.getByText("The parameters must be a JSON object.").first().waitFor();
    await parameters.fill('{"temperature": 0.2}');
    await page.getByText(/temperature: The model at this provider accepts only 1; it was left out/).waitFor();
    await page.getByText(/openai: openai\/gpt-5-nano · \d+ rules$/).click();
    await page.getByRole("row", { name: "temperature Only 1 Model family" }).waitFor();
    expect(await listViolations(page)).toEqual([]);
  });

  test("a named route is tried, stored, changed, restored and deleted", async () => {
    const page = await open();
    await go(page, "routing");
    await page.getByRole("button", { name: "New named route" }).click();
    await page.getByText("Enter a name.").waitFor();
    await page.getByRole("button", { name: "Group", exact: true }).click();
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    const group = (weight: number) =>
      JSON.stringify({
        kind: "group",
        targets: [
          { model: "openai/gpt-5-mini", weight },
          { model: "openai/gpt-5", weight: 0 },
        ],
      });
    await page.getByLabel("Definition as JSON").fill(group(3));
    await page.getByLabel("Name", { exact: true }).fill("mix");
    await page.getByText("mix → openai/gpt-5-mini (weight 3 of 3)").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("mix is in force on every gateway within a second.").first().waitFor();
    // The versions of the operator's routes are revisions of the configuration.
    const first = Number((await admin("GET", "/named-routes/mix")).data["version"]);
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await page.getByLabel("Definition as JSON").fill(group(4));
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(`Version ${first + 1}`).waitFor();
    await page.getByRole("button", { name: "Restore", exact: true }).click();
    await page.getByText(`Version ${first} was restored.`).waitFor();
    await page.getByText(`Version ${first + 2}`).waitFor();
    expect((await admin("GET", "/named-routes/mix")).data).toMatchObject({
      version: first + 2,
      definition: JSON.parse(group(3)) as object,
    });
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("mix was deleted.").waitFor();
    expect((await admin("GET", "/named-routes")).rows).toEqual([]);
  });

  test("a session of another browser is ended, and that browser must sign in again", async () => {
    const other = await openConsolePage(browser, site.gateway.url);
    opened.push(other);
    await signInWith(other.page, site.secrets.member);
    const page = await open();
    await go(page, "settings?tab=sessions");
    await page.getByRole("row", { name: /Grace/ }).first().getByRole("button", { name: "End" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End", exact: true }).click();
    await page.getByText("The session was ended.").waitFor();
    await other.page.reload();
    await expectVisible(other.page.getByLabel("Management key"));
  });
});
