import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { CHROMIUM, startBrowser } from "../../support/browser/browser.ts";
import {
  expectVisible,
  listViolations,
  openConsolePage,
  type PageProblems,
  signInWith,
} from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { Steps } from "../../support/browser/steps.ts";
import { callAdmin, createAccountTools } from "../../support/gateway/management.ts";

const DAY_MS = 86_400_000;
const MODEL = "openai/gpt-5-mini";
const PROMPT = "Which of our warehouses is closest to Rotterdam?";

/** The maximum number of steps from the first page to an answer. */
const MAX_STEPS = 3;

/** The ids of requests that an operator is asked about. */
interface Asked {
  readonly invalid: string;
  readonly unknownKey: string;
  readonly noCredits: string;
  readonly tooMany: string;
  /** A generation that a second provider answered. */
  readonly slow: string;
  /** A request whose bodies are stored. */
  readonly logged: string;
}

/** Sends requests of all kinds: rejected, logged, answered from the cache, and at last some that make a provider fail. */
async function makeTraffic(site: ConsoleSite): Promise<Asked> {
  const { gateway, vendor, organization } = site;
  const tools = createAccountTools(gateway);
  const send = async (key: string, more: object = {}) => {
    const response = await fetch(`${gateway.base}/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "user-agent": "claude-cli/2.1.329 (external, cli)",
      },
      body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: PROMPT }], ...more }),
    });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  };
  const poor = await tools.organization(await tools.user("Marie Curie"), { name: "Fabrikam" });
  const [logged, cached, limited] = await Promise.all([
    tools.key(organization, { name: "logged", prompt_log: 3_600 }),
    tools.key(organization, { name: "cached", cache: 3_600 }),
    tools.key(organization, { name: "limited", rate_limit: { requests_per_minute: 1 } }),
    tools.key(organization, { name: "forgotten" }),
  ]);
  for (const key of [cached, cached, limited]) await send(key);
  const { rows } = await callAdmin(
    gateway,
    gateway.adminKey,
    "GET",
    "/generations?limit=100&outcome=completed",
  );
  const asked = {
    invalid: await send(site.inferenceKey, { temperature: "hot" }),
    unknownKey: await send("gw_this-key-does-not-exist"),
    noCredits: await send(await tools.key(poor, { name: "poor" })),
    tooMany: await send(limited),
    slow: rows.find(({ attempts }) => Number(attempts) > 1)?.id ?? "",
    logged: await send(logged),
  };
  vendor.perform((call) => call.respond(500, { error: { message: "The disk is full" } }));
  for (let i = 0; i < 6; i++) await send(site.inferenceKey);
  return asked;
}

describe.skipIf(CHROMIUM === null)("an operator's question is answered in at most three steps:", () => {
  let site: ConsoleSite;
  let asked: Asked;
  let browser: Browser;
  let page: Page;
  let problems: PageProblems;

  beforeAll(async () => {
    site = await startConsoleSite({ generations: 300, spanMs: 45 * DAY_MS });
    asked = await makeTraffic(site);
    browser = await startBrowser();
    ({ page, problems } = await openConsolePage(browser, site.gateway.url));
    await signInWith(page, site.secrets.operator);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await site.stop();
    // The lookup of a generation by the id of a rejected request is answered with 404.
    expect(problems.list.filter((problem) => !problem.includes("404"))).toEqual([]);
  });

  /** Asks a question on the first page, and counts the steps to its answer. */
  function question(asks: string, answer: (steps: Steps) => Promise<void>): void {
    test(asks, async () => {
      await page.goto(`${site.gateway.url}/console`);
      await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
      const steps = new Steps(page);
      await answer(steps);
      expect(steps.count).toBeLessThanOrEqual(MAX_STEPS);
      expect(await listViolations(page)).toEqual([]);
    }, 60_000);
  }

  const search = (steps: Steps, id: string) =>
    steps.type(page.getByRole("searchbox", { name: "Search by id" }), id);
  const navigate = (steps: Steps, name: string) =>
    steps.follow(page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name, exact: true }));
  /** Goes to the first page that the palette finds: two steps. */
  const goTo = async (steps: Steps, typed: string, found: string) => {
    await steps.press("Control+k");
    await steps.type(
      page.getByRole("combobox", { name: "Go to" }),
      typed,
      page.getByRole("option", { name: found }).first(),
    );
  };
  const happened = () => page.getByRole("region", { name: "What happened" });

  question("why did this request get a 400?", async (steps) => {
    await search(steps, asked.invalid);
    await expectVisible(happened().getByText("temperature must be a number from 0 to 2."));
  });

  question("why did it get a 401?", async (steps) => {
    await search(steps, asked.unknownKey);
    await expectVisible(page.getByText("401 authentication"));
    await expectVisible(
      happened()
        .getByText(/API key/)
        .first(),
    );
    await expectVisible(happened().getByRole("link", { name: "Create a key" }));
  });

  question("why did it get a 402?", async (steps) => {
    await search(steps, asked.noCredits);
    await expectVisible(page.getByText("402 insufficient_credits"));
    await expectVisible(happened().getByRole("link", { name: "Open the account's credits" }));
  });

  question("why did it get a 429?", async (steps) => {
    await search(steps, asked.tooMany);
    await expectVisible(page.getByText("429 rate_limit_exceeded"));
    await expectVisible(
      happened()
        .getByText(/key.*1 request/i)
        .first(),
    );
  });

  question("why was it slow?", async (steps) => {
    await search(steps, asked.slow);
    await expectVisible(page.getByText(/1 of 2 attempts failed/));
    await expectVisible(page.getByText(/^First token after \d/));
  });

  question("who spent the money?", async (steps) => {
    await navigate(steps, "Usage");
    await steps.follow(page.getByRole("button", { name: "Account", exact: true }));
    const row = page
      .getByRole("region", { name: "Usage by account" })
      .getByRole("row", { name: /Northwind/ });
    await expectVisible(row.getByText(/^\$\d/).first());
  });

  question("why did this provider answer?", async (steps) => {
    await search(steps, asked.slow);
    const plan = page.getByRole("region", { name: "Why this provider" });
    await expectVisible(plan.getByText("Order by price: cheapest first.").first());
  });

  question("is a provider down, and was it?", async (steps) => {
    await navigate(steps, "Health");
    const row = page.getByRole("region", { name: "Providers" }).getByRole("row", { name: /OpenAI/ });
    await expectVisible(row.getByText(/^(Down|Degraded)$/));
    await expectVisible(page.getByRole("region", { name: "Incidents" }).getByRole("row", { name: /OpenAI/ }));
  });

  question("what was sent?", async (steps) => {
    await search(steps, asked.logged);
    await steps.follow(page.getByRole("button", { name: "Show bodies" }));
    await expectVisible(page.getByText(PROMPT).first());
  });

  question("which key is unused?", async (steps) => {
    await navigate(steps, "Keys");
    await steps.choose(page.getByRole("combobox", { name: "Use" }), "Never used");
    await expectVisible(page.getByRole("link", { name: "forgotten" }));
    await page.getByRole("link", { name: "limited" }).waitFor({ state: "detached" });
  });

  question("which secret is old?", async (steps) => {
    await navigate(steps, "Keys");
    await steps.choose(page.getByRole("combobox", { name: "Order" }), "Oldest secret first");
    const first = page.locator("tbody tr").first();
    await expectVisible(first.getByRole("link", { name: "2024 prototype" }));
    await expectVisible(first.getByText("14 months"));
  });

  question("what has a team used?", async (steps) => {
    await navigate(steps, "Usage");
    await steps.follow(page.getByRole("button", { name: "Team", exact: true }));
    await expectVisible(page.getByRole("row", { name: /^Search.*\$\d/ }));
  });

  question("what would a policy break?", async (steps) => {
    await goTo(steps, "northwind policy", "Northwind Traders: Policy");
    await steps.type(page.getByRole("combobox", { name: "Denied models" }), "anthropic/*");
    await expectVisible(page.getByText(/\d+ of the last \d+ requests would have been rejected/));
    await expectVisible(
      page
        .getByRole("region", { name: /rejected/i })
        .getByText(/^anthropic\//)
        .first(),
    );
  });

  question("what was cached, and what did it save?", async (steps) => {
    await navigate(steps, "Usage");
    await expectVisible(page.getByText(/^\$\d.* by cached answers$/));
    await steps.follow(page.getByRole("button", { name: "Outcome", exact: true }));
    const row = page.getByRole("region", { name: "Usage by outcome" }).getByRole("row", { name: /cached/ });
    await steps.follow(row.getByRole("link", { name: "cached" }));
    await expectVisible(page.getByRole("table", { name: "Requests" }).getByText("Cached").first());
  });

  question("does the total equal the provider's invoice?", async (steps) => {
    await goTo(steps, "provider last month", "Usage by provider, last month");
    const total = page
      .getByRole("region", { name: "Usage by provider" })
      .getByRole("row", { name: /openai/ });
    await expectVisible(total.getByText(/^\$\d/).first());
    const saved = page.waitForEvent("download");
    await steps.follow(page.getByRole("link", { name: "CSV" }));
    const [head = "", ...rows] = readFileSync(await (await saved).path(), "utf8")
      .trim()
      .split(/\r?\n/);
    expect(head.split(",")).toContain("provider");
    expect(rows.some((row) => row.startsWith("openai,"))).toBe(true);
  });

  question("which versions of clients call?", async (steps) => {
    await navigate(steps, "Usage");
    await steps.follow(page.getByRole("button", { name: "Client", exact: true }));
    const versions = page.getByRole("region", { name: "Versions of clients" });
    await expectVisible(versions.getByRole("row", { name: /claude-code 2\.1\.329/ }));
    await expectVisible(versions.getByRole("row", { name: /claude-code 2\.1\.301/ }));
  });

  question("what changed?", async (steps) => {
    await navigate(steps, "Audit");
    await expectVisible(page.getByText(/Operator created the key forgotten/).first());
  });
});
