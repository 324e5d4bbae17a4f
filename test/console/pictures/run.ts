/**
 * Takes the pictures of the console in docs/console/, from a gateway with seeded requests: `npm run suite -- pictures`. An argument chooses
 * the pictures whose names contain it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startBrowser } from "../../support/browser/browser.ts";
import { openConsolePage, signInWith } from "../../support/browser/console-page.ts";
import { type ConsoleSite, startConsoleSite } from "../../support/browser/console-site.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { listPictures, type Picture } from "./pictures.ts";

const FOLDER = join(import.meta.dir, "../../../docs/console");
/** The size of a usual window on a laptop. Pixels. */
const SIZE = { width: 1_440, height: 900 };
/** The shortest time without a request, after which a screen is complete. Milliseconds. */
const CALM_MS = 700;
/** Of 100. */
const QUALITY = 85;

/** A generation that a second provider answered after the first had failed. */
async function findFailover({ gateway }: ConsoleSite): Promise<string> {
  const { rows } = await callAdmin(
    gateway,
    gateway.adminKey,
    "GET",
    "/generations?limit=100&outcome=completed",
  );
  const found = rows.find((row) => Number(row["attempts"]) > 1) ?? rows[0];
  return String(found?.["id"]);
}

/** Budgets of the organization in different states. */
async function addBudgets({ gateway, organization }: ConsoleSite): Promise<void> {
  for (const budget of [
    { name: "Northwind by month", limit: 60, period: "month" },
    { name: "A day", limit: 8, period: "day" },
    { name: "Each customer by day", limit: 2, period: "day", end_user: "*" },
    { name: "Batch jobs", limit: 50, period: "rolling", days: 7, tag: "batch", action: "warn" },
  ])
    await callAdmin(gateway, gateway.adminKey, "POST", "/budgets", { account_id: organization, ...budget });
}

/** Providers that a gateway for several teams may have. */
async function addProviders({ gateway }: ConsoleSite): Promise<void> {
  const edits = ["anthropic", "deepinfra", "deepseek", "google", "mistral"].map((slug) => ({
    path: ["providers", slug, "api_keys"],
    value: [`sk-${slug}-0123456789abcdef`],
  }));
  const { status, body } = await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", { edits });
  if (status !== 200) throw new Error(`the providers: ${JSON.stringify(body)}`);
}

async function take(page: Page, { name, path, prepare }: Picture, url: string): Promise<void> {
  await page.goto(url + path);
  await page.locator("h1").first().waitFor();
  await prepare?.(page);
  await page.waitForTimeout(CALM_MS);
  const browser = await page.context().newCDPSession(page);
  // A third of the size of a PNG, and the text is as sharp.
  const { data } = await browser.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(data, "base64"));
  console.log(`docs/console/${name}.webp`);
}

const only = process.argv[2] ?? "";
const site = await startConsoleSite();
const browser = await startBrowser();
try {
  mkdirSync(FOLDER, { recursive: true });
  const { url } = site.gateway;
  await addBudgets(site);
  await addProviders(site);
  const pictures = listPictures({ failover: await findFailover(site), organization: site.organization });
  for (const colorScheme of ["light", "dark"] as const) {
    const chosen = pictures.filter((one) => one.theme === colorScheme && one.name.includes(only));
    if (chosen.length === 0) continue;
    const { page } = await openConsolePage(browser, url, { colorScheme });
    await page.setViewportSize(SIZE);
    await signInWith(page, site.secrets.operator);
    for (const picture of chosen) await take(page, picture, url);
    await page.context().close();
  }
} finally {
  await browser.close();
  await site.stop();
}
