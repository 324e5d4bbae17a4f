import { startDatabase } from "../machine/database.ts";
import { ROOT } from "../machine/folders.ts";
import { bunRelay } from "../targets/bun-relay.ts";
import type { Running } from "../targets/contestant.ts";
import { direct } from "../targets/direct.ts";
import { portkey } from "../targets/portkey.ts";
import { startGateway } from "../targets/start-gateway.ts";

/** Every target, in the order of the report's columns. */
export const TARGET_NAMES = ["direct", "relay", "before", "gateway", "postgres", "portkey"] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** A running target. Its door is that of chat. */
export interface Target extends Running {
  readonly name: TargetName;
}

/** Where a target is started. */
interface Site {
  readonly upstreamPort: number;
  /** The checkout of the target `before`; `null` without one. */
  readonly before: string | null;
}

const STARTERS: Record<TargetName, (site: Site) => Promise<Running>> = {
  direct: ({ upstreamPort }) => direct.start(upstreamPort),
  relay: ({ upstreamPort }) => bunRelay.start(upstreamPort),
  before: startBefore,
  gateway: ({ upstreamPort }) => startGateway({ name: "gateway", checkout: ROOT }, upstreamPort),
  postgres: startOnPostgres,
  portkey: ({ upstreamPort }) => portkey.start(upstreamPort),
};

/** Starts a target in front of the upstream. Returns a message for the report if that fails. */
export async function startTarget(name: TargetName, site: Site): Promise<Target | string> {
  try {
    return { ...(await STARTERS[name](site)), name };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function startBefore({ upstreamPort, before }: Site): Promise<Running> {
  if (before === null) throw new Error("needs --before=<folder of another checkout, with npm ci done>");
  return startGateway({ name: "before", checkout: before }, upstreamPort);
}

async function startOnPostgres({ upstreamPort }: Site): Promise<Running> {
  const database = await startDatabase();
  const installation = { name: "postgres", checkout: ROOT, databaseUrl: database.url } as const;
  const running = await startGateway(installation, upstreamPort);
  const stop = async () => {
    await running.stop();
    await database.stop();
  };
  return { ...running, databasePid: database.pid, stop };
}
