import { describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import {
  type ConsoleDriver,
  type ConsoleUser,
  describeCompanyDay,
} from "../../accounts/company-day/company-day.ts";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import type { TestGateway } from "../../support/gateway/gateway.ts";

/** The longest wait for something on a page. Milliseconds. */
const WAIT_MS = 20_000;
const PROVIDER_BUTTON = "Continue with Acme login";

/** Opens a page in a browser context of its own. */
async function open(browser: Browser, url: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1_280, height: 800 } })).newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(url);
  return page;
}

/** Waits for the console of a page that has signed in. Returns the person who uses it. */
async function startUser(page: Page, { url }: TestGateway): Promise<ConsoleUser> {
  await page.locator(".shell").waitFor();
  const call: ConsoleUser["call"] = (method, path, body) =>
    page.evaluate(
      async ([method, path, body]) => {
        const headers = body === undefined ? {} : { "content-type": "application/json" };
        const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
        const response = await fetch(path, init);
        return { status: response.status, body: await response.json() };
      },
      [method, path, body] as const,
    );
  const { body: session } = await call("GET", "/api/console/session");
  const dialog = page.getByRole("dialog");
  const readSecret = async () => {
    await dialog.getByText("Copy the key now.").waitFor();
    const secret = /gw_[A-Za-z0-9]{46,}/.exec(await dialog.innerText())?.[0] ?? "";
    await dialog.getByRole("button", { name: "Done" }).click();
    return secret;
  };
  return {
    userId: session.user.id,
    call,
    async makeKey(name, team) {
      await page.goto(`${url}/console/keys`);
      await page.getByRole("button", { name: "Create key" }).first().click();
      await dialog.getByLabel("Name").fill(name);
      await dialog.getByLabel("Team").selectOption({ label: team });
      await dialog.getByRole("button", { name: "Create key" }).click();
      const secret = await readSecret();
      const { body } = await call("GET", "/api/admin/keys?limit=100");
      return { id: body.data.find((key: { name: string }) => key.name === name).id, secret };
    },
    async rotate({ id }, former) {
      await page.goto(`${url}/console/keys/${id}`);
      await page.getByRole("button", { name: "Rotate" }).click();
      await dialog
        .getByLabel("The present secret ends")
        .selectOption({ label: former === "now" ? "At once – after a leak" : "In 1 hour" });
      await dialog.getByRole("button", { name: "Rotate" }).click();
      return readSecret();
    },
    async expectTeams(...names) {
      await page.goto(`${url}/console/people/${session.account.id}?tab=teams`);
      for (const name of names) await page.getByRole("link", { name, exact: true }).first().waitFor();
      expect(await page.getByRole("button", { name: "New team" }).count()).toBe(0);
    },
  };
}

/** Uses the console in Chromium. */
async function createDriver(): Promise<ConsoleDriver> {
  const browser = await startBrowser();
  return {
    async signIn({ provider }, gateway, person) {
      provider.person = { ...person };
      const page = await open(browser, `${gateway.url}/console`);
      await page.getByRole("link", { name: PROVIDER_BUTTON }).click();
      return startUser(page, gateway);
    },
    async accept({ provider }, gateway, code, person) {
      provider.person = { ...person };
      const page = await open(browser, `${gateway.url}/console/invite#code=${code}`);
      const button = page.getByRole("button", { name: PROVIDER_BUTTON });
      const refusal = page.getByRole("alert");
      await button.or(refusal).first().waitFor();
      if (await refusal.isVisible()) return null;
      await button.click();
      return startUser(page, gateway);
    },
    stop: () => browser.close(),
  };
}

if (CHROMIUM === null)
  describe("a day of a company, in Chromium", () => {
    test.skip("needs Chromium, in `npm run suite -- console`", () => {});
  });
else describeCompanyDay("a day of a company, in Chromium", createDriver);
