import type { Config } from "../../app/config/config-schema.ts";
import { openStores } from "../../app/stores/open-stores.ts";
import type { Stores } from "../../app/stores/stores.ts";
import type { Log } from "../../base/failures/log.ts";
import { createSystemRandom } from "../../base/secrets/random.ts";
import { systemClock } from "../../base/time/clock.ts";
import { createOneTimeCode } from "../../core/console/one-time-codes.ts";
import { baseOf, reachableUrl } from "../callers/gateway-url.ts";

/** The address of the console, as the greeting shows it. */
export interface ConsoleLink {
  readonly url: string;
  /** Whether the address contains a one-time code. */
  readonly signsIn: boolean;
}

/** Returns the address of the console of a gateway at `base`, an http or https address. */
function consoleUrl(base: string): string {
  return `${baseOf(reachableUrl(base))}/console`;
}

/** Returns a link to the console with a new one-time code, which signs in one browser as the operator. */
export async function createConsoleLink(stores: Stores, base: string): Promise<string> {
  const code = await createOneTimeCode({ ...stores, store: stores.consoleSessions });
  return `${consoleUrl(base)}#code=${code}`;
}

/**
 * Returns the link for the greeting of a gateway at `url`; null if the console is disabled. It has a code if the greeting shows new
 * keys or is read in a terminal. Otherwise the greeting may be kept in a log, where a code does not belong.
 */
export async function linkForGreeting(
  config: Config,
  { url, hasNewKeys, log }: { readonly url: string; readonly hasNewKeys: boolean; readonly log: Log },
): Promise<ConsoleLink | null> {
  if (!config.console.enabled) return null;
  const base = config.console.url ?? url;
  const plain = { url: consoleUrl(base), signsIn: false };
  if (!hasNewKeys && !process.stderr.isTTY) return plain;
  try {
    const stores = await openStores(config, { clock: systemClock, random: createSystemRandom() });
    try {
      return { url: await createConsoleLink(stores, base), signsIn: true };
    } finally {
      await stores.close();
    }
  } catch (error) {
    log.warn("a one-time code for the console could not be created", { detail: String(error) });
    return plain;
  }
}
