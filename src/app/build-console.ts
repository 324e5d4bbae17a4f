import { parseDollars } from "../base/money.ts";
import { HOUR_MS } from "../base/time.ts";
import { type ConsoleSessionParts, ConsoleSessions } from "../core/console/console-sessions.ts";
import { FailedSignIns } from "../core/console/failed-sign-ins.ts";
import { WindowCounter } from "../core/console/window-counter.ts";
import type { ConsoleDeps } from "../http/context/console-deps.ts";
import type { Config } from "./config-schema.ts";
import { openConsole } from "./console/open-console.ts";

/** How many keys of the playground one management key may create in an hour. */
const PLAYGROUND_KEYS = { max: 60, windowMs: HOUR_MS };

/** Builds what the pages and endpoints of the console depend on. Returns null if the console is disabled. */
export function buildConsole(
  { console, data_dir: dataDir }: Config,
  parts: ConsoleSessionParts,
): ConsoleDeps | null {
  if (!console.enabled) return null;
  return {
    files: openConsole({ dataDir, builtDir: console.built_dir ?? null }),
    sessions: new ConsoleSessions(parts),
    failedSignIns: new FailedSignIns(parts.clock),
    playground: {
      limit: parseDollars(console.playground_limit) ?? 0,
      lifetimeMs: console.playground_ms,
      created: new WindowCounter(parts.clock, PLAYGROUND_KEYS),
    },
    publicUrl: console.url === undefined ? null : new URL(console.url),
    hosts: new Set(console.hosts),
  };
}
