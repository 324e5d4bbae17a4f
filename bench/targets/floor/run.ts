/**
 * A gateway that does a part of the work and nothing else: the level is in `FLOOR_LEVEL`. `npm run bench -- peers` measures all levels, to
 * show what a gateway costs at least on this runtime (docs/performance.md, "Floors").
 */
import { systemClock } from "../../../src/base/time/clock.ts";
import { FLOOR_LEVELS } from "./levels.ts";
import { serveFloor } from "./serve-floor.ts";

const { FLOOR_LEVEL, FLOOR_PORT, FLOOR_UPSTREAM_URL = "", FLOOR_DATA_DIR = "" } = process.env;
const level = FLOOR_LEVELS.find((name) => name === FLOOR_LEVEL);
if (level === undefined) throw new Error(`FLOOR_LEVEL must be one of ${FLOOR_LEVELS.join(", ")}`);

serveFloor({
  level,
  port: Number(FLOOR_PORT),
  upstream: FLOOR_UPSTREAM_URL,
  dataDir: FLOOR_DATA_DIR,
  clock: systemClock,
  // A floor that loses records would be measured with less work than it stands for.
  onError(error) {
    console.error(error);
    process.exit(1);
  },
});
