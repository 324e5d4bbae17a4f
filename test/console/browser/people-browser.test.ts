import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  addFilter,
  expectVisible,
  listViolations,
  type PageOptions,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { SitePages, type SiteUser } from "../../support/browser/site-pages.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;

describe.skipIf(CHROMIUM === null)("teams, people and their keys in a browser", () => {
  let site: ConsoleSite;
  let browser: Browser;
  let pages: SitePages;

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 300, spanMs: 10 * DAY_MS });
    browser = await startBrowser();
    pages = new SitePages(site, browser);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  afterEach(async () => {
    expect(await pages.closeAll()).toEqual([]);
  });

  const admin = (method: string, path: string, body?: unknown) =>
    callAdmin(site.gateway, site.secrets.operator, method, path, body);
  const ofOrganization = (path: string) => `/organizations/${site.organization}${path}`;

  const openAs = (user: SiteUser, path: string, options?: PageOptions) => pages.openAs(user, path, options);

  /** Sends a request with a key. Returns its status. */
  const send = async (secret: string) => {
    const response = await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-5-nano", messages: [{ role: "user", content: "Hello!" }] }),
    });
    await response.arrayBuffer();
    return response.status;
  };

  /** Reads the secret in a dialog, and closes it. */
  async function takeSecret(page: Page, title: RegExp): Promise<string> {
    const dialog = page.getByRole("dialog", { name: title });
    const secret = await dialog.getByRole("region", { name: "Key", exact: true }).innerText();
    expect(secret).toStartWith("gw_");
    await dialog.getByRole("tab", { name: "curl" }).waitFor();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    return secret;
  }

  describe("a team", () => {
    test("is created, gets a policy, limits and a member, and is deleted", async () => {
      const page = await openAs("admin", "people?tab=teams");
      await page.getByRole("button", { name: "New team" }).click();
      const form = page.getByRole("dialog", { name: "New team" });
      await form.getByLabel("Name").fill("search");
      await form.getByRole("button", { name: "Create", exact: true }).click();
      await form.getByText("Another team of the organization has this name").waitFor();
      expect(pages.takeProblems().every((line) => line.includes("409"))).toBe(true);
      await form.getByLabel("Name").fill("Research");
      await form.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Research" }).waitFor();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";

      await page.getByRole("tab", { name: "Policy" }).click();
      const denied = page.getByRole("combobox", { name: "Denied models" });
      await denied.fill("openai/*");
      await denied.press("Enter");
      await page.locator("form", { has: denied }).getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved", { exact: true }).waitFor();

      await page.getByRole("tab", { name: "Settings" }).click();
      await page.getByLabel("Requests per minute").fill("many");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Enter a whole number").waitFor();
      await page.getByLabel("Requests per minute").fill("120");
      await page.getByLabel("Cache answers for", { exact: true }).fill("0");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved", { exact: true }).first().waitFor();

      await page.getByRole("tab", { name: "Members" }).click();
      await page.getByRole("button", { name: "Add a member" }).click();
      const adding = page.getByRole("dialog", { name: "Add a member" });
      await adding.getByRole("combobox", { name: "Member of the organization" }).fill("hopper");
      await adding.getByRole("option", { name: /Grace Hopper/ }).click();
      await adding.getByRole("button", { name: "Add", exact: true }).click();
      const row = page.getByRole("row", { name: /Grace Hopper/ });
      await row.getByRole("button", { name: "Make lead" }).click();
      await row.getByText("Lead", { exact: true }).waitFor();
      const { data } = await admin("GET", ofOrganization(`/teams/${id}`));
      expect(data).toMatchObject({
        policy: { denied_models: ["openai/*"] },
        rate_limit: { requests_per_minute: 120 },
        ...{ cache: 0, members: 1 },
      });

      await page.getByRole("tab", { name: "Overview" }).click();
      await page.getByRole("button", { name: "Create budget" }).click();
      const budget = page.getByRole("dialog");
      await budget.getByLabel("Limit in dollars").fill("40");
      await budget.getByRole("button", { name: "Create budget" }).click();
      await page.getByRole("row", { name: /Research by month.*\$40\.00/ }).waitFor();
      await page.getByRole("link", { name: "Northwind Traders" }).click();
      await page.getByRole("tab", { name: "Teams" }).click();
      const listed = page.getByRole("row", { name: /Research/ });
      expect(await listed.innerText()).toMatch(/1\s+1 rule\s+\$0\.00 \/ \$40\.00/);
      await page.getByRole("searchbox", { name: "Search teams" }).fill("resea");
      await page.getByRole("link", { name: "Search", exact: true }).waitFor({ state: "detached" });
      await listed.getByRole("link", { name: "Research" }).click();

      await page.getByRole("tab", { name: "Settings" }).click();
      await page.getByRole("button", { name: "Delete team" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete team" }).click();
      await page.waitForURL(/tab=teams/);
      await page.getByRole("link", { name: "Search", exact: true }).waitFor();
      expect(await page.getByRole("link", { name: "Research" }).count()).toBe(0);
    }, 60_000);

    test("tries a policy on the requests of the team before it is saved", async () => {
      const page = await openAs("owner", `people/${site.organization}/teams/${site.team}?tab=policy`);
      const denied = page.getByRole("combobox", { name: "Denied models" });
      await denied.fill("anthropic/*");
      await denied.press("Enter");
      await page.getByText(/^\d+ of the last \d+ requests would have been rejected/).waitFor();
      const { data } = await admin("GET", ofOrganization(`/teams/${site.team}`));
      expect(data["policy"]).toMatchObject({ denied_models: ["openai/o1*"] });
    });

    test("shows its lead the usage, requests and keys of the team, and whom they can add", async () => {
      const page = await openAs("lead", "home");
      await page.getByRole("link", { name: "Search", exact: true }).first().click();
      await page.getByText("You lead this team").waitFor();
      await page.locator(".chart canvas").waitFor();
      const { rows } = await admin("GET", `/usage?team_id=${site.team}&group_by=team`);
      const figure = page.locator(".figures > div", { hasText: "Requests, 30 days" });
      await figure.getByText(String(rows[0]?.["requests"]), { exact: true }).waitFor();
      expect(await page.getByRole("region", { name: "Newest requests" }).locator("tbody tr").count()).toBe(
        10,
      );
      expect(await page.getByRole("button", { name: "Create budget" }).count()).toBe(0);
      await page.getByRole("tab", { name: "Keys" }).click();
      await page.getByRole("row", { name: /search indexer.*Service key/ }).waitFor();
      await page.getByRole("tab", { name: "Members" }).click();
      await page.getByRole("button", { name: "Add a member" }).click();
      const adding = page.getByRole("dialog", { name: "Add a member" });
      await adding.getByRole("combobox", { name: "Member of the organization" }).fill("easley");
      await adding.getByRole("option", { name: /Annie Easley/ }).click();
      expect(await adding.getByLabel("Leads the team").count()).toBe(0);
      await adding.getByRole("button", { name: "Add", exact: true }).click();
      const row = page.getByRole("row", { name: /Annie Easley/ });
      await row.getByRole("button", { name: "Remove" }).click();
      await page.getByText("No key ends").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await row.waitFor({ state: "detached" });
      await page.getByRole("tab", { name: "Settings" }).click();
      expect(await page.getByLabel("Name").isDisabled()).toBe(true);
      expect(await page.getByRole("button", { name: "Delete team" }).count()).toBe(0);
    }, 60_000);

    test("is left by a member with the keys of the team, which the question names", async () => {
      const { data: user } = await admin("POST", "/users", { name: "Maria Mitchell" });
      await admin("PUT", ofOrganization(`/members/${user.id}`), { role: "member" });
      await admin("PUT", ofOrganization(`/teams/${site.team}/members/${user.id}`), {});
      const key = { name: "comet notebook", account_id: site.organization, user_id: user.id };
      const { body, data } = await admin("POST", "/keys", { ...key, team_id: site.team });
      const page = await openAs("lead", `people/${site.organization}/teams/${site.team}?tab=members`);
      await page
        .getByRole("row", { name: /Maria Mitchell/ })
        .getByRole("button", { name: "Remove" })
        .click();
      await page.getByText("The key comet notebook of the team ends at once").waitFor();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("Keys that ended: 1").waitFor();
      expect(await send(String(body["key"]))).toBe(401);
      expect((await admin("GET", `/keys/${data.id}`)).data["revoked_at"]).not.toBe(null);
    });

    test("filters requests and usage", async () => {
      const page = await openAs("owner", "usage?range=30d");
      await page.getByRole("button", { name: "Team", exact: true }).click();
      const row = page.getByRole("row", { name: /^Search/ });
      await row.getByRole("link", { name: "Search" }).click();
      await page.waitForURL(new RegExp(`/console/requests\\?.*team_id=${site.team}`));
      await expectVisible(page.getByRole("button", { name: "Team is Search" }));
      await page
        .getByRole("cell", { name: /search (indexer|notebook)/ })
        .first()
        .waitFor();
      expect(await page.getByRole("cell", { name: "storefront production" }).count()).toBe(0);
    });
  });

  describe("a person", () => {
    test("is found among the members with role, teams and source, and their page shows what concerns them", async () => {
      await admin("PUT", ofOrganization(`/members/${site.people.member}`), {
        role: "member",
        daily_limit: 2,
      });
      const page = await openAs("owner", "people?tab=members");
      await page.getByRole("row", { name: /Annie Easley.*Auditor/ }).waitFor();
      await page.getByRole("row", { name: /Katherine Johnson.*Search \(Lead\)/ }).waitFor();
      await page.getByRole("searchbox", { name: "Search members" }).fill("grace");
      await page.getByRole("row", { name: /Annie Easley/ }).waitFor({ state: "detached" });
      await page.getByRole("row", { name: /Grace Hopper.*By hand.*\$2\.00/ }).waitFor();
      await page.getByRole("link", { name: "Grace Hopper" }).click();
      await page.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();
      await page.getByText(/^\$[\d.]+ \/ \$2\.00$/).waitFor();
      await page.getByRole("row", { name: /Search by month/ }).waitFor();
      await page.getByRole("tab", { name: "Keys" }).click();
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
      expect(await page.getByRole("link", { name: "storefront production" }).count()).toBe(0);
      await page.getByRole("tab", { name: "Usage" }).click();
      await page.locator(".chart canvas").waitFor();
      await page.getByRole("tab", { name: "Sessions" }).click();
      const sessions = page.getByRole("region", { name: "Console sessions" });
      await sessions.or(page.getByText("No one is signed in.")).waitFor();
      await page.getByRole("button", { name: "Change" }).click();
      const form = page.getByRole("dialog", { name: "Change Grace Hopper" });
      await form.getByLabel("Daily limit").fill("");
      await form.getByRole("button", { name: "Save" }).click();
      await form.waitFor({ state: "detached" });
      const { data } = await admin("GET", ofOrganization(`/members/${site.people.member}`));
      expect(data["daily_limit"]).toBe(null);
    }, 60_000);

    test("whose membership comes from a rule is removed only by force, which the question explains", async () => {
      const page = await openAs("admin", "people?tab=members");
      const member = {
        user_id: "user_ruled",
        user_name: "Rosalind Franklin",
        organization_id: site.organization,
      };
      await page.route("**/members?*", async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { data: object[] };
        const ruled = { ...body.data[0], ...member, role: "member", source: "oidc", teams: [] };
        await route.fulfill({ response, json: { ...body, data: [...body.data, ruled] } });
      });
      const removed: string[] = [];
      await page.route("**/members/user_ruled*", (route) => {
        removed.push(new URL(route.request().url()).search);
        return route.fulfill({
          json: { data: { organization_id: site.organization, user_id: "user_ruled" } },
        });
      });
      await page.route("**/keys?*user_ruled*", (route) => route.fulfill({ json: { data: [], next: null } }));
      await page.reload();
      const row = page.getByRole("row", { name: /Rosalind Franklin.*OpenID Connect/ });
      await row.getByRole("button", { name: "Remove" }).click();
      const dialog = page.getByRole("dialog", { name: "Remove Rosalind Franklin" });
      await dialog.getByText("To end it, change the person's groups").waitFor();
      await dialog.getByText("They have no keys of this organization.").waitFor();
      expect(await dialog.getByRole("button", { name: "Remove" }).isDisabled()).toBe(true);
      await dialog.getByLabel("End it nevertheless").check();
      await dialog.getByRole("button", { name: "Remove" }).click();
      await dialog.waitFor({ state: "detached" });
      expect(removed).toEqual(["?force=true"]);
      await row.getByRole("button", { name: "Change" }).click();
      const form = page.getByRole("dialog", { name: "Change Rosalind Franklin" });
      expect(await form.getByRole("combobox", { name: "Role" }).isDisabled()).toBe(true);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    });
  });

  describe("a key that an admin makes", () => {
    test("is for a person in a team, and counts as theirs", async () => {
      const page = await openAs("admin", "keys");
      await page.getByRole("button", { name: "Create key" }).click();
      const form = page.getByRole("dialog", { name: "Create key" });
      const person = form.getByRole("combobox", { name: "Person" });
      // By default it is one's own.
      expect(await person.inputValue()).toBe("Dorothy Vaughan");
      await form.getByLabel("Name").fill("Grace's search key");
      await person.fill("service");
      await form.getByRole("option", { name: /Service key/ }).click();
      await form.getByText("A service key belongs to no person").waitFor();
      await person.fill("hopper");
      await form.getByRole("option", { name: /Grace Hopper/ }).click();
      await form.getByRole("combobox", { name: "Team" }).selectOption({ label: "Search" });
      await form.getByRole("button", { name: "Create key" }).click();
      const secret = await takeSecret(page, /was created/);
      const row = page.getByRole("row", { name: /Grace's search key/ });
      expect(await row.innerText()).toMatch(/Grace Hopper\s+Search/);
      expect(await send(secret)).toBe(200);
      const { rows } = await admin("GET", "/keys?name=Grace%27s+search+key");
      expect(rows[0]).toMatchObject({ user_id: site.people.member, team_id: site.team });
    });

    test("is found by its owner, its team, the age of its secret and its use", async () => {
      const page = await openAs("owner", "keys");
      await addFilter(page, "Secret", "Older than 90 days");
      await page.getByRole("link", { name: "2024 prototype" }).waitFor();
      await page.getByRole("link", { name: "quarterly report" }).waitFor();
      expect(await page.getByRole("link", { name: "storefront production" }).count()).toBe(0);
      await page.getByRole("combobox", { name: "Use" }).selectOption("90d");
      expect(new URL(page.url()).search).toBe("?older_than=90d&unused=90d");
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByRole("combobox", { name: "Use" }).selectOption("");
      await page.getByRole("combobox", { name: "Order" }).selectOption("oldest_secret");
      await page.getByRole("row", { name: /2024 prototype/ }).waitFor();
      const first = await page.locator("tbody tr").first().innerText();
      expect(first).toMatch(/2024 prototype[\s\S]*14 months/);
      await addFilter(page, "Owner", "Grace Hopper");
      await page.getByRole("link", { name: "2024 prototype" }).waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
      await addFilter(page, "Team", "Search");
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor({ state: "detached" });
      await page
        .getByRole("heading", { name: "No key matches" })
        .or(page.locator("tbody tr").first())
        .waitFor();
    });

    test("is rotated after a leak, so that the former secret is rejected", async () => {
      const key = { name: "leaked", account_id: site.organization };
      const { body, data } = await admin("POST", "/keys", key);
      const page = await openAs("owner", `keys/${data.id}`);
      await page.getByRole("button", { name: "Rotate" }).click();
      const dialog = page.getByRole("dialog", { name: "Rotate leaked" });
      await dialog.getByRole("combobox").selectOption({ label: "At once – after a leak" });
      await dialog.getByText("rejected from now on").waitFor();
      await dialog.getByRole("button", { name: "Rotate" }).click();
      await page.getByText("The former secret has ended.").waitFor();
      const secret = await takeSecret(page, /has a new secret/);
      expect([await send(String(body["key"])), await send(secret)]).toEqual([401, 200]);
      expect(await page.getByText(/^The former secret gw_/).count()).toBe(0);
    });
  });

  for (const width of [390, 1_280])
    test(`a member makes, rotates and ends a key of their own on a window of ${width} pixels`, async () => {
      const page = await openAs("member", "home", { width });
      const name = `notebook ${width}`;
      const keys = page.locator("section.card", { has: page.getByRole("heading", { name: "Your keys" }) });
      await keys.getByText(/^You have \d of 5 keys/).waitFor();
      await keys.getByRole("button", { name: "Create key" }).click();
      const form = page.getByRole("dialog", { name: "Create key" });
      await form.getByText("A key may spend at most $50.00 a month.").waitFor();
      await form.getByText(/^On \d{4}-\d\d-\d\d \(UTC\) at the latest/).waitFor();
      for (const label of ["Person", "Kind", "Store bodies for"])
        expect(await form.getByLabel(label, { exact: true }).count()).toBe(0);
      await form.getByLabel("Name").fill(name);
      await form.getByLabel("Spending limit in dollars").fill("80");
      await form.getByRole("button", { name: "Create key" }).click();
      await form.getByRole("alert").getByText("Keys of members of this organization spend at most").waitFor();
      expect(pages.takeProblems().every((line) => line.includes("403"))).toBe(true);
      await form.getByLabel("Spending limit in dollars").fill("20");
      await form.getByRole("button", { name: "Create key" }).click();
      const first = await takeSecret(page, /was created/);
      expect(await send(first)).toBe(200);

      const row = page.getByRole("row", { name: new RegExp(name) });
      await row.getByRole("button", { name: "Rotate" }).click();
      await page
        .getByRole("dialog", { name: `Rotate ${name}` })
        .getByRole("button", { name: "Rotate" })
        .click();
      await page.getByText(/^The former secret gw_\S+ is valid until/).waitFor();
      const second = await takeSecret(page, /has a new secret/);
      expect([await send(first), await send(second)]).toEqual([200, 200]);

      await row.getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.getByText(/^The former secret gw_/).waitFor();
      await page.getByRole("button", { name: "Edit" }).click();
      const edit = page.getByRole("dialog", { name: `Settings of ${name}` });
      await edit.getByText("You may give your key another name").waitFor();
      expect(await edit.getByLabel("Models").count()).toBe(0);
      await edit.getByLabel("Spending limit in dollars").fill("5");
      await edit.getByRole("button", { name: "Save" }).click();
      await edit.waitFor({ state: "detached" });
      await page.getByText("$5.00 – ").waitFor();
      await page.getByRole("button", { name: "Revoke" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await page.getByText("Revoked", { exact: true }).waitFor();
      expect([await send(first), await send(second)]).toEqual([401, 401]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }, 60_000);

  describe("the Home of a member", () => {
    test("comes after the sign-in, and shows what is left, what is kept, how to connect and the newest requests", async () => {
      await admin("PUT", ofOrganization(`/members/${site.people.member}`), {
        role: "member",
        daily_limit: 0.00001,
      });
      const page = await openAs("member", "");
      await page.waitForURL(/\/console\/home$/);
      const left = page.locator("section.card", { has: page.getByRole("heading", { name: "What is left" }) });
      const reached = left.getByText("used up");
      await reached.waitFor();
      expect(await reached.getAttribute("class")).toContain("bad");
      await left.getByText(/of \$75\.00 left$/).waitFor();
      await left.getByText(/Budget of the team Search/).waitFor();
      await page.getByText("Prompts and answers are not stored by the gateway.").waitFor();
      await page.getByRole("region", { name: "Base address of the API:" }).waitFor();
      await page.getByRole("tab", { name: "Claude Code" }).click();
      await page.locator(".chart canvas").waitFor();
      expect(await page.getByRole("region", { name: "Newest requests" }).locator("tbody tr").count()).toBe(
        10,
      );
      const navigation = page.getByRole("navigation", { name: "Screens" }).first();
      expect(await navigation.getByRole("link").first().innerText()).toBe("Home");
      expect(await navigation.getByRole("link", { name: "People" }).count()).toBe(0);
      await admin("PUT", ofOrganization(`/members/${site.people.member}`), { role: "member" });
    });

    test("says that prompts are stored, and that zero retention is in force", async () => {
      await admin("PATCH", ofOrganization(""), { prompt_log: 604_800 });
      const page = await openAs("member", "home");
      await page.getByText("Prompts and answers are stored encrypted for 7 days.").waitFor();
      await admin("PATCH", ofOrganization(""), { policy: { zero_retention: true } });
      await page.reload();
      await page.getByText("Zero data retention: only providers").waitFor();
      await admin("PATCH", ofOrganization(""), { prompt_log: null, policy: { zero_retention: false } });
    });

    test("offers no key to make where the organization allows none", async () => {
      await admin("PATCH", ofOrganization(""), { member_keys: { count: 0 } });
      const page = await openAs("member", "home");
      await page.getByRole("heading", { name: "Your keys" }).waitFor();
      await page.getByRole("link", { name: "Grace's laptop" }).waitFor();
      expect(await page.getByRole("button", { name: "Create key" }).count()).toBe(0);
      await admin("PATCH", ofOrganization(""), { member_keys: { count: 5 } });
    });
  });

  test("an owner sets within what bounds members make keys, and what keys have by default", async () => {
    const page = await openAs("owner", "people");
    const bounds = page.locator("form", { has: page.getByLabel("Keys of each member") });
    await bounds.getByLabel("Longest life in days").fill("soon");
    await bounds.getByRole("button", { name: "Save" }).click();
    await bounds.getByText("Enter a whole number").waitFor();
    await bounds.getByLabel("Longest life in days").fill("30");
    await bounds.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const defaults = page.locator("form", { has: page.getByLabel("Store bodies for", { exact: true }) });
    await defaults.getByLabel("Cache answers for: unit").selectOption("hours");
    await defaults.getByLabel("Cache answers for", { exact: true }).fill("1");
    const tags = defaults.getByRole("combobox", { name: "Tags" });
    await tags.fill("northwind");
    await tags.press("Enter");
    await defaults.getByRole("button", { name: "Save" }).click();
    await defaults.getByText("Not saved yet").waitFor({ state: "detached" });
    const { data } = await admin("GET", ofOrganization(""));
    expect(data).toMatchObject({
      member_keys: { count: 5, days: 30, spend_limit: 50 },
      ...{ cache: 3_600, tags: ["northwind"], prompt_log: null },
    });
    await admin("PATCH", ofOrganization(""), { cache: null, tags: null, member_keys: { days: 90 } });
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`the dialogs of keys and members have no violation of WCAG 2.1 AA in the ${colorScheme} theme`, async () => {
      const page = await openAs("member", "home", { colorScheme });
      await page.getByRole("button", { name: "Create key" }).click();
      const found = (await listViolations(page)).map((one) => `key of a member: ${one}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Rotate" }).first().click();
      found.push(...(await listViolations(page)).map((one) => `rotate: ${one}`));
      const owner = await openAs("owner", `people/${site.organization}/teams/${site.team}?tab=members`, {
        colorScheme,
      });
      await owner.getByRole("button", { name: "Add a member" }).click();
      await owner.getByRole("combobox", { name: "Member of the organization" }).click();
      found.push(...(await listViolations(owner)).map((one) => `team member: ${one}`));
      expect(found).toEqual([]);
    });
});
