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
import { callAdmin } from "../../support/gateway/management.ts";
import { startOidcProvider, type TestOidcProvider } from "../../support/servers/oidc-provider.ts";

const YAML = "timers: { connect_ms: 5000 }\nlimits:\n  models:\n    anthropic/*: { concurrent: 2 }\n";
const SECRET = "a-secret-of-more-than-32-characters-0001";

describe.skipIf(CHROMIUM === null)("the settings in a browser", () => {
  let yaml = YAML;
  let gateway: TestGateway;
  let empty: TestGateway;
  let provider: TestOidcProvider;
  let browser: Browser;
  const opened: ConsolePage[] = [];
  /** Statuses of the API that a test expects, which the browser reports as errors of the page. */
  let expected: readonly number[] = [];

  beforeAll(async () => {
    provider = await startOidcProvider();
    gateway = await startTestGateway({ yaml: YAML, readYaml: () => yaml });
    empty = await startTestGateway({ yaml: "" });
    for (const { url } of [gateway, empty]) await (await fetch(`${url}/console`)).arrayBuffer();
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await empty.stop();
    provider.stop();
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    const problems = pages.flatMap((one) => one.problems.list);
    const other = problems.filter((line) => !expected.some((status) => line.includes(`status of ${status}`)));
    expected = [];
    expect(other).toEqual([]);
  });

  async function open(path: string, of = gateway): Promise<Page> {
    const one = await openConsolePage(browser, of.url);
    opened.push(one);
    await signInWith(one.page, of.adminKey);
    await go(one.page, path, of);
    return one.page;
  }

  async function go(page: Page, path: string, of = gateway): Promise<void> {
    await page.goto(`${of.url}/console/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  }

  /** Reviews what is typed, and saves it. */
  async function save(page: Page, ...changed: readonly string[]): Promise<void> {
    await page.getByRole("button", { name: "Review and save" }).click();
    const dialog = page.getByRole("dialog", { name: "Save these changes?" });
    for (const name of changed) await dialog.getByText(name, { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .getByText(/^Saved as revision/)
      .first()
      .waitFor();
  }

  const admin = (method: string, path: string, body?: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, path, body);
  const setting = async (name: string) =>
    (await admin("GET", "/settings")).rows.find((one) => one["name"] === name);
  const row = (page: Page, name: string) => page.locator(`[data-setting="${name}"]`);

  test("a setting is changed with a look at the difference, and is in force without a restart", async () => {
    const page = await open("settings?group=server");
    await go(page, "settings");
    await page.getByRole("link", { name: "Timers" }).click();
    await page.getByLabel("First token", { exact: true }).fill("90000");
    await expectVisible(row(page, "timers.first_token_ms").getByText("= 1.5 min"));
    await save(page, "timers.first_token_ms");
    expect(await setting("timers.first_token_ms")).toMatchObject({ value: 90_000, source: "database" });
    await expectVisible(row(page, "timers.first_token_ms").getByText("Stored"));
    await row(page, "timers.first_token_ms").getByRole("button", { name: "Reset" }).click();
    await save(page, "timers.first_token_ms");
    expect(await setting("timers.first_token_ms")).toMatchObject({ value: 120_000, source: "default" });
  });

  test("a limit that is stored applies to the next request", async () => {
    const page = await open("settings?q=body_bytes");
    await page.getByLabel("Body size", { exact: true }).fill("1024");
    await save(page, "limits.body_bytes");
    const response = await fetch(`${gateway.url}/api/gateway/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({
        model: "sandbox/echo",
        messages: [{ role: "user", content: "x".repeat(2_000) }],
      }),
    });
    expect(response.status).toBe(413);
    await row(page, "limits.body_bytes").getByRole("button", { name: "Reset" }).click();
    await save(page);
  });

  test("a setting of the file is read-only and names its line, and entries beside those of the file can be added", async () => {
    const page = await open("settings?q=connect_ms");
    await expectVisible(row(page, "timers.connect_ms").getByText("Set in gateway.yaml:1"));
    expect(await row(page, "timers.connect_ms").getByRole("textbox").count()).toBe(0);
    await go(page, "settings?q=limits.models");
    const models = row(page, "limits.models");
    await expectVisible(models.getByText("Set in gateway.yaml:4"));
    await models.getByPlaceholder("Name").fill("openai/*");
    await models.getByRole("button", { name: "Add" }).click();
    await models.getByLabel("Concurrent").fill("7");
    await save(page, "limits.models");
    expect(await setting("limits.models")).toMatchObject({
      value: { "anthropic/*": { concurrent: 2 }, "openai/*": { concurrent: 7 } },
    });
  });

  test("what is wrong stands at its field and in the bar, and nothing is stored", async () => {
    expected = [400];
    const page = await open("settings?group=storage");
    await page.getByLabel("Hourly usage").fill("1000");
    await page.getByRole("link", { name: "Timers" }).click();
    await page.getByRole("button", { name: "Review and save" }).click();
    await page.getByRole("link", { name: "storage.hourly_usage_days" }).click();
    await expectVisible(row(page, "storage.hourly_usage_days").getByRole("alert"));
    expect(await setting("storage.hourly_usage_days")).toMatchObject({ value: 14 });
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Discard changes" }).click();
    await expectVisible(page.getByLabel("Hourly usage"));
    expect(await page.getByRole("button", { name: "Review and save" }).count()).toBe(0);
  });

  test("a webhook is added in a form with its secrets, which are stored encrypted, listed and replaced", async () => {
    const page = await open("settings?group=alerts");
    await row(page, "webhooks").getByRole("button", { name: "Add" }).click();
    await page.getByLabel("URL *").fill("http://127.0.0.1:9/hook");
    await page.getByLabel("Secret", { exact: true }).fill(SECRET);
    await page.getByLabel("budget.warning").uncheck();
    await save(page, "webhooks");
    const { document } = (await admin("GET", "/config")).data as unknown as {
      document: { webhooks: { url: string; secret: string; events: string[] }[] };
    };
    expect(JSON.stringify(document)).not.toContain(SECRET);
    expect(document.webhooks[0]?.secret).toStartWith(`\${secret:`);
    expect(document.webhooks[0]?.events).not.toContain("budget.warning");
    await go(page, "settings?tab=secrets");
    const id = document.webhooks[0]?.secret.slice(9, -1) ?? "";
    const line = page.getByRole("row", { name: new RegExp(id) });
    await expectVisible(line.getByText("webhooks.0.secret"));
    await expectVisible(line.getByText("…0001"));
    expect(await line.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await line.getByRole("button", { name: "Replace" }).click();
    await page.getByLabel("New value").fill(`${SECRET.slice(0, -4)}0002`);
    await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
    await expectVisible(line.getByText("…0002"));
    expect(await listViolations(page)).toEqual([]);
  });

  test("a list can be edited as JSON, and is the same in the form", async () => {
    const page = await open("settings?q=pricing.rules");
    await page.getByRole("button", { name: "JSON", exact: true }).click();
    await row(page, "pricing.rules")
      .getByRole("textbox")
      .fill('[{"plans": ["pro"], "markup_percent": "12.5"}]');
    await page.getByRole("button", { name: "Form", exact: true }).click();
    expect(await page.getByLabel("Markup").inputValue()).toBe("12.5");
    await save(page, "pricing.rules");
    expect(await setting("pricing.rules")).toMatchObject({
      value: [{ plans: ["pro"], markup_percent: "12.5" }],
    });
  });

  test("a revision is compared with the settings in force, and restored", async () => {
    await admin("PATCH", "/config", { edits: [{ path: ["log_level"], value: "warn" }] });
    const { revision } = (await admin("GET", "/config")).data as unknown as { revision: number };
    await admin("PATCH", "/config", { edits: [{ path: ["log_level"], value: "error" }] });
    const page = await open("settings?tab=revisions");
    const line = page.getByRole("row", { name: new RegExp(`^${revision} `) });
    await expectVisible(line.getByText("log_level"));
    await line.getByRole("button", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("log_level", { exact: true }).waitFor();
    expect(await listViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Restore" }).click();
    await page.getByText(`Saved as revision ${revision + 2}`).waitFor();
    expect(await setting("log_level")).toMatchObject({ value: "warn" });
  });

  test("a change of the file is shown before it is read again", async () => {
    const page = await open("settings?group=timers");
    yaml = YAML.replace("5000", "6000");
    await page.getByRole("button", { name: "Reload file" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("timers.connect_ms", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Reload", exact: true }).click();
    await page.getByText("The configuration file was read again.").waitFor();
    await expectVisible(row(page, "timers.connect_ms").getByText("6000"));
    yaml = YAML;
    await admin("POST", "/settings/reload");
  });

  test("an export is applied to an empty gateway, which asks for its secrets and then has the same settings", async () => {
    expected = [400];
    const webhook = { url: "http://127.0.0.1:9/hook", secret: SECRET };
    await admin("PATCH", "/config", { edits: [{ path: ["webhooks"], value: [webhook] }] });
    const page = await open("settings");
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "As YAML" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("gateway.yaml");
    const path = await download.path();
    expect(await Bun.file(path).text()).not.toContain(SECRET.slice(0, 20));
    const other = await open("settings", empty);
    await other.getByRole("button", { name: "Apply file" }).click();
    await other.getByLabel("Choose a file").setInputFiles({
      name: "gateway.yaml",
      mimeType: "application/yaml",
      buffer: Buffer.from(await Bun.file(path).text()),
    });
    await other.getByRole("button", { name: "Check" }).click();
    await other.getByText("The file refers to secrets that are not stored here.").waitFor();
    const secrets = other.locator('.dialog input[type="password"]');
    const { secrets: ids } = (await admin("GET", "/config/export")).data as unknown as { secrets: string[] };
    expect(await secrets.count()).toBe(ids.length);
    for (const id of ids)
      await other
        .getByLabel(id, { exact: true })
        .fill((await isAddress(id)) ? "http://127.0.0.1:9/hook" : SECRET);
    await other.getByRole("button", { name: "Check" }).click();
    expect(await listViolations(other)).toEqual([]);
    await other.getByRole("button", { name: "Apply", exact: true }).click();
    await other.getByText("Saved as revision 1").waitFor();
    const documents = await Promise.all(
      [gateway, empty].map(
        async (one) => (await callAdmin(one, one.adminKey, "GET", "/config/export")).data["document"],
      ),
    );
    expect(documents[1]).toEqual(documents[0]);
  });

  /** Whether a secret is the address of a webhook. */
  async function isAddress(id: string): Promise<boolean> {
    const { document } = (await admin("GET", "/config")).data as unknown as {
      document: { webhooks: { url: string }[] };
    };
    return document.webhooks[0]?.url === `\${secret:${id}}`;
  }

  test("settings of the sign-in are saved after a trial sign-in in another tab", async () => {
    expected = [409];
    Object.assign(provider, { person: { sub: "root", groups: ["operators"] }, signedInAt: Date.now() });
    const page = await open("settings?group=oidc");
    await page.getByLabel("Issuer", { exact: true }).fill(provider.issuer);
    await page.getByLabel("Client ID", { exact: true }).fill("gateway");
    await page.getByLabel("Client secret", { exact: true }).fill("secret");
    await row(page, "console.oidc.rules").getByRole("button", { name: "Add" }).click();
    await page.getByLabel("Claim *").fill("groups");
    await page.getByLabel("Value *").fill("operators");
    await page.getByRole("button", { name: "Review and save" }).click();
    const dialog = page.getByRole("dialog", { name: "Try the sign-in first" });
    const link = dialog.getByRole("link", { name: "Sign in for trial" });
    await link.waitFor();
    expect(await listViolations(page)).toEqual([]);
    const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await tab.getByText("The trial sign-in has succeeded").waitFor();
    await dialog.getByText("The sign-in of root succeeded: Operator.").waitFor();
    await dialog.getByRole("button", { name: "Review and save" }).click();
    await page
      .getByRole("dialog", { name: "Save these changes?" })
      .getByRole("button", { name: "Save", exact: true })
      .click();
    await page
      .getByText(/^Saved as revision/)
      .first()
      .waitFor();
    expect(await setting("console.oidc.issuer")).toMatchObject({ value: provider.issuer });
  });

  test("a file with other settings of the sign-in is applied after a trial sign-in", async () => {
    expected = [409, 400];
    Object.assign(provider, { person: { sub: "root", groups: ["operators"] }, signedInAt: Date.now() });
    const page = await open("settings", empty);
    await page.getByRole("button", { name: "Apply file" }).click();
    const oidc = {
      issuer: provider.issuer,
      client_id: "gateway",
      client_secret: `\${secret:oidc}`,
      rules: [{ claim: "groups", value: "operators", operator: true }],
    };
    await page.getByLabel("Or paste it").fill(JSON.stringify({ console: { oidc } }));
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByLabel("oidc", { exact: true }).fill("secret");
    await page.getByRole("button", { name: "Check" }).click();
    const dialog = page.getByRole("dialog", { name: "Try the sign-in first" });
    const link = dialog.getByRole("link", { name: "Sign in for trial" });
    await link.waitFor();
    const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await tab.getByText("The trial sign-in has succeeded").waitFor();
    await dialog.getByRole("button", { name: "Review and save" }).click();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page
      .getByText(/^Saved as revision/)
      .first()
      .waitFor();
  });
});
