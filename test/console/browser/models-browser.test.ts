import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  type ConsolePage,
  expectVisible,
  listViolations,
  openConsolePage,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { eventually } from "../../support/eventually.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { signIn } from "../../support/gateway/sign-in.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Pastes or drops an image, as a script that runs in the page. */
const giveImage = new Function(
  "field",
  "{ kind, base64 }",
  `const data = new DataTransfer();
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  data.items.add(new File([bytes], kind + ".png", { type: "image/png" }));
  const options = { bubbles: true, cancelable: true };
  field.dispatchEvent(
    kind === "paste"
      ? new ClipboardEvent(kind, { ...options, clipboardData: data })
      : new DragEvent(kind, { ...options, dataTransfer: data }),
  );`,
) as (field: unknown, given: { kind: string; base64: string }) => void;

describe.skipIf(CHROMIUM === null)("models and the playground in a browser", () => {
  let site: ConsoleSite;
  let browser: Browser;
  /** The page of the operator, which most tests use one after the other, and its session. */
  let shared: ConsolePage;
  let opened: ConsolePage[] = [];

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 20, yaml: 'sandbox: "on"\n' });
    browser = await startBrowser();
    shared = await openNew();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
  });
  afterEach(async () => {
    const pages = opened;
    opened = [];
    await Promise.all(pages.map(({ page }) => page.context().close()));
    expect([shared, ...pages].flatMap(({ problems }) => problems.list.splice(0))).toEqual([]);
  });

  type Options = Parameters<typeof openConsolePage>[2] & { readonly role?: "operator" | "member" };

  async function openNew({ role = "operator", ...options }: Options = {}): Promise<ConsolePage> {
    const one = await openConsolePage(browser, site.gateway.url, options);
    const { cookie } = await signIn(site.gateway, { key: site.secrets[role] });
    const [name = "", value = ""] = cookie.split("=");
    await one.page.context().addCookies([{ name, value, url: site.gateway.url }]);
    return one;
  }

  /** Opens a path in the shared page; with options in a page of its own. */
  async function open(path: string, options?: Options): Promise<Page> {
    const one = options === undefined ? shared : await openNew(options);
    if (one !== shared) opened.push(one);
    await one.page.goto(site.gateway.url + path);
    return one.page;
  }

  const say = async (page: Page, text: string) => {
    await page.getByLabel("Message", { exact: true }).fill(text);
    await page.keyboard.press("Enter");
  };
  const answerOf = (page: Page, model = "sandbox/echo:free") =>
    page.getByRole("article", { name: model }).last();

  describe("the list of models", () => {
    test("has all models but few rows, and typing filters them and is kept in the address", async () => {
      const page = await open("/console/models");
      const table = page.getByRole("table");
      await table.waitFor();
      const count = Number(await table.getAttribute("aria-rowcount"));
      expect(count).toBeGreaterThan(500);
      expect(await table.locator("tbody tr").count()).toBeLessThan(100);
      await page.getByLabel("Search models").fill("gpt-5-mini");
      await page.waitForURL(/q=gpt-5-mini/);
      await page.getByRole("link", { name: "GPT-5 Mini" }).waitFor();
      await page.reload();
      await page.getByRole("link", { name: "GPT-5 Mini" }).waitFor();
      expect(await page.getByLabel("Search models").inputValue()).toBe("gpt-5-mini");
    });

    test("shows the last model after scrolling to the end", async () => {
      const page = await open("/console/models?sort=name");
      await page.getByRole("table").waitFor();
      const count = await page.getByRole("table").getAttribute("aria-rowcount");
      await page.getByRole("region", { name: "Models" }).press("End");
      await expectVisible(page.locator(`tr[aria-rowindex="${count}"]`));
    });

    test("sorts by a column, the other way round at the next press", async () => {
      const page = await open("/console/models?served=yes");
      const output = page.getByRole("columnheader", { name: "Output" });
      await output.getByRole("button").click();
      expect(await output.getAttribute("aria-sort")).toBe("ascending");
      await output.getByRole("button").click();
      await page.waitForURL(/sort=-output/);
      const prices = (await page.locator("tbody .col-output").allInnerTexts()).map(Number);
      expect(prices.slice(0, 10)).toEqual(prices.slice(0, 10).toSorted((a, b) => b - a));
    });

    test("says that no model matches, and clears the filters", async () => {
      const page = await open("/console/models?q=no-such-model");
      await page.getByRole("heading", { name: "No model matches" }).waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await expectVisible(page.getByRole("table"));
    });

    test("selects up to four models, which are compared side by side", async () => {
      const page = await open("/console/models?served=yes&sort=name");
      const boxes = page.locator("tbody input[type=checkbox]");
      for (let i = 0; i < 4; i += 1) await boxes.nth(i).check();
      expect(await boxes.nth(4).isDisabled()).toBe(true);
      await page.getByRole("link", { name: "Compare", exact: true }).click();
      const heads = page.locator(".compare-table thead th");
      await heads.nth(3).waitFor();
      expect(await heads.count()).toBe(4);
      await page
        .getByRole("button", { name: /^Remove/ })
        .first()
        .click();
      await heads.nth(3).waitFor({ state: "detached" });
      // The models that stay are shown at once, without a load in between.
      expect(await heads.count()).toBe(3);
    });
  });

  test("the page of a model has its endpoints with measured health, prices and code", async () => {
    await fetch(`${site.gateway.base}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${site.inferenceKey}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "openai/gpt-5-nano", messages: [{ role: "user", content: "Hello!" }] }),
    });
    const page = await open("/console/models/openai/gpt-5-nano");
    const endpoints = page.getByRole("region", { name: "Endpoints" });
    const row = endpoints.getByRole("row", { name: /^OpenAI/ });
    await row.getByText("100 %").waitFor();
    expect(await row.innerText()).toContain("OK");
    await page.getByText(/^OpenAI gpt-5-nano · \d+ rules$/).click();
    const rules = page.getByRole("region", { name: "Parameters: OpenAI" });
    await rules.getByRole("row", { name: "temperature Only 1 Model family" }).waitFor();
    expect(await listViolations(page)).toEqual([]);
    await page.getByRole("region", { name: "Prices" }).getByText("Always").first().waitFor();
    await page.getByRole("button", { name: "AI SDK" }).click();
    expect(await page.getByRole("region", { name: "Call it" }).innerText()).toContain("streamText");
    await page.getByRole("link", { name: "Try in the playground" }).click();
    await page.getByLabel("Message", { exact: true }).waitFor();
    expect(await page.getByRole("combobox", { name: "Model", exact: true }).inputValue()).toBe("GPT-5 Nano");
  });

  describe("the playground", () => {
    test("sends one conversation over each API, and shows reasoning, usage, route and the events", async () => {
      const page = await open("/console/playground");
      for (const [name, path] of [
        ["Chat completions", "/v1/chat/completions"],
        ["Responses", "/v1/responses"],
        ["Messages", "/v1/messages"],
      ] as const) {
        await page.getByRole("button", { name, exact: true }).click();
        await say(page, `over ${name} [sandbox:reasoning]`);
        await answerOf(page).getByText(`You said: over ${name}`).waitFor();
        await answerOf(page).getByText("sandbox;why=only").waitFor();
        await answerOf(page).getByText("Reasoning", { exact: true }).click();
        await answerOf(page).getByText(`over ${name}". I answer it.`).waitFor();
        expect(await page.getByRole("region", { name: "Request", exact: true }).innerText()).toContain(path);
      }
      await page.getByRole("region", { name: "Wire" }).getByRole("button", { name: "Events" }).click();
      expect(await page.getByRole("region", { name: "Events" }).innerText()).toContain("message_stop");
      expect(await page.getByRole("article", { name: "You" }).count()).toBe(3);
    });

    test("calls with the key of the page and without the cookie, and the request is in the list of requests", async () => {
      const page = await open("/console/playground?models=sandbox/echo", { role: "member" });
      const sent = page.waitForRequest(/chat\/completions/);
      await say(page, "who pays?");
      const headers = await (await sent).allHeaders();
      expect(headers["authorization"]).toStartWith("Bearer gw_");
      expect(headers["cookie"]).toBeUndefined();
      await answerOf(page, "sandbox/echo").getByText("You said: who pays?").waitFor();
      const shown = await page.evaluate("document.body.innerText + JSON.stringify({ ...localStorage })");
      expect(shown).not.toContain(headers["authorization"]?.slice("Bearer ".length));
      await answerOf(page, "sandbox/echo").getByRole("link").click();
      await page.locator("header").getByRole("link", { name: "Requests" }).waitFor();
    });

    test("a call is answered by hand, and with its own arguments", async () => {
      const page = await open("/console/playground");
      await page.getByRole("button", { name: "Add a tool" }).click();
      const dialog = page.getByRole("dialog", { name: "Tool" });
      await dialog.getByLabel("Parameters").fill("{");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByText("The schema is not JSON").waitFor();
      await dialog.getByLabel("Parameters").fill('{"type":"object"}');
      await dialog.getByRole("button", { name: "Save" }).click();
      await say(page, "[sandbox:tools]");
      await page.getByLabel("Result of get_weather").fill("rain");
      await page.getByRole("button", { name: "Send results" }).click();
      await answerOf(page).getByText("The tools answered: rain").waitFor();
      await page.getByRole("button", { name: "Echo" }).click();
      await say(page, "[sandbox:tools]");
      await expectVisible(answerOf(page).getByText("The tools answered: {}"));
    });

    test("the same turn goes to several models side by side", async () => {
      const page = await open("/console/playground?models=sandbox/echo:free,openai/gpt-5-nano");
      await say(page, "both");
      await answerOf(page).getByText("You said: both").waitFor();
      await answerOf(page, "openai/gpt-5-nano").getByText("Alpha").waitFor();
      expect(await page.getByRole("article", { name: "You" }).count()).toBe(2);
    });

    test("an answer is stopped, and what came before stays", async () => {
      const page = await open("/console/playground");
      await say(page, "[sandbox:long=5000][sandbox:slow=20]");
      await answerOf(page).getByText("word-3").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await answerOf(page).getByText("Stopped").waitFor();
      expect(await answerOf(page).innerText()).toContain("word-3");
    });

    test("a message is edited and sent again, an answer is edited, generated again and deleted", async () => {
      const page = await open("/console/playground");
      const message = page.getByRole("article", { name: "You" });
      const button = (name: string) => page.getByRole("button", { name, exact: true });
      await say(page, "first");
      await answerOf(page).getByText("You said: first").waitFor();
      await say(page, "second");
      await answerOf(page).getByText("You said: second").waitFor();
      await message.first().hover();
      await button("Edit").first().click();
      await page.getByRole("textbox", { name: "Message" }).first().fill("third");
      await button("Send from here").click();
      await answerOf(page).getByText("You said: third").waitFor();
      expect(await page.getByRole("article").count()).toBe(2);
      await answerOf(page).hover();
      await button("Edit").last().click();
      await page.getByRole("textbox", { name: "Answer" }).fill("I said this.");
      await button("Save").click();
      const sent = page.waitForRequest(/chat\/completions/);
      await say(page, "fourth");
      const texts = (await sent).postDataJSON().messages.map(({ content }: { content: string }) => content);
      expect(texts).toEqual(["third", "I said this.", "fourth"]);
      await answerOf(page).getByText("You said: fourth").waitFor();
      const again = page.waitForRequest(/chat\/completions/);
      await button("Answer again").focus();
      await page.keyboard.press("Enter");
      expect((await again).postDataJSON().messages).toHaveLength(3);
      await answerOf(page).getByText("You said: fourth").waitFor();
      expect(await page.getByRole("article").count()).toBe(4);
      await button("Delete").first().focus();
      await page.keyboard.press("Enter");
      expect(await message.allInnerTexts()).toEqual(["fourth"]);
    });

    test("the operator chooses the account that pays, and others are not asked", async () => {
      const { rows } = await callAdmin(site.gateway, site.secrets.operator, "GET", "/organizations");
      const { id, name } = rows[0] as unknown as { id: string; name: string };
      const page = await open("/console/playground?models=sandbox/echo");
      await page.getByRole("combobox", { name: "Account that pays" }).fill(name);
      await page.getByRole("option", { name }).first().click();
      await say(page, "on their account");
      await answerOf(page, "sandbox/echo").getByText("You said: on their account").waitFor();
      await eventually("the request of the account", async () => {
        const path = `/generations?account_id=${id}&limit=1`;
        const [newest] = (await callAdmin(site.gateway, site.secrets.operator, "GET", path)).rows;
        return newest?.["key_name"] === "playground";
      });
      const member = await open("/console/playground", { role: "member" });
      await member.getByRole("textbox", { name: "System" }).waitFor();
      expect(await member.getByRole("combobox", { name: "Account that pays" }).count()).toBe(0);
    });

    test("an error is shown in the words of the gateway, and the request is sent again", async () => {
      const page = await open("/console/playground");
      await say(page, "[sandbox:error=400]");
      const error = page.getByRole("alert");
      await error.waitFor();
      expect(await error.innerText()).toContain("req_");
      const again = page.waitForResponse(/chat\/completions/);
      await error.getByRole("button", { name: "Send again" }).click();
      expect((await again).status()).toBe(400);
      // The browser reports responses with a status of 400.
      await error.waitFor();
      shared.problems.list.splice(0);
    });

    test("HTML and images of an answer are text, so that a model can neither run scripts nor call other hosts", async () => {
      const page = await open("/console/playground");
      const evil = '<img src=x onerror="fail()"><script>fail()</script> ![p](https://evil.example/p.gif)';
      await say(page, evil);
      await answerOf(page).getByText("(https://evil.example/p.gif)").waitFor();
      expect(await answerOf(page).locator("img, script, a[href^='https']").count()).toBe(0);
      expect(await answerOf(page).innerText()).toContain('<img src=x onerror="fail()">');
    });

    test("images are chosen, pasted and dropped, shown, and sent; other files are rejected", async () => {
      const page = await open("/console/playground");
      await page.locator("input[type=file]").setInputFiles([
        { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") },
        { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("no") },
      ]);
      await page.getByText("note.txt is not a PNG").waitFor();
      await page.getByRole("img", { name: "Image 1" }).waitFor();
      for (const kind of ["paste", "drop"])
        await page.getByLabel("Message", { exact: true }).evaluate(giveImage, { kind, base64: PNG });
      await page.getByRole("img", { name: "Image 3" }).waitFor();
      const sent = page.waitForRequest(/chat\/completions/);
      await say(page, "what is this?");
      expect((await sent).postData()).toContain(`data:image/png;base64,${PNG}`);
      await answerOf(page).getByText("You said: what is this?").waitFor();
    });

    test("a share link opens the same request in another browser, and holds no key", async () => {
      const page = await open("/console/playground");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("textbox", { name: "System" }).fill("Be brief.");
      await say(page, "share me");
      await answerOf(page).getByText("You said: share me").waitFor();
      await page.getByRole("button", { name: "Copy link" }).click();
      await page.getByText("It does not contain a key").waitFor();
      const link = String(await page.evaluate("navigator.clipboard.readText()"));
      expect(atob(link.split("=")[1]?.replaceAll("-", "+").replaceAll("_", "/") ?? "")).not.toContain("gw_");
      const other = await open("/console/playground", {});
      await other.goto("about:blank");
      await other.goto(link);
      await other.getByRole("article", { name: "You" }).getByText("share me").waitFor();
      expect(await other.getByRole("textbox", { name: "System" }).inputValue()).toBe("Be brief.");
      expect(new URL(other.url()).hash).toBe("");
    });

    test("a recorded request is opened with its contents where they were stored", async () => {
      const { rows } = await callAdmin(site.gateway, site.secrets.operator, "GET", "/keys?limit=100");
      const key = rows.find(({ name }) => name === "storefront production");
      await callAdmin(site.gateway, site.secrets.operator, "PATCH", `/keys/${key?.id}`, { prompt_log: 600 });
      const response = await fetch(`${site.gateway.url}/v1/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${site.inferenceKey}`, "content-type": "application/json" },
        body: JSON.stringify({
          model: "sandbox/echo",
          system: "Recorded.",
          messages: [{ role: "user", content: "from the log" }],
        }),
      });
      await response.text();
      const id = response.headers.get("x-gateway-generation-id") ?? "";
      const path = `/generations/${id}/bodies`;
      await eventually("the stored bodies", async () => {
        const { status } = await callAdmin(site.gateway, site.secrets.operator, "GET", path);
        return status === 200;
      });
      const page = await open(`/console/requests/${id}`);
      await page.getByRole("link", { name: "Open in playground" }).click();
      await page.getByRole("article", { name: "You" }).getByText("from the log").waitFor();
      expect(await page.getByRole("textbox", { name: "System" }).inputValue()).toBe("Recorded.");
      await page.getByRole("button", { name: "Send" }).click();
      await answerOf(page, "sandbox/echo").getByText("You said: from the log").waitFor();
      expect(await page.getByRole("region", { name: "Request", exact: true }).innerText()).toContain(
        "/v1/messages",
      );
    });
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`no state of the playground violates WCAG 2.1 AA in the ${colorScheme} theme`, async () => {
      const page = await open("/console/playground", { colorScheme });
      await page.getByRole("button", { name: "Add a tool" }).click();
      const found = (await listViolations(page)).map((text) => `tool dialog ${text}`);
      await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
      await say(page, "# Title\n- `code` [link](https://x.example)\n[sandbox:tools][sandbox:reasoning]");
      await page.getByRole("button", { name: "Send results" }).waitFor();
      found.push(...(await listViolations(page)).map((text) => `playground ${text}`));
      expect(found).toEqual([]);
    }, 60_000);
});
