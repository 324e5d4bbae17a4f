import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Browser, Cookie, Locator, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  type ConsolePage,
  expectVisible,
  listViolations,
  openConsolePage,
  signInWith,
} from "../../support/browser/console-page.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";

const WRONG = "sk-wrong-0123456789abcdef";
const FIRST = "sk-first-0123456789ab1111";
const SECOND = "sk-second-0123456789a2222";
const THIRD = "sk-third-0123456789ab3333";

/** A host with two models that rejects one key. */
function startHost(calls: string[]) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (new URL(request.url).pathname === "/v1/models")
        return Response.json({ data: [{ id: "llama-3", max_model_len: 8192 }, { id: "acme/embed" }] });
      const key = request.headers.get("authorization")?.replace("Bearer ", "") ?? "";
      const { model } = (await request.json()) as { model: string };
      if (key === WRONG)
        return Response.json({ error: { message: "Incorrect API key provided" } }, { status: 401 });
      calls.push(`${model} ${key}`);
      return Response.json({
        id: "x",
        object: "chat.completion",
        created: 1,
        model,
        choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    },
  });
}

describe.skipIf(CHROMIUM === null)("providers in a browser", () => {
  let gateway: TestGateway;
  let fixed: TestGateway;
  let host: Bun.Server<undefined>;
  let browser: Browser;
  const calls: string[] = [];
  const opened: ConsolePage[] = [];
  const sessions = new Map<string, Cookie[]>();

  beforeAll(async () => {
    host = startHost(calls);
    const baseUrl = `http://127.0.0.1:${host.port}/v1`;
    gateway = await startTestGateway();
    fixed = await startTestGateway({
      yaml: `providers:
  groq:
    base_url: ${baseUrl}
    api_keys: [gsk-0123456789abcdef]
catalog:
  overrides:
    openai/gpt-oss-120b: { name: Renamed }
`,
    });
    // Builds the console, which the first page would wait for.
    await (await fetch(`${gateway.url}/console`)).arrayBuffer();
    browser = await startBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await fixed.stop();
    await host.stop(true);
  });
  afterEach(async () => {
    const pages = opened.splice(0);
    await Promise.all(pages.map(({ page }) => page.context().close()));
    expect(pages.flatMap(({ problems }) => problems.list)).toEqual([]);
  });

  async function open(
    path: string,
    { at = gateway, ...options }: Parameters<typeof openConsolePage>[2] & { at?: TestGateway } = {},
  ): Promise<Page> {
    const one = await openConsolePage(browser, at.url, options);
    opened.push(one);
    const cookies = sessions.get(at.url);
    if (cookies === undefined) {
      await signInWith(one.page, at.adminKey);
      sessions.set(at.url, await one.page.context().cookies());
    } else await one.page.context().addCookies(cookies);
    await one.page.goto(`${at.url}/console/${path}`);
    return one.page;
  }

  const ask = (model: string) => postChat(gateway, { model, messages: [{ role: "user", content: "Hi" }] });
  const save = (inside: Locator) => inside.getByRole("button", { name: "Save", exact: true }).click();

  test("the first steps of an empty gateway lead to an answer of a host that was added there, without a shell", async () => {
    const page = await open("welcome");
    await page.getByRole("button", { name: "Add a provider" }).click();
    await page.getByRole("button", { name: /^vLLM/ }).click();
    const form = page.getByRole("dialog", { name: "Add your own host" });
    await form.getByLabel("Base URL").fill(`http://127.0.0.1:${host.port}/v1`);
    await form.getByLabel("API key").fill(WRONG);
    await save(form);
    await form.getByText("Choose at least one model.").waitFor();
    await form.getByRole("button", { name: "Read its models" }).click();
    await form.getByLabel("llama-3").check();
    expect(await form.getByLabel("Id for clients").inputValue()).toBe("vllm/llama-3");
    expect(await form.getByLabel("Context window").inputValue()).toBe("8192");
    await form.getByLabel("Prompt").fill("0.50");
    await form.getByLabel("Answer").fill("1.5");
    await form.getByLabel("Cache read").fill("0.05");
    await save(form);
    await form.getByText("Incorrect API key provided").waitFor();
    await form.getByRole("button", { name: "Save anyway" }).waitFor();
    await form.getByLabel("API key").fill(FIRST);
    await form.getByRole("button", { name: "Test", exact: true }).click();
    await form.getByText("The key works: vllm/llama-3 answered").waitFor();
    expect((await ask("vllm/llama-3")).status).toBe(400);
    await save(form);
    await page.getByText("1 model is served now.").waitFor();
    expect((await ask("vllm/llama-3")).status).toBe(200);
    expect(calls.at(-1)).toBe(`llama-3 ${FIRST}`);
    const link = page.getByRole("link", { name: "Try one in the playground" });
    expect(await link.getAttribute("href")).toBe("/console/playground?models=vllm%2Fllama-3");
    await link.click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/config");
    expect(JSON.stringify(data)).toContain(
      '"prices":{"prompt":"0.0000005","completion":"0.0000015","cache_read":"0.00000005"}',
    );
    expect(JSON.stringify(data)).not.toContain(FIRST);
  }, 30_000);

  test("a key is replaced after a test of the new one, and the next request uses it", async () => {
    const page = await open("providers");
    await page.getByRole("link", { name: /vLLM/ }).click();
    const row = page.getByRole("row", { name: /^main/ });
    await row.getByText("…1111").waitFor();
    await row.getByRole("button", { name: "Replace" }).click();
    const form = page.getByRole("dialog", { name: "Replace the secret of main" });
    await form.getByLabel("New key").fill(WRONG);
    await save(form);
    await form.getByText("Incorrect API key provided").waitFor();
    expect((await ask("vllm/llama-3")).status).toBe(200);
    expect(calls.at(-1)).toBe(`llama-3 ${FIRST}`);
    await form.getByLabel("New key").fill(SECOND);
    await save(form);
    await row.getByText("…2222").waitFor();
    expect((await ask("vllm/llama-3")).status).toBe(200);
    expect(calls.at(-1)).toBe(`llama-3 ${SECOND}`);
    expect(await page.content()).not.toContain(SECOND);
  });

  test("a second key is added, gets a weight of 0, and the first one is disabled and removed", async () => {
    const page = await open("providers/vllm");
    await page.getByRole("button", { name: "Add a key" }).click();
    const form = page.getByRole("dialog", { name: "Add a key for vLLM" });
    await form.getByLabel("Name of the key").fill("main");
    await form.getByText("There is a key of this name.").waitFor();
    await form.getByLabel("Name of the key").fill("spare");
    await form.getByLabel("API key").fill(THIRD);
    await form.getByLabel("Weight").fill("0");
    await save(form);
    await page.getByRole("row", { name: /^spare/ }).waitFor();
    const row = page.getByRole("row", { name: /^main/ });
    await row.getByRole("button", { name: "Change" }).click();
    const change = page.getByRole("dialog", { name: "Change main" });
    await change.getByLabel("Enabled").uncheck();
    await save(change);
    await row.getByText("Disabled").waitFor();
    expect((await ask("vllm/llama-3")).status).toBe(200);
    expect(calls.at(-1)).toBe(`llama-3 ${THIRD}`);
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/config/secrets");
    expect((data as unknown as { last_four: string }[]).map(({ last_four }) => last_four)).toEqual(["3333"]);
  });

  test("a copy of a model of the catalog is added with its prices, and a header that stays secret", async () => {
    const page = await open("providers/vllm");
    await page.getByRole("button", { name: "Add a model" }).click();
    const form = page.getByRole("dialog", { name: "Add a model at vLLM" });
    await form.getByLabel("Id for clients").fill("acme/tuned");
    await form.getByLabel("Name at the host").fill("tuned-7");
    await form.getByRole("combobox", { name: "Copy of" }).fill("openai/gpt-4.1-mini");
    await form.getByRole("option", { name: "openai/gpt-4.1-mini" }).first().click();
    await form.getByText("Without prices, nothing is charged").waitFor({ state: "detached" });
    await form.getByPlaceholder("0.1").waitFor();
    expect(await form.getByLabel("Prompt").getAttribute("placeholder")).toBe("0.4");
    await save(form);
    await page.getByRole("link", { name: "acme/tuned" }).waitFor();
    expect((await ask("acme/tuned")).status).toBe(200);
    expect(calls.at(-1)).toBe(`tuned-7 ${THIRD}`);
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/models/acme/tuned");
    expect(data["pricing"]).toMatchObject({ prompt: "0.0000004" });
    await page.getByRole("button", { name: "Add a header" }).click();
    await page.getByLabel("Name", { exact: true }).fill("x-team");
    await page.getByLabel("Value").fill("a-header-of-our-team");
    await page.getByRole("region", { name: "Settings" }).getByRole("button", { name: "Save" }).click();
    await expectVisible(page.getByText("…team"));
    expect(await page.content()).not.toContain("a-header-of-our-team");
  });

  test("a change that someone else has made first is shown before one's own is stored", async () => {
    const page = await open("providers/vllm");
    await page.getByLabel("Trains on requests").selectOption("false");
    const edits = [{ path: ["providers", "vllm", "zero_retention"], value: true }];
    await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", { edits });
    await page.getByRole("region", { name: "Settings" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("Someone else has changed the configuration").waitFor();
    expect(opened[0]?.problems.list.splice(0).join()).toContain("409");
    await page.getByRole("region", { name: "Settings" }).getByRole("button", { name: "Save" }).click();
    await page.getByText("The settings were saved.").waitFor();
    const { data } = await callAdmin(gateway, gateway.adminKey, "GET", "/config");
    expect(data["document"]).toMatchObject({
      providers: { vllm: { trains_on_data: false, zero_retention: true } },
    });
  });

  test("a model gets prices and limits of its own, is hidden, and is shown again", async () => {
    const override = { endpoints: { vllm: { name: "llama-3", context_length: 8192, prices: null } } };
    const edits = [{ path: ["catalog", "overrides", "openai/gpt-5-mini"], value: override }];
    expect((await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", { edits })).status).toBe(200);
    const page = await open("models/openai/gpt-5-mini");
    const row = page.getByRole("region", { name: "Where it is served" }).getByRole("row", { name: /vLLM/ });
    await row.getByRole("button", { name: "Prices" }).click();
    const form = page.getByRole("dialog", { name: "Prices at vLLM" });
    await form.getByLabel("Prompt").fill("0.1");
    await save(form);
    await form.getByText("Enter the prices of prompt and answer.").waitFor();
    await form.getByLabel("Answer").fill("0.2");
    await save(form);
    await row.getByText("Your own").waitFor();
    await page.getByLabel("Requests per minute").fill("1");
    await page.getByRole("main").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The limits were saved.").waitFor();
    expect((await ask("openai/gpt-5-mini")).status).toBe(200);
    expect((await ask("openai/gpt-5-mini")).status).toBe(429);
    await page.getByRole("button", { name: "Hide this model" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Hide this model" }).click();
    await page.getByRole("button", { name: "1 hidden model" }).click();
    expect((await ask("openai/gpt-5-mini")).status).toBe(400);
    await page.getByRole("dialog").getByRole("button", { name: "Show" }).click();
    await page.getByText("No model is hidden.").waitFor();
    expect((await ask("openai/gpt-5-mini")).status).toBe(200);
  }, 30_000);

  test("what a file sets is shown with its line, and cannot be changed", async () => {
    const page = await open("providers", { at: fixed });
    const line = page.getByRole("row", { name: /Groq/ });
    await line.getByText("gateway.yaml:3").waitFor();
    await line.getByRole("link", { name: /Groq/ }).click();
    const keys = page.getByRole("region", { name: "Keys" }).first();
    await keys.getByText("Set in gateway.yaml:4").first().waitFor();
    expect(await page.getByRole("button", { name: /Replace|Add a key/ }).count()).toBe(0);
    const settings = page.getByRole("region", { name: "Settings" });
    await settings.getByText("Set in gateway.yaml:3").waitFor();
    expect(await settings.getByLabel("Base URL").count()).toBe(0);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("The key works").waitFor();
    await page.goto(`${fixed.url}/console/models/openai/gpt-oss-120b`);
    await page.getByText("Set in gateway.yaml:7").waitFor();
    expect(await page.getByRole("button", { name: "Hide this model" }).count()).toBe(0);
  });

  test("a provider is disabled, enabled and removed", async () => {
    const page = await open("providers/vllm");
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    expect((await ask("acme/tuned")).status).toBe(400);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Disable" }).waitFor();
    expect((await ask("acme/tuned")).status).toBe(200);
    const removal = [{ path: ["catalog"], remove: true }];
    await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", { edits: removal });
    await page.reload();
    await page.getByRole("button", { name: "Remove", exact: true }).first().click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.waitForURL(/\/console\/providers$/);
    await page.getByRole("heading", { name: "No providers yet" }).waitFor();
    expect((await callAdmin(gateway, gateway.adminKey, "GET", "/config")).data).toMatchObject({
      document: {},
      secrets: [],
    });
  });

  test("a provider of the catalog is found with the keyboard, and its missing parts are named", async () => {
    const page = await open("providers?add=1");
    await page.getByRole("heading", { name: "Often used" }).waitFor();
    await page.keyboard.type("azure open");
    await page.getByRole("heading", { name: "Often used" }).waitFor({ state: "detached" });
    const tile = page.getByRole("button", { name: /^Azure OpenAI/ });
    await tile.focus();
    await page.keyboard.press("Enter");
    const form = page.getByRole("dialog", { name: "Add Azure OpenAI" });
    await form.getByLabel("API key").fill(FIRST);
    await page.keyboard.press("Enter");
    await form.getByText("Required.").waitFor();
    expect(await form.getByLabel("Resource").getAttribute("aria-invalid")).toBe("true");
    expect(await form.getByRole("link", { name: /portal\.azure\.com/ }).getAttribute("rel")).toBe(
      "noreferrer",
    );
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await page.waitForURL((url) => !url.searchParams.has("add"));
  });

  for (const colorScheme of ["light", "dark"] as const)
    test(`the screens have no violation of WCAG 2.1 AA in the ${colorScheme} theme, and fit a narrow window`, async () => {
      const page = await open("providers", { at: fixed, colorScheme, width: 390 });
      const check = async () => {
        await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
        expect(await listViolations(page)).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(
          0,
        );
      };
      await page.getByRole("link", { name: /Groq/ }).waitFor();
      await check();
      await page.getByRole("button", { name: "Add a provider" }).click();
      await page.getByRole("heading", { name: "Often used" }).waitFor();
      await check();
      await page
        .getByRole("button", { name: /^Ollama/ })
        .first()
        .click();
      await page.getByLabel("Base URL").fill(`http://127.0.0.1:${host.port}/v1`);
      await page.getByRole("button", { name: "Read its models" }).click();
      await page.getByLabel("Choose all").check();
      await check();
      await page.goto(`${fixed.url}/console/providers/groq`);
      await page.getByRole("heading", { name: "Settings" }).waitFor();
      await check();
    }, 30_000);
});
