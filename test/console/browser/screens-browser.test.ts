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
/** The beginning of a long name of a member, who leads a team. */
const LONG_NAME = "Donaudampf";
const WIDTHS = [1_280, 1_920, 390];
/** A fresh gateway has no model that the explanation of a route could choose, which the API answers with a status of an error. */
const EXPECTED = /status of 400 .*\/route\/explain$/;
const TEST_MS = 240_000;
/** The screens of what a fresh gateway does not have: requests, kept responses, teams and members. */
const ABSENT: readonly string[] = [
  "/console/requests/:id",
  "/console/responses/:id",
  "/console/people/:account/teams/:team",
  "/console/people/:account/members/:user",
];

type Site = Pick<ConsoleSite, "gateway" | "organization" | "stop">;

/** Lists what does not fit into the window. */
async function listUnfit(page: Page): Promise<readonly string[]> {
  const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
  return [...(await listCutValues(page)), ...(wider === 0 ? [] : [`${wider} pixels wider`])];
}

/** Starts a gateway that has only an organization. */
async function startFreshSite(): Promise<Site> {
  const gateway = await startTestGateway();
  const { data } = await callAdmin(gateway, gateway.adminKey, "POST", "/organizations", { name: "Acme" });
  return { gateway, organization: data.id, stop: () => gateway.stop() };
}

/** Starts a gateway with much data, and a chain of two kept responses. */
async function startFullSite(): Promise<Site> {
  const site = await startConsoleSite({
    generations: 400,
    spanMs: 5 * DAY_MS,
    hasMuch: true,
    yaml: "sandbox: 'on'\n",
  });
  let previous: string | null = null;
  for (let turn = 0; turn < 2; turn++) previous = await keepResponse(site, previous);
  return site;
}

/** Keeps a response that continues another one. Returns its id. */
async function keepResponse(
  { gateway, inferenceKey }: Pick<ConsoleSite, "gateway" | "inferenceKey">,
  previous_response_id: string | null,
): Promise<string> {
  const response = await fetch(`${gateway.base}/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${inferenceKey}` },
    body: JSON.stringify({ model: "sandbox/echo", input: "Hello!", store: true, previous_response_id }),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { readonly id: string }).id;
}

const SITES = {
  "of a fresh gateway": startFreshSite,
  "with long names, long ids of models and amounts of seven digits": startFullSite,
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
        secret = site.gateway.adminKey,
      ) {
        const { page, problems }: ConsolePage = await openConsolePage(browser, site.gateway.url, options);
        await signInWith(page, secret);
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
              const list = await visitAll(addresses, { width }, listUnfit);
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

      test.skipIf(start === startFreshSite)(
        "no page of a lead with a long name is wider than 1280, 1920 or 390 pixels, and cuts no number, amount of money, model or time",
        async () => {
          const call = (method: string, path: string, body?: unknown) =>
            callAdmin(site.gateway, site.gateway.adminKey, method, path, body);
          const members = `/organizations/${site.organization}/members`;
          const [lead] = (await call("GET", `${members}?search=${LONG_NAME}`)).rows;
          const [team] = (lead?.["teams"] ?? []) as readonly { readonly id: string }[];
          const limits = { role: "member", daily_limit: 9_876_543.21 };
          await call("PUT", `${members}/${lead?.user_id}`, limits);
          const { body } = await call("POST", "/keys", {
            ...{ name: "console", kind: "management", account_id: site.organization, user_id: lead?.user_id },
          });
          const ofTeam = `/console/people/${site.organization}/teams/${team?.id}`;
          const pages = [
            "/console/home",
            ...["overview", "keys", "settings"].map((tab) => `${ofTeam}?tab=${tab}`),
          ];
          const visited = pages.map((address) => ({ screen: "", address }));
          const found: string[] = [];
          for (const width of WIDTHS)
            found.push(
              ...(await visitAll(visited, { width }, listUnfit, String(body["key"]))).map(
                (one) => `${width} ${one}`,
              ),
            );
          expect(found).toEqual([]);
        },
        TEST_MS,
      );

      test("every path of the registry is among the screens", () => {
        const shown = new Set(addresses.map(({ screen }) => screen));
        const absent = start === startFreshSite ? ABSENT : [];
        expect(listScreens().filter((path) => !shown.has(path) && !absent.includes(path))).toEqual([]);
      });
    });
});
