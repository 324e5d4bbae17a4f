import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  listViolations,
  openConsolePage,
  PageTraffic,
  signInWith,
  waitForData,
} from "../../support/browser/console-page.ts";
import { listAddresses } from "../../support/browser/console-screens.ts";
import {
  type ConsoleSite,
  SITE_PEOPLE,
  type SitePerson,
  startConsoleSite,
} from "../../support/browser/console-site.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;
const TEST_MS = 180_000;

/** A button, by its label or the beginning of it, and the right that the API asks for when it is used. Where several are named, each is enough. */
const CHANGES: readonly (readonly [label: RegExp, ...rights: string[]])[] = [
  [/^Create key$|^Rotate$|^Revoke$/, "own_keys", "manage_keys"],
  [/^Create budget$|^Delete$/, "manage"],
  [/^Edit$/, "own_keys", "manage_keys", "manage"],
  [/^Save$|^Discard changes$/, "manage", "manage_people"],
  [/^Close account$|^Reopen account$/, "manage_owners"],
  [/^Add a member$|^Remove$/, "lead", "manage_people", "manage"],
  [/^Invite$|^Withdraw$/, "lead", "manage_people"],
  [/^Change$/, "manage_people", "manage"],
  [/^New team$|^Delete team$|^Make lead$|^Remove as lead$/, "manage_people"],
  [/^Add a key$|^Test$|^Disable$|^Enable$/, "manage"],
  [/^New named route$|^Restore$/, "manage"],
  [/^End$/, "own"],
  [/^Show bodies$|^Try on past requests$/, "inspect"],
  [/^(Chat completions|Responses|Messages|New conversation|Add images|Add a tool|Hide the wire)$/, "call"],
  [/^(Request|Events|Code|Copy link|Send|Clear)$/, "call"],
];

/** Buttons that only show something else, or put something into a file or the clipboard. */
const READS =
  /^(Live|Columns|Export as CSV|Filter|Show as (table|bars)|Clear .*|Copy as curl|Show more|Show only this|Reload|Chart|Table|Total|By \w+|\d+ (hours|days)|This month|Last month|Custom range|Form|JSON|Alias|Group|Preset|Explain|Remove (Claude|GPT|Uncensored).*|curl|openai|@anthropic-ai\/sdk|AI SDK|Tools|Reasoning|Model|Context|(Input|Output|Cached) \$\/M|Providers|Here|Released|Cost|Requests|Errors|Tokens|Provider|Key|User|Team|Account|Client|Outcome|Tag|\d+ (s|min|h|d) ago|now)$/;

/** A response that is no failure of the console: the explanation of a route for which no model is chosen yet. */
const EXPECTED = /^400 POST \/api\/admin\/route\/explain/;

