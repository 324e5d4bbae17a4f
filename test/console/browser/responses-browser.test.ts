import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  addFilter,
  expectVisible,
  listViolations,
  openConsolePage,
  type PageProblems,
  signInWith,
} from "../../support/browser/console-page.ts";
import { listCutValues } from "../../support/browser/cut-values.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { chunkOf, healthy, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

const PEOPLE = ["owner", "auditor", "billing", "ada", "bob"] as const;
type Person = (typeof PEOPLE)[number] | "operator";

/** Where screenshots are written; none are if it is not set. */
const PICTURES = process.env["GATEWAY_TEST_PICTURES"];

describe.skipIf(CHROMIUM === null)("kept responses in a browser", () => {
  let vendor: Vendor;
  let gateway: TestGateway;
  let browser: Browser;
  let organization: string;
  let secrets: Record<Person, string>;
  /** Inference keys: of Ada, and of no person. */
  let keys: Record<"ada" | "service", string>;
  const opened: { readonly page: Page; readonly problems: PageProblems }[] = [];

  beforeAll(async () => {
    vendor = startVendor(healthy("Alpha"));
    gateway = await startTestGateway({
      yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}
responses: {account_bytes: 200000, retention_days: 7}`,
    });
    const create = createAccountTools(gateway);
    const ids: Record<string, string> = {};
    for (const name of PEOPLE) ids[name] = await create.user(name[0]?.toUpperCase() + name.slice(1));
    organization = await create.organization(ids["owner"], { name: "Northwind Traders" });
    secrets = { operator: gateway.adminKey } as typeof secrets;
    for (const name of PEOPLE) {
      const role = name === "ada" || name === "bob" ? "member" : name;
      if (name !== "owner") await create.member(organization, ids[name] as string, role);
      secrets[name] = await create.key(organization, { kind: "management", user_id: ids[name] });
    }
    await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${organization}/credits`, { amount: 10 });
    keys = {
      ada: await create.key(organization, { name: "Ada's laptop", user_id: ids["ada"] }),
      service: await create.key(organization, { name: "storefront" }),
    };
    browser = await startBrowser();
  }, 60_000);
  beforeEach(() => vendor.perform(healthy("Alpha")));
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    vendor.stop();
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    expect(pages.flatMap(({ problems }) => problems.list)).toEqual([]);
  });

  async function post(key: string, path: string, body: object): Promise<string> {
    const response = await fetch(gateway.base + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as { id: string };
    expect([response.status, answer]).toEqual([200, expect.anything()]);
    return answer.id;
  }
  const respond = (key: string, body: object = {}) =>
    post(key, "/responses", { model: "acme/model", input: "Which tulips?", store: true, ...body });

  /** Begins a background response that waits for its vendor. */
  async function begin(key: string) {
    vendor.perform(async (one) => {
      await one.begin();
      await one.events(chunkOf({ content: "Alpha" }));
      await one.gate();
      await one.events(chunkOf({}, "stop"), { choices: [], usage: USAGE }, "[DONE]");
      await one.end();
    });
    const at = vendor.calls.length;
    const id = await respond(key, { background: true });
    const call = await vendor.call(at);
    await call.atGate;
    return { id, call };
  }

  async function open(
    person: Person,
    path: string,
    options: { readonly width?: number } = {},
  ): Promise<Page> {
    const one = await openConsolePage(browser, gateway.url, options);
    opened.push(one);
    await signInWith(one.page, secrets[person]);
    await one.page.goto(`${gateway.url}/console${path}`);
    await one.page.getByRole("heading", { level: 1 }).waitFor();
    await one.page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
    return one.page;
  }

  /** Checks a page in both themes at both widths, and writes pictures of it if that is wanted. */
  async function examine(page: Page, name: string): Promise<void> {
    for (const width of [1_280, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        if (PICTURES !== undefined)
          await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        const wider = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        expect([name, width, colorScheme, wider, await listCutValues(page)]).toEqual([
          name,
          width,
          colorScheme,
          0,
          [],
        ]);
        expect(await listViolations(page)).toEqual([]);
      }
    await page.setViewportSize({ width: 1_280, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  }

  const textsOf = (page: Page, selector: string) =>
    page
      .locator(selector)
      .allInnerTexts()
      .then((texts) => texts.map((text) => text.replace(/\s+/g, " ").trim()));

  test("an account without kept responses says how to keep one", async () => {
    const page = await open("owner", `/people/${organization}?tab=responses`);
    await expectVisible(page.getByText("No responses are kept"));
    expect(await textsOf(page, ".kept-share")).toEqual(["0 B of 200 kB kept (0 %)"]);
    await examine(page, "empty");
  });

  test("the page of a response shows its cost and its chain, whose turns lead to each other", async () => {
    const conversation = await post(keys.ada, "/conversations", {
      items: [{ type: "message", role: "user", content: "My name is Ada." }],
      metadata: { topic: "garden tulips" },
    });
    const first = await respond(keys.ada, { conversation });
    const second = await respond(keys.ada, { conversation });
    const page = await open("owner", `/responses/${first}`);
    await expectVisible(page.locator(".request").getByText("Completed").first());
    expect((await textsOf(page, ".figures")).join(" ")).toContain("Cost $0.00006");
    expect(await textsOf(page, ".chain-line")).toEqual([
      "Turn 1 Items without a response",
      "Turn 2 acme/model This one Completed",
      "Turn 3 acme/model Completed",
    ]);
    expect((await textsOf(page, "#facts dl")).join(" ")).toContain("topic: garden tulips");
    await examine(page, "chain");
    await page.getByRole("link", { name: "Turn 3" }).click();
    await page.waitForURL(new RegExp(`${second}$`));
    await expectVisible(page.locator(".chain-turn.current").getByText("Turn 3"));
    await page.getByRole("link", { name: "Turn 1" }).click();
    await page.waitForURL(/items_\w+$/);
    await page.getByRole("link", { name: "Newest turn" }).click();
    await page.waitForURL(new RegExp(`${second}$`));
    await page.goto(`${gateway.url}/console/responses/${conversation}`);
    await page.waitForURL(new RegExp(`${second}$`));
  });

  test("a chain that branches says what each turn continues", async () => {
    const root = await respond(keys.service);
    await respond(keys.service, { previous_response_id: root });
    const branch = await respond(keys.service, { previous_response_id: root });
    const page = await open("operator", `/responses/${branch}`);
    const facts = await textsOf(page, ".chain-facts");
    expect(facts).toHaveLength(3);
    expect(facts[1]).not.toContain("Continues");
    expect(facts[2]).toContain("Continues turn 1");
  });

  test("contents are read only after a button that says that the read is recorded", async () => {
    const id = await respond(keys.service, { input: "A question about peonies" });
    const page = await open("auditor", `/responses/${id}`);
    const reads = async () =>
      (await callAdmin(gateway, secrets.owner, "GET", "/audit?limit=100")).rows.filter(
        ({ target }) => target === id,
      ).length;
    expect([await page.getByText("peonies").count(), await reads()]).toEqual([0, 0]);
    await expectVisible(page.getByText("Reading them is recorded in the audit log."));
    await page.getByRole("button", { name: "Show contents" }).click();
    await expectVisible(page.getByText("A question about peonies"));
    await expectVisible(page.locator("#contents").getByText("message · assistant"));
    expect(await reads()).toBe(1);
    await examine(page, "contents");
    // An auditor changes nothing.
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  });

  test("a running background response shows its state live, and is cancelled after a question", async () => {
    const { id, call } = await begin(keys.ada);
    const page = await open("ada", `/responses/${id}`);
    await expectVisible(page.getByText("Running for"));
    await expectVisible(page.locator(".request").getByText("Running", { exact: true }).first());
    await examine(page, "running");
    await page.getByRole("button", { name: "Cancel response" }).focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    await expectVisible(dialog.getByText("What it has produced is charged."));
    if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/cancel.png` });
    await dialog.getByRole("button", { name: "Let it run" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Cancel response" }).click();
    await dialog.getByRole("button", { name: "Cancel response" }).click();
    await expectVisible(page.locator(".request").getByText("Cancelled").first());
    await call.connection.closed;
    expect(await page.getByRole("button", { name: "Cancel response" }).count()).toBe(0);
  });

  test("the end of a background response arrives on its page", async () => {
    const { id, call } = await begin(keys.service);
    const page = await open("owner", `/responses/${id}`);
    await expectVisible(page.getByText("Running for"));
    call.openGate();
    await expectVisible(page.locator(".request").getByText("Completed").first());
    await expectVisible(page.getByRole("button", { name: "Delete" }));
  });

  test("the tab of an account lists them with filters, and how much of the limit is used", async () => {
    const { id, call } = await begin(keys.service);
    const page = await open("owner", `/people/${organization}?tab=responses`);
    await expectVisible(page.getByText(/ of 200 kB kept/));
    await expectVisible(page.getByText("Deleted 7 days after their last use."));
    const rows = page.locator("tbody tr");
    expect(await rows.count()).toBeGreaterThan(3);
    await examine(page, "list");
    await addFilter(page, "Status", "Running");
    await page.waitForURL(/status=in_progress/);
    await expectVisible(rows.first());
    expect(await rows.count()).toBe(1);
    await addFilter(page, "Background", "Not in the background");
    await expectVisible(page.getByText("No kept response matches"));
    await page.goto(`${gateway.url}/console/people/${organization}?tab=responses&background=true`);
    await rows.first().click();
    await page.waitForURL(new RegExp(`/responses/${id}$`));
    call.openGate();
    await expectVisible(page.getByRole("button", { name: "Delete" }));
  });

  test("a kept response is reached from its request and by Ctrl+K, and is deleted after a question", async () => {
    const id = await respond(keys.service);
    const page = await open("owner", `/requests/${id}`);
    await page.locator("#who").getByRole("link", { name: "Open" }).click();
    await page.waitForURL(new RegExp(`/responses/${id}$`));
    await page.getByRole("link", { name: "Its request" }).click();
    await page.waitForURL(new RegExp(`/requests/${id}$`));
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill(id);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/responses/${id}$`));
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await expectVisible(dialog.getByText("can no longer be continued"));
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/\/console\/responses\?account_id=/);
    expect((await callAdmin(gateway, secrets.owner, "GET", `/responses/${id}`)).status).toBe(404);
  });

  test("members see their own, and no contents", async () => {
    const id = await respond(keys.ada);
    await respond(keys.service);
    const page = await open("ada", "/responses");
    const users = new Set(await textsOf(page, 'tbody td[data-title="User"]'));
    expect([...users]).toEqual(["Ada"]);
    expect(await page.locator(".kept-usage").count()).toBe(0);
    await examine(page, "member");
    await page.goto(`${gateway.url}/console/responses/${id}`);
    await expectVisible(page.getByText("Only the operator, owners, admins and auditors read contents."));
    expect(await page.getByRole("button", { name: "Show contents" }).count()).toBe(0);
    await expectVisible(page.getByRole("button", { name: "Delete" }));
  });

  test("the operator chooses an account", async () => {
    const page = await open("operator", "/responses");
    await expectVisible(page.getByText("Choose an account"));
    await examine(page, "choose");
    await page.getByRole("combobox").fill("Northwind");
    await page.getByRole("option", { name: "Northwind Traders" }).click();
    await page.waitForURL(/account_id=org_/);
    await expectVisible(page.locator("tbody tr").first());
  });
});

describe.skipIf(CHROMIUM === null)("a response that is not kept", () => {
  test("has a page that says why", async () => {
    const gateway = await startTestGateway();
    const browser = await startBrowser();
    const { page } = await openConsolePage(browser, gateway.url);
    await signInWith(page, gateway.adminKey);
    await page.goto(`${gateway.url}/console/responses/gen_none`);
    await expectVisible(page.getByText("No such response is kept"));
    expect(await listViolations(page)).toEqual([]);
    await browser.close();
    await gateway.stop();
  });
});
