import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { checkConfig } from "../../../src/app/config/load-config.ts";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import { openConsolePage } from "../../support/browser/console-page.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";
import { type PrefixProxy, startPrefixProxy } from "../../support/servers/prefix-proxy.ts";

const PREFIX = "/tools/gateway";

let provider: TestOidcProvider;
let proxy: PrefixProxy;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startOidcProvider();
  proxy = startPrefixProxy(PREFIX);
  const oidc = {
    issuer: provider.issuer,
    client_id: "gateway",
    client_secret: "secret",
    name: "Test login",
    create_users: true,
    rules: [{ claim: "groups", value: "operators", operator: true }],
  };
  gateway = await startTestGateway({ yaml: JSON.stringify({ console: { url: proxy.url, oidc } }) });
  proxy.forwardTo(gateway.url);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  proxy.stop();
  provider.stop();
});
beforeEach(() => {
  proxy.strays.length = 0;
  provider.person = { sub: "ada", groups: ["operators"] };
});

/** Returns all addresses in a page that begin at the root of the host. */
function listAddresses(page: string): string[] {
  return [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, address]) => address as string);
}

describe("behind a proxy that serves the gateway below a path", () => {
  test("the page of the console and all of its files are served below the path", async () => {
    const page = await (await fetch(`${proxy.url}/console/requests`)).text();
    const addresses = listAddresses(page);
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) {
      expect(address).toStartWith(`${PREFIX}/`);
      const response = await fetch(new URL(address, proxy.url));
      expect([address, response.status]).toEqual([address, 200]);
      await response.arrayBuffer();
    }
    expect(proxy.strays).toEqual([]);
  });

  test("the console is served without the path to a browser that does not come through the proxy", async () => {
    const page = await (await fetch(`${gateway.url}/console`)).text();
    for (const address of listAddresses(page)) {
      expect(address).toMatch(/^\/(console|docs)/);
      expect((await fetch(gateway.url + address)).status).toBe(200);
    }
  });

  test("the links of the first page and of the documentation lead to the gateway", async () => {
    const browser = { headers: { accept: "text/html" } };
    for (const path of ["/", "/docs", "/docs/reference", "/docs/operations/install"]) {
      const at = `${proxy.url}${path}`;
      const page = await (await fetch(at, browser)).text();
      const links = [...page.matchAll(/href="([^"#][^"]*)"/g)].map(
        ([, link]) => new URL(link as string, at).href,
      );
      expect(links.length).toBeGreaterThan(0);
      for (const link of links.filter((one) => one.startsWith(new URL(at).origin)))
        expect([link, (await fetch(link, browser)).status]).toEqual([link, 200]);
    }
  });

  test("a sign-in with a key has a session, and the base URL that it shows answers", async () => {
    const response = await fetch(`${proxy.url}/api/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: new URL(proxy.url).origin },
      body: JSON.stringify({ key: gateway.adminKey }),
    });
    expect(response.status).toBe(201);
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    const session = await fetch(`${proxy.url}/api/console/session`, { headers: { cookie } });
    const { base_url: baseUrl } = (await session.json()) as { base_url: string };
    expect(baseUrl).toBe(proxy.url);
    expect((await fetch(`${baseUrl}/api/gateway/models`)).status).toBe(200);
  });

  test("a sign-in through a provider comes back below the path, with its cookie, to the screen that was asked for", async () => {
    const start = `${proxy.url}/api/console/oidc/start?return_to=${encodeURIComponent("/console/keys?q=a")}`;
    const started = await fetch(start, { redirect: "manual" });
    const [kept = "", ...attributes] = (started.headers.get("set-cookie") ?? "").split("; ");
    expect(attributes).toContain(`Path=${PREFIX}/api/console/oidc`);
    const back = provider.authorize(started.headers.get("location") ?? "");
    expect(back.href).toStartWith(`${proxy.url}/api/console/oidc/callback?`);
    const returned = await fetch(back, { redirect: "manual", headers: { cookie: kept } });
    expect([returned.status, returned.headers.get("location")]).toEqual([303, `${PREFIX}/console/keys?q=a`]);
    const session = returned.headers.getSetCookie().find((one) => one.startsWith("gateway_session=")) ?? "";
    const read = await fetch(`${proxy.url}/api/console/session`, {
      headers: { cookie: session.split(";")[0] as string },
    });
    expect(await read.json()).toMatchObject({ role: "operator" });
  });
});

describe.skipIf(CHROMIUM === null)("in a browser behind such a proxy", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);
  afterAll(() => browser.close());

  test("the console signs in, follows its links, reloads a screen, reads the API, and never leaves the path", async () => {
    const { page, problems } = await openConsolePage(browser, proxy.url);
    await page.getByLabel(/key/i).first().fill(gateway.adminKey);
    await page
      .getByRole("button", { name: /sign in/i })
      .first()
      .click();
    const link = page.locator(`a[href="${PREFIX}/console/keys"]`).first();
    await link.click();
    await page.waitForURL(`${proxy.url}/console/keys`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(page.url()).toBe(`${proxy.url}/console/keys`);
    for (const screen of ["requests", "usage", "models", "health", "settings"]) {
      await page.locator(`a[href="${PREFIX}/console/${screen}"]`).first().click();
      await page.waitForURL(`${proxy.url}/console/${screen}*`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    const hrefs = await page.$$eval("a[href]", (links) => links.map((one) => one.getAttribute("href") ?? ""));
    expect(hrefs.filter((href) => href.startsWith("/") && !href.startsWith(`${PREFIX}/`))).toEqual([]);
    await page.goBack();
    await page.waitForURL(`${proxy.url}/console/health*`);
    expect(problems.list).toEqual([]);
    expect(proxy.strays.filter((path) => path !== "/favicon.ico")).toEqual([]);
    await page.context().close();
  }, 60_000);

  test("a sign-in through the provider leads back to the screen below the path", async () => {
    const { page } = await openConsolePage(browser, proxy.url);
    await page.goto(`${proxy.url}/console/audit`);
    await page.getByRole("link", { name: /Test login/ }).click();
    await page.waitForURL(`${proxy.url}/console/audit`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(proxy.strays.filter((path) => path !== "/favicon.ico")).toEqual([]);
    await page.context().close();
  }, 60_000);
});

describe("the address of the console for browsers", () => {
  const load = (url: string) => () => checkConfig(JSON.stringify({ console: { url } }), "gateway.yaml", {});

  test.each([
    "https://example.com",
    "https://example.com/",
    "https://example.com/gateway",
    "http://a:8080/b/c/",
  ])("may be %s", (url) => {
    expect(load(url)().console.url).toBe(url);
  });

  test.each([
    "https://example.com/console",
    "https://example.com/a?b",
    "https://example.com/a#b",
    "https://user@example.com",
    "https://example.com//a",
  ])("may not be %s", (url) => {
    expect(load(url)).toThrow("console.url");
  });
});
