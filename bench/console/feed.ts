/**
 * `npm run bench -- console`: measures the script time that the console's request list spends on a batch of the live feed, in Chromium. See ../README.md.
 */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { startBrowser } from "../../test/support/browser/browser.ts";
import { openConsolePage, signInWith } from "../../test/support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../test/support/browser/console-site.ts";

const { values: options } = parseArgs({
  options: {
    rates: { type: "string", default: "16,48,200,400" },
    seconds: { type: "string", default: "20" },
    rounds: { type: "string", default: "3" },
  },
});
const RATES = options.rates.split(",").map(Number);
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);

/** Requests are sent in groups, because timers of a runtime are not exact at 5 ms. */
const GROUP_MS = 50;

/** What the page has done so far. */
interface PageWork {
  /** Processor time of the page's thread in scripts, and in all that it did. Milliseconds. */
  readonly scriptMs: number;
  readonly taskMs: number;
  readonly batches: number;
  readonly rows: number;
}

/** Counts the batches that arrive, in the page: run before its own scripts. */
const COUNT_BATCHES = `
  window.feedBatches = 0;
  window.feedRows = 0;
  const Source = window.EventSource;
  window.EventSource = class extends Source {
    constructor(...args) {
      super(...args);
      super.addEventListener("generations", ({ data }) => {
        window.feedBatches += 1;
        window.feedRows += data.split('"request_id":').length - 1;
      });
    }
  };`;

async function readWork(page: Page, session: CDPSession): Promise<PageWork> {
  const { metrics } = await session.send("Performance.getMetrics");
  const read = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  const [batches, rows] = (await page.evaluate("[window.feedBatches, window.feedRows]")) as [number, number];
  return { scriptMs: read("ScriptDuration") * 1e3, taskMs: read("TaskDuration") * 1e3, batches, rows };
}

/** Sends requests at a fixed rate, whether earlier ones were answered or not. */
async function sendRequests(site: ConsoleSite, rate: number): Promise<void> {
  const begin = performance.now();
  const pending = new Set<Promise<void>>();
  let sent = 0;
  for (let due = 0; due < SECONDS * 1e3; due += GROUP_MS) {
    const target = Math.round((rate * (due + GROUP_MS)) / 1e3);
    for (; sent < target; sent += 1) {
      const one: Promise<void> = sendOne(site).finally(() => pending.delete(one));
      pending.add(one);
    }
    await Bun.sleep(Math.max(0, begin + due + GROUP_MS - performance.now()));
  }
  await Promise.all(pending);
}

async function sendOne({ gateway, inferenceKey }: ConsoleSite): Promise<void> {
  const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${inferenceKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "openai/gpt-4o-mini",
      max_tokens: 20,
      messages: [{ role: "user", content: "Hi" }],
    }),
    signal: AbortSignal.timeout(30_000),
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`The gateway answered with status ${response.status}.`);
}

const site = await startConsoleSite();
const browser = await startBrowser();
try {
  const { page } = await openConsolePage(browser, site.gateway.url);
  await page.addInitScript(COUNT_BATCHES);
  await signInWith(page, site.secrets.operator);
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`${site.gateway.url}/console/requests`);
  await page.locator("tbody tr").nth(50).waitFor();
  console.log(`load average ${loadavg()[0]?.toFixed(2)}`);
  console.log("requests/s  batches  rows/batch  script ms/batch  all of the page's thread ms/batch");
  for (let round = 0; round < ROUNDS; round += 1)
    for (const rate of RATES) {
      const before = await readWork(page, session);
      await sendRequests(site, rate);
      const after = await readWork(page, session);
      const batches = after.batches - before.batches;
      const columns = [
        String(rate).padStart(10),
        String(batches).padStart(7),
        ((after.rows - before.rows) / batches).toFixed(1).padStart(10),
        ((after.scriptMs - before.scriptMs) / batches).toFixed(2).padStart(15),
        ((after.taskMs - before.taskMs) / batches).toFixed(2).padStart(33),
      ];
      console.log(columns.join("  "));
    }
} finally {
  await browser.close();
  await site.stop();
}
