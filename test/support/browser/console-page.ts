import { expect } from "bun:test";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, Locator, Page, Request } from "playwright-core";

/** The longest wait for something on a page. Milliseconds. */
const WAIT_MS = 8_000;

/** What a page of the console must not do, as it happened. */
export interface PageProblems {
  /** Errors of scripts, messages of level error, violations of the content security policy, requests to other origins. */
  readonly list: string[];
}

/** How a page is opened. */
export interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  /** The time zone of the browser, as its IANA name. Absent: that of the machine. */
  readonly timeZone?: string;
}

/** A page of the console in a context of its own, and what went wrong in it. */
export interface ConsolePage {
  readonly page: Page;
  readonly problems: PageProblems;
}

/** Opens a page that records what it must not do. */
export async function openConsolePage(
  browser: Browser,
  url: string,
  { colorScheme = "light", width = 1_280, timeZone }: PageOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    ...(timeZone === undefined ? {} : { timezoneId: timeZone }),
  });
  const page = await context.newPage();
  // Less than a test may take: the test runner ends the browser of a test that takes too long.
  page.setDefaultTimeout(WAIT_MS);
  const list: string[] = [];
  page.on("pageerror", (error) => list.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // Without a session the API answers 401, which the browser reports as an error of the page.
    if (message.type() === "error" && !message.text().includes("401"))
      list.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith("http") && origin !== new URL(url).origin) list.push(`origin: ${request.url()}`);
  });
  await page.addInitScript(
    "document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))",
  );
  await page.goto(`${url}/console`);
  return { page, problems: { list } };
}

/** What a page waits for: requests of the API that have no response yet. Feeds, which never end, are left out. */
export class PageTraffic {
  /** The requests that were sent, as method and path. */
  readonly sent: string[] = [];
  readonly #open = new Set<Request>();
  #idle = Promise.withResolvers<void>();

  constructor(page: Page) {
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.includes("/api/") || pathname.endsWith("/stream")) return;
      this.sent.push(`${request.method()} ${pathname}`);
      if (this.#open.size === 0) this.#idle = Promise.withResolvers();
      this.#open.add(request);
    });
    const end = (request: Request) => {
      this.#open.delete(request);
      if (this.#open.size === 0) this.#idle.resolve();
    };
    page.on("requestfinished", end);
    page.on("requestfailed", end);
  }

  /** Resolves when every request has its response. */
  async settle(): Promise<void> {
    while (this.#open.size > 0) await this.#idle.promise;
  }
}

/** Waits until a screen shows its data. */
export async function waitForData(page: Page, traffic: PageTraffic): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  await traffic.settle();
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** Signs in with a management key, and waits for the first screen. */
export async function signInWith(page: Page, key: string): Promise<void> {
  await page.getByLabel("Management key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".shell").waitFor();
}

/** Lists what axe finds against WCAG 2.1 A and AA: the rule and the first element of each. */
export async function listViolations(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    // The rows of a table are alike, and contrast is measured for each cell.
    .exclude("tbody tr:nth-child(n + 6)")
    // The console has no frames; without support for them a check takes half the time.
    .setLegacyMode(true)
    .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"])
    .analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} (${nodes[0]?.failureSummary})`);
}

/** Waits until something is shown, and fails if it never is. */
export async function expectVisible(shown: Locator): Promise<void> {
  await shown.waitFor();
  expect(await shown.isVisible()).toBe(true);
}

/** Adds a filter to a list, by its field and the label of a suggested value. */
export async function addFilter(page: Page, field: string, value: string): Promise<void> {
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("option", { name: field, exact: true }).click();
  // A second text may follow the label, such as the hint of a key.
  await page.getByRole("option", { name: value }).first().click();
}
