import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  type ConsolePage,
  listViolations,
  openConsolePage,
  type PageOptions,
  signInWith,
} from "../../support/browser/console-page.ts";
import { listAddresses, listScreens, type ScreenAddress } from "../../support/browser/console-screens.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { listCutValues } from "../../support/browser/cut-values.ts";
import { startTestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;
const WIDTHS = [1_280, 1_920, 390];
/** A fresh gateway has no model that the explanation of a route could choose, which the API answers with a status of an error. */
const EXPECTED = /status of 400 .*\/route\/explain$/;
const TEST_MS = 240_000;

type Site = Pick<ConsoleSite, "gateway" | "organization" | "stop">;

/** Starts a gateway that has only an organization. */
async function startFreshSite(): Promise<Site> {
  const gateway = await startTestGateway();
  const { data } = await callAdmin(gateway, gateway.adminKey, "POST", "/organizations", { name: "Acme" });
  return { gateway, organization: data.id, stop: () => gateway.stop() };
}

const SITES = {
  "of a fresh gateway": startFreshSite,
  "with long names, long ids of models and amounts of seven digits": () =>
    startConsoleSite({ generations: 400, spanMs: 5 * DAY_MS, hasMuch: true }),
} as const;

describe.skipIf(CHROMIUM === null)("every screen of the console", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  for (const [about, start] of Object.entries(SITES))
    describe(about, () => {
      let site: Site;
      let addresses: readonly ScreenAddress[];

      beforeAll(async () => {
        site = await start();
        addresses = await listAddresses(site);
      }, 60_000);
      afterAll(() => site.stop());

      /** Shows each address to a function, and returns what it finds, with the address in front. */
      async function visitAll(
        visited: readonly ScreenAddress[],
        options: PageOptions,
        look: (page: Page) => Promise<readonly string[]>,
      ) {
        const { page, problems }: ConsolePage = await openConsolePage(browser, site.gateway.url, options);
        await signInWith(page, site.gateway.adminKey);
        const found: string[] = [];
        for (const { address } of visited) {
          await page.goto(site.gateway.url + address);
          await page.getByRole("heading", { level: 1 }).waitFor();
          await page.waitForLoadState("networkidle");
          await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
          found.push(...(await look(page)).map((one) => `${address}: ${one}`));
        }
        await page.context().close();
        return [...found, ...problems.list.filter((one) => !EXPECTED.test(one))];
      }

      test(
        "no page is wider than 1280, 1920 or 390 pixels, and cuts no number, amount of money, model or time",
        async () => {
          const found = await Promise.all(
            WIDTHS.map(async (width) => {
              const list = await visitAll(addresses, { width }, async (page) => {
                const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
                return [...(await listCutValues(page)), ...(wider === 0 ? [] : [`${wider} pixels wider`])];
              });
              return list.map((one) => `${width} ${one}`);
            }),
          );
          expect(found.flat()).toEqual([]);
        },
        TEST_MS,
      );

      test(
        "axe finds nothing in the light and in the dark theme",
        async () => {
          const look = async (page: Page) => {
            const light = await listViolations(page);
            await page.emulateMedia({ colorScheme: "dark" });
            const dark = await listViolations(page);
            await page.emulateMedia({ colorScheme: "light" });
            return [...light, ...dark.map((one) => `dark: ${one}`)];
          };
          // Without data, the tabs and variants of a screen look alike.
          const visited =
            start === startFreshSite
              ? [...new Map(addresses.map((one) => [one.screen, one])).values()]
              : addresses;
          expect(await visitAll(visited, {}, look)).toEqual([]);
        },
        TEST_MS,
      );

      test("every path of the registry is among the screens", () => {
        const shown = new Set(addresses.map(({ screen }) => screen));
        // A fresh gateway has no requests.
        const missing = listScreens().filter((path) => !shown.has(path) && path !== "/console/requests/:id");
        expect(missing).toEqual([]);
      });
    });
});