describe.skipIf(CHROMIUM === null)("the console for each role", () => {
  let site: ConsoleSite;
  let browser: Browser;

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 300, spanMs: 5 * DAY_MS });
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });

  const visits = new Map<SitePerson, ReturnType<typeof visit>>();

  /** Visits all addresses as a person, once. */
  function visitAll(person: SitePerson): ReturnType<typeof visit> {
    const known = visits.get(person) ?? visit(person);
    visits.set(person, known);
    return known;
  }

  /** Visits all addresses, as far as a person may see them. Returns what failed, and the labels of all buttons. */
  async function visit(person: SitePerson) {
    const secret = site.secrets[person];
    const { page, problems } = await openConsolePage(browser, site.gateway.url);
    const failed: string[] = [];
    const changed: string[] = [];
    page.on("response", (response) => {
      const request = `${response.request().method()} ${response.url().replace(site.gateway.url, "")}`;
      const line = `${response.status()} ${request}`;
      if (response.status() >= 400 && response.status() !== 401 && !EXPECTED.test(line)) failed.push(line);
    });
    await signInWith(page, secret);
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() !== "GET" && pathname !== "/api/admin/route/explain") changed.push(pathname);
    });
    const traffic = new PageTraffic(page);
    const seen = new Set<string>();
    const buttons = new Set<string>();
    for (const { screen, address } of await listAddresses(site, secret)) {
      await page.goto(site.gateway.url + address);
      if ((await page.getByRole("heading", { level: 1 }).innerText()) === "Page not found") continue;
      seen.add(screen);
      await waitForData(page, traffic);
      for (const label of await listButtons(page)) buttons.add(label);
    }
    await page.context().close();
    const others = problems.list.filter((line) => !line.includes("route/explain"));
    return { failed: [...failed, ...others], changed, seen, buttons: [...buttons] };
  }

  for (const person of SITE_PEOPLE)
    test(
      `${person}: every screen that is shown loads, and has no button that the API would reject`,
      async () => {
        const { data: me } = await callAdmin(site.gateway, site.secrets[person], "GET", "/me");
        const rights = new Set(me["rights"] as readonly string[]);
        if ((me["teams"] as readonly { is_lead: boolean }[]).some(({ is_lead }) => is_lead))
          rights.add("lead");
        const { failed, changed, seen, buttons } = await visitAll(person);
        expect(failed).toEqual([]);
        expect(changed.filter((path) => path !== "/api/console/playground-key")).toEqual([]);
        const unknown = buttons.filter((label) => !READS.test(label) && rightsOf(label) === undefined);
        expect(unknown).toEqual([]);
        const rejected = buttons.filter((label) => {
          const needed = READS.test(label) ? undefined : rightsOf(label);
          return needed !== undefined && !needed.some((right) => rights.has(right));
        });
        expect(rejected).toEqual([]);
        expect([...seen].includes("/console/people/:account")).toBe(rights.has("read"));
        expect([...seen].includes("/console/audit")).toBe(rights.has("inspect"));
        expect([...seen].includes("/console/playground")).toBe(rights.has("call"));
        expect([...seen].includes("/console/home")).toBe(!rights.has("read"));
      },
      TEST_MS,
    );

  test(
    "an auditor sees the whole organization, and no button that changes something",
    async () => {
      const { seen, buttons } = await visitAll("auditor");
      expect(seen).toContain("/console/provider-keys");
      expect(seen).toContain("/console/people/:account/teams/:team");
      expect(seen).toContain("/console/people/:account/members/:user");
      expect(buttons.filter((label) => !READS.test(label))).toEqual(["Try on past requests"]);
    },
    TEST_MS,
  );

  for (const [person, path] of [
    ["member", "home"],
    ["lead", "team"],
    ["auditor", "people?tab=overview"],
  ] as const)
    test(`axe finds nothing on a page of a ${person} in the light and in the dark theme, at 390 and 1280 pixels`, async () => {
      const found: string[] = [];
      for (const width of [390, 1_280]) {
        const { page } = await openConsolePage(browser, site.gateway.url, { width });
        await signInWith(page, site.secrets[person]);
        const traffic = new PageTraffic(page);
        const address = path === "team" ? `people/${site.organization}/teams/${site.team}` : path;
        await page.goto(`${site.gateway.url}/console/${address}`);
        await waitForData(page, traffic);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await listViolations(page)).map((one) => `${width} ${colorScheme}: ${one}`));
        }
        const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
        if (wider !== 0) found.push(`${width}: ${wider} pixels wider`);
        await page.context().close();
      }
      expect(found).toEqual([]);
    }, 60_000);
});

/** Returns the rights of which one is needed for a button that changes something; undefined for a button that is not known. */
function rightsOf(label: string): readonly string[] | undefined {
  return CHANGES.find(([pattern]) => pattern.test(label))?.slice(1) as readonly string[] | undefined;
}

/** Lists the labels of the buttons of a screen that can be pressed, without those that sort, copy or choose a tab. */
function listButtons(page: Page): Promise<string[]> {
  const skipped = ".sort-title, [role=tab], .copy, .combobox-clear, .filter-chip-text, :disabled";
  return page.locator("main button:visible").evaluateAll(
    (buttons, pattern) =>
      buttons.flatMap((button) => {
        const { innerText, ariaLabel } = button as unknown as { innerText: string; ariaLabel: string | null };
        return (button as unknown as { matches(of: string): boolean }).matches(pattern)
          ? []
          : [(ariaLabel ?? innerText).trim()];
      }),
    skipped,
  );
}
