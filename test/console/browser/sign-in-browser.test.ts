import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { createSystemRandom } from "../../../src/base/secrets/random.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { createOneTimeCode } from "../../../src/core/console/one-time-codes.ts";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import { listViolations, openConsolePage, type PageProblems } from "../../support/browser/console-page.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";

describe.skipIf(CHROMIUM === null)("signing in to the console in a browser", () => {
  let provider: TestOidcProvider;
  let gateway: TestGateway;
  let browser: Browser;
  const opened: { readonly page: Page; readonly problems: PageProblems }[] = [];

  beforeAll(async () => {
    provider = await startOidcProvider();
    const oidc = {
      issuer: provider.issuer,
      client_id: "gateway",
      client_secret: "secret",
      name: "Test login",
      create_users: true,
      rules: [{ claim: "groups", value: "operators", operator: true }],
    };
    gateway = await startTestGateway({ yaml: JSON.stringify({ console: { oidc } }) });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    provider.stop();
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    const problems = pages.flatMap(({ problems }) => problems.list);
    expect(problems.filter((problem) => !problem.startsWith(`origin: ${provider.issuer}/`))).toEqual([]);
  });

  async function open(): Promise<Page> {
    const one = await openConsolePage(browser, gateway.url);
    opened.push(one);
    return one.page;
  }

  async function createCode(): Promise<string> {
    const stores = await openTestStores(gateway.dataDir);
    const code = await createOneTimeCode({
      store: stores.consoleSessions,
      clock: systemClock,
      random: createSystemRandom(),
    });
    await stores.close();
    return code;
  }

  test("a link with a one-time code signs in once, and the code leaves the address", async () => {
    const link = `/console/keys#code=${await createCode()}`;
    const page = await open();
    await page.getByLabel("Management key").waitFor();
    await page.goto("about:blank");
    await page.goto(gateway.url + link);
    await page.locator(".shell").waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/keys`);
    await page.getByRole("button", { name: "Sign out" }).first().click();
    await page.getByLabel("Management key").waitFor();
    await page.goto("about:blank");
    await page.goto(gateway.url + link);
    await page.getByRole("alert").getByText("gateway console").waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/keys`);
  });

  test("a link with a one-time code signs in a tab that shows the sign-in page already", async () => {
    const page = await open();
    await page.getByLabel("Management key").waitFor();
    await page.evaluate(`window.location.hash = "code=${"x".repeat(43)}"`);
    await page.getByRole("alert").getByText("gateway console").waitFor();
    await page.evaluate(`window.location.hash = "code=${await createCode()}"`);
    await page.locator(".shell").waitFor();
    expect(page.url()).not.toContain("code");
  });

  test("the button of the provider signs in, and signing out ends the session at the provider, too", async () => {
    provider.person = { sub: "ada", name: "Ada Lovelace", groups: ["operators"] };
    const page = await open();
    const button = page.getByRole("link", { name: "Continue with Test login" });
    await button.waitFor();
    expect(await listViolations(page)).toEqual([]);
    await button.click();
    await page.locator(".shell").waitFor();
    expect(page.url()).toStartWith(`${gateway.url}/console`);
    await page.getByRole("button", { name: "Sign out" }).first().click();
    await button.waitFor();
    expect(provider.signOuts).toBe(1);
    await page.reload();
    await button.waitFor();
  });

  test("the provider comes before the key, and a rejected sign-in is a page that leads on", async () => {
    provider.person = { sub: "stranger", name: "A stranger", groups: [] };
    const page = await open();
    const button = page.getByRole("link", { name: "Continue with Test login" });
    await button.waitFor();
    const [first, second] = await Promise.all([
      button.boundingBox(),
      page.getByLabel("Management key").boundingBox(),
    ]);
    expect(first!.y).toBeLessThan(second!.y);
    await button.click();
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    await page.getByText(/^Request id: req_/).waitFor();
    expect(await listViolations(page)).toEqual([]);
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth")).toBe("440px");
    await page.getByRole("link", { name: "Sign in another way" }).click();
    await page.getByLabel("Management key").waitFor();
    // The browser reports the rejection.
    for (const { problems } of opened)
      problems.list.push(...problems.list.splice(0).filter((problem) => !problem.includes("403")));
  });

  test("an operator who signed in too long ago signs in again to add credits, and finds the form as it was", async () => {
    provider.person = { sub: "ada", name: "Ada Lovelace", groups: ["operators"] };
    provider.signedInAt = Date.now() - 3_600_000;
    const account = await createAccountTools(gateway).user("Grace");
    const page = await open();
    await page.goto(`${gateway.url}/console/credits/${account}`);
    await page.getByRole("link", { name: "Continue with Test login" }).click();
    await page.getByRole("button", { name: "Add credits" }).click();
    // The sign-in has come back to the screen that was asked for.
    expect(page.url()).toContain(`/console/credits/${account}`);
    await page.getByLabel("Amount").fill("12.50");
    await page.getByLabel("Note").fill("an invoice");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: /12\.50/ });
    await confirm.click();
    await page.getByRole("button", { name: "Sign in again" }).waitFor();
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign in again" }).click();
    await page.waitForURL(/change=credits/);
    await page.getByRole("dialog").waitFor();
    expect(await page.getByLabel("Amount").inputValue()).toBe("12.50");
    expect(await page.getByLabel("Note").inputValue()).toBe("an invoice");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await confirm.click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", `/accounts/${account}/balance`);
    expect(data["balance"]).toBe(12.5);
    // The browser reports the rejection that led to the other sign-in.
    for (const { problems } of opened) {
      const others = problems.list.splice(0).filter((problem) => !problem.includes(`${account}/credits`));
      problems.list.push(...others);
    }
  });
});
