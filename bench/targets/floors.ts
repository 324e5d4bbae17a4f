import { join } from "node:path";
import { settingsFor } from "../../src/cli/start/reexec.ts";
import { findFreePort } from "../../test/support/servers/free-port.ts";
import { makeDataDir, removeDataDir } from "../machine/folders.ts";
import { type Contestant, FLOOR_PREFIX } from "./contestant.ts";
import { FLOOR_LEVELS, type FloorLevel } from "./floor/levels.ts";
import { startProgram } from "./programs.ts";

const LABELS: Readonly<Record<FloorLevel, string>> = {
  relay: "floor 1: relay on this gateway's connections",
  json: "floor 2: and JSON parsed and printed",
  journal: "floor 3: and two journal entries, a log line",
  records: "floor 4: and records saved in SQLite",
};

/** Programs that do a part of this gateway's work each (`floor/run.ts`). Each does more than the one before. */
export const floors: readonly Contestant[] = FLOOR_LEVELS.map((level) => ({
  name: `${FLOOR_PREFIX}${level}`,
  label: LABELS[level],
  parts: ["loops", "latency", "streams", "heap"],
  async prepare() {},
  start: (upstreamPort, environment) => startFloor(level, upstreamPort, environment),
}));

async function startFloor(
  level: FloorLevel,
  upstreamPort: number,
  environment: Readonly<Record<string, string>> = {},
) {
  const name = `${FLOOR_PREFIX}${level}`;
  const port = await findFreePort();
  const dataDir = makeDataDir();
  const env = {
    FLOOR_LEVEL: level,
    FLOOR_PORT: String(port),
    FLOOR_UPSTREAM_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    FLOOR_DATA_DIR: dataDir,
    ...settingsFor(),
    ...environment,
  };
  const command = [process.execPath, join(import.meta.dir, "floor/run.ts")];
  const running = await startProgram({ name, command, env, port, readyPath: "/readyz" });
  const stop = async () => {
    await running.stop();
    removeDataDir(dataDir);
  };
  return { ...running, stop };
}
