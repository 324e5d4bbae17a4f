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
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";

/** An organization with an owner, a lead and a team. */
interface Company {
  readonly gateway: TestGateway;
  readonly organization: string;
  readonly team: string;
  readonly owner: string;
  readonly lead: string;
}

async function startCompany(yaml = ""): Promise<Company> {
  const gateway = await startTestGateway({ yaml });
  const create = createAccountTools(gateway);
  const [owner, lead] = [await create.user("Olga"), await create.user("Lea")];
  const organization = await create.organization(owner, { name: "Northwind" });
  await create.member(organization, lead, "member");
  const teams = `/organizations/${organization}/teams`;
  const team = (await callAdmin(gateway, gateway.adminKey, "POST", teams, { name: "Search" })).data.id;
  await callAdmin(gateway, gateway.adminKey, "PUT", `${teams}/${team}/members/${lead}`, { is_lead: true });
  const sign = (user_id: string) => create.key(organization, { kind: "management", user_id });
  // Builds the console, which the first page would wait for.
  await (await fetch(`${gateway.url}/console`)).arrayBuffer();
  return { gateway, organization, team, owner: await sign(owner), lead: await sign(lead) };
}

describe.skipIf(CHROMIUM === null)("invitations in a browser", () => {
  let company: Company;
  /** A company whose people sign in through a provider. */
  let modern: Company;
  let provider: TestOidcProvider;
  let browser: Browser;
  const opened: ConsolePage[] = [];

  beforeAll(async () => {
    provider = await startOidcProvider();
    company = await startCompany();
    const oidc = {
      ...{ issuer: provider.issuer, client_id: "gateway", client_secret: "secret", name: "Test login" },
    };
    modern = await startCompany(JSON.stringify({ console: { oidc } }));
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await Promise.all([company.gateway.stop(), modern.gateway.stop()]);
    provider.stop();
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    const problems = pages.flatMap(({ problems }) => problems.list);
    expect(problems.filter((problem) => !problem.startsWith(`origin: ${provider.issuer}/`))).toEqual([]);
  });

  async function open({ gateway }: Company = company): Promise<Page> {
    const one = await openConsolePage(browser, gateway.url);
    opened.push(one);
    return one.page;
  }

  /** Opens a link as a browser does that has shown another page before. */
  async function openLink(link: string, of: Company = company): Promise<Page> {
    const page = await open(of);
    await follow(page, link);
    return page;
  }

  async function follow(page: Page, link: string): Promise<void> {
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByRole("heading", { name: "Invitation" }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  }

  async function invite(body: object = {}, { gateway, organization }: Company = company) {
    const path = `/organizations/${organization}/invitations`;
    const made = await callAdmin(gateway, gateway.adminKey, "POST", path, body);
    return { id: made.data.id, link: made.body["link"] as string };
  }

  const findMember = async (name: string, { gateway, organization }: Company = company) =>
    (
      await callAdmin(gateway, gateway.adminKey, "GET", `/organizations/${organization}/members?limit=100`)
    ).rows.find(({ user_name }) => user_name === name);

  /** Forgets that the browser has reported rejections of a path. */
  function forgive(path: string): void {
    for (const { problems } of opened) {
      const others = problems.list.splice(0).filter((problem) => !problem.includes(path));
      problems.list.push(...others);
    }
  }

  test("an owner invites a person with role, team and e-mail, copies the link once, and withdraws it", async () => {
    const page = await open();
    await signInWith(page, company.owner);
    await page.goto(`${company.gateway.url}/console/people/${company.organization}?tab=invitations`);
    await page.getByRole("heading", { name: "Invitations", exact: true }).waitFor();
    await page.getByText("Invite a person by a link").waitFor();
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("E-mail").fill("ada@example.com");
    await dialog.getByLabel("Role").selectOption("auditor");
    await dialog.getByLabel("Teams").fill("sear");
    await dialog.getByRole("option", { name: "Search" }).click();
    await dialog.getByLabel("Leads these teams").check();
    await dialog.getByLabel("The link is valid for").selectOption("168");
    expect(await listViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const link = dialog.getByLabel("Link", { exact: true });
    await link.waitFor();
    expect(await link.textContent()).toMatch(/\/console\/invite#code=[\w-]{43}$/);
    expect(await listViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("row", { name: "ada@example.com" });
    await row.getByText("Open").waitFor();
    expect(await row.textContent()).toContain("AuditorSearch (lead)Olga");
    expect(await page.content()).not.toContain("#code=");
    expect(await listViolations(page)).toEqual([]);
    await row.getByRole("button", { name: "Withdraw" }).click();
    await dialog.getByRole("button", { name: "Withdraw" }).click();
    await row.getByText("Withdrawn").waitFor();
    expect(await row.getByRole("button", { name: "Withdraw" }).count()).toBe(0);
  });

  test("a field that the API rejects says why", async () => {
    const page = await open();
    await signInWith(page, company.owner);
    await page.goto(`${company.gateway.url}/console/people/${company.organization}?tab=invitations`);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Teams").fill("No such team");
    await dialog.getByLabel("E-mail").fill("ada@example.com");
    await dialog.getByRole("button", { name: "Create link" }).click();
    await expectVisible(dialog.getByText("must be the id of a team of the organization"));
    forgive("/invitations");
  });

  test("the lead of a team invites into it as a member, on the page of the team", async () => {
    const page = await open();
    await signInWith(page, company.lead);
    const { organization, team } = company;
    await page.goto(`${company.gateway.url}/console/people/${organization}/teams/${team}?tab=members`);
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Role").count()).toBe(0);
    await dialog.getByRole("button", { name: "Create link" }).click();
    const link = (await dialog.getByLabel("Link", { exact: true }).textContent()) ?? "";
    const invited = await openLink(link);
    await expectVisible(invited.getByText("You are invited to join Northwind."));
    await expectVisible(invited.getByText("Search", { exact: true }));
  });

  test("a new person gives a name, sees the key once, and is in the console", async () => {
    const { link } = await invite({ role: "admin", email: "new@example.com" });
    const page = await openLink(link);
    expect(page.url()).toBe(`${company.gateway.url}/console/invite`);
    await expectVisible(page.getByText("You are invited to join Northwind."));
    await expectVisible(page.getByText("Admin", { exact: true }));
    await expectVisible(page.getByText("new@example.com"));
    expect(await listViolations(page)).toEqual([]);
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByRole("button", { name: "Accept", exact: true }).click();
    const key = (await page.getByLabel("Management key").textContent()) ?? "";
    expect(key).toMatch(/^gw_\w{49}$/);
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Open the console" }).click();
    await page.locator(".shell").waitFor();
    expect(page.url()).not.toContain("invite");
    await expectVisible(page.getByText("Ada Lovelace").first());
    expect(await findMember("Ada Lovelace")).toMatchObject({ role: "admin", source: "invitation" });
    const again = await open();
    await signInWith(again, key);
  });

  test("a user signs in on the page with a key, and accepts as that user", async () => {
    const { gateway } = company;
    const create = createAccountTools(gateway);
    const grace = await create.user("Grace");
    const key = await create.key(grace, { kind: "management" });
    const { link } = await invite({ teams: [{ id: company.team }] });
    const page = await openLink(link);
    await page.getByRole("button", { name: "I have a management key" }).click();
    await page.getByLabel("Management key").fill(key);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Accept as Grace" }).waitFor();
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Accept as Grace" }).click();
    await page.getByLabel("Management key").waitFor();
    await page.getByRole("button", { name: "Open the console" }).click();
    await page.locator(".shell").waitFor();
    await expectVisible(page.getByText("Northwind").first());
    expect(await findMember("Grace")).toMatchObject({ role: "member", source: "invitation" });
  });

  test("the operator is asked to sign out first, and then is a new person", async () => {
    const page = await open();
    await signInWith(page, company.gateway.adminKey);
    await follow(page, (await invite()).link);
    await expectVisible(page.getByText("signed in with a key that belongs to no user"));
    await page.getByRole("button", { name: "Sign out" }).click();
    await expectVisible(page.getByLabel("Your name"));
  });

  test("a link that was used or is incomplete says so, and leads to the console", async () => {
    const { id, link } = await invite();
    const path = `/organizations/${company.organization}/invitations/${id}`;
    await callAdmin(company.gateway, company.gateway.adminKey, "DELETE", path);
    const page = await openLink(link);
    await expectVisible(page.getByText("This invitation was withdrawn. Ask for a new invitation."));
    expect(await listViolations(page)).toEqual([]);
    await follow(page, `${company.gateway.url}/console/invite#code=unknown`);
    await expectVisible(page.getByText("There is no invitation for this link."));
    // Pasted into the address of the same tab, the page is not loaded again.
    await page.evaluate(`window.location.hash = ${JSON.stringify(new URL((await invite()).link).hash)}`);
    await expectVisible(page.getByText("You are invited to join Northwind."));
    await follow(page, `${company.gateway.url}/console/invite`);
    await expectVisible(page.getByText("This page needs the whole link"));
    await page.getByRole("link", { name: "Open the console" }).click();
    await page.getByLabel("Management key").waitFor();
    forgive("/invitations/preview");
  });

  test("with a provider, the page leads to its sign-in, and the person comes back as a member", async () => {
    provider.person = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
    const { link } = await invite({ email: "ada@example.com", teams: [{ id: modern.team }] }, modern);
    const page = await openLink(link, modern);
    const button = page.getByRole("button", { name: "Continue with Test login" });
    await button.waitFor();
    expect(await page.getByLabel("Your name").count()).toBe(0);
    expect(await listViolations(page)).toEqual([]);
    await button.click();
    await page.locator(".shell").waitFor();
    await expectVisible(page.getByText("Northwind").first());
    expect(await findMember("Ada", modern)).toMatchObject({ role: "member", source: "invitation" });
  });

  test("with a provider, another person than the invited one gets a page that says for whom it is", async () => {
    provider.person = { sub: "eve", name: "Eve", email: "eve@example.com", email_verified: true };
    const { link } = await invite({ email: "bob@example.com" }, modern);
    const page = await openLink(link, modern);
    await page.getByRole("button", { name: "Continue with Test login" }).click();
    await page.getByRole("heading", { name: "You are not signed in" }).waitFor();
    await expectVisible(page.getByText("This invitation is for bob@example.com."));
    expect(await listViolations(page)).toEqual([]);
    expect(await findMember("Eve", modern)).toBeUndefined();
    forgive("403");
  });
});
