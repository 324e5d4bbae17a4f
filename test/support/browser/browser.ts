import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Debian's package installs Chromium. */
const DEBIAN = "/usr/bin/chromium";
const HOW_TO_INSTALL =
  "Chromium is not installed (Debian: apt-get install --no-install-recommends chromium fonts-dejavu-core), or CHROMIUM_PATH does not name it";

/** Whether tests with a browser run: in `npm run suite -- console`, because they take a minute. */
const IS_BROWSER_RUN = process.env["GATEWAY_TEST_BROWSER"] === "true";

/** The program of Chromium; null if it is not installed, or if tests with a browser do not run. */
export const CHROMIUM = IS_BROWSER_RUN ? findChromium() : null;

if (IS_BROWSER_RUN && CHROMIUM === null) {
  if (process.env["CI"] === "true") throw new Error(HOW_TO_INSTALL);
  console.warn(`skipped: tests with a browser. ${HOW_TO_INSTALL}`);
}

function findChromium(): string | null {
  const path = process.env["CHROMIUM_PATH"] ?? DEBIAN;
  return existsSync(path) ? path : null;
}

/** What keeps Chromium from calling its vendor, from using hardware that test machines lack, and from a sandbox that root cannot use. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a browser without a window. Each test file starts its own. */
export function startBrowser(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error(HOW_TO_INSTALL);
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
}
