import type { Browser, Cookie, Page } from "playwright-core";
import { type ConsolePage, openConsolePage, type PageOptions, signInWith } from "./console-page.ts";
import type { ConsoleSite } from "./console-site.ts";

/** Who may open a page of a site. */
export type SiteUser = keyof ConsoleSite["secrets"];

/** Opens pages of a site for tests. Each person signs in once; further pages get the cookies of that session. */
export class SitePages {
  readonly #site: ConsoleSite;
  readonly #browser: Browser;
  readonly #opened: ConsolePage[] = [];
  readonly #sessions = new Map<SiteUser, Cookie[]>();

  constructor(site: ConsoleSite, browser: Browser) {
    this.#site = site;
    this.#browser = browser;
  }

  /** Opens a page below `/console/` as a person, and waits for its data. */
  async openAs(user: SiteUser, path: string, options: PageOptions = {}): Promise<Page> {
    const opened = await openConsolePage(this.#browser, this.#site.gateway.url, options);
    this.#opened.push(opened);
    const { page } = opened;
    const cookies = this.#sessions.get(user);
    if (cookies === undefined) {
      await signInWith(page, this.#site.secrets[user]);
      this.#sessions.set(user, await page.context().cookies());
    } else await page.context().addCookies(cookies);
    await page.goto(`${this.#site.gateway.url}/console/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    return page;
  }

  /** Returns and forgets what went wrong so far, where a test provokes an error. */
  takeProblems(): readonly string[] {
    return this.#opened.flatMap(({ problems }) => problems.list.splice(0));
  }

  /** Closes the pages of a test. Returns what went wrong on them. */
  async closeAll(): Promise<readonly string[]> {
    const opened = this.#opened.splice(0);
    await Promise.all(opened.map(({ page }) => page.context().close()));
    return opened.flatMap(({ problems }) => problems.list);
  }
}
