/**
 * Prints how long each screen of the console takes from an empty page to its data, and how many requests of the API it sends, for a company
 * of 200 people, 600 keys and 30 teams: `npm run suite -- screens`. An argument names the person who looks, by default the owner.
 */
import { startBrowser } from "../../support/browser/browser.ts";
import { visitScreens } from "../../support/browser/console-screens.ts";
import { type SitePerson, startConsoleSite } from "../../support/browser/console-site.ts";

const DAY_MS = 86_400_000;
const GENERATIONS = 5_000;

const person = (process.argv[2] ?? "owner") as SitePerson | "operator";
const site = await startConsoleSite({ generations: GENERATIONS, spanMs: 30 * DAY_MS, isCompany: true });
const browser = await startBrowser();
try {
  const visits = await visitScreens(browser, site, site.secrets[person]);
  for (const { address, sent, ms } of visits.toSorted((a, b) => b.ms - a.ms))
    console.log(`${ms.toFixed(0).padStart(5)} ms ${String(sent.length).padStart(3)} requests  ${address}`);
  const slowest = Math.max(...visits.map(({ ms }) => ms));
  console.log(`${visits.length} screens of the ${person}, the slowest in ${slowest.toFixed(0)} ms`);
} finally {
  await browser.close();
  await site.stop();
}
