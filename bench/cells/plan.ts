import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { pickNames } from "../machine/pick-names.ts";
import { TARGET_NAMES, type TargetName } from "./targets.ts";

/** The parts of a run, in order. */
const PART_NAMES = ["small", "large", "stream", "translation", "latency", "planning", "memory"] as const;
export type PartName = (typeof PART_NAMES)[number];

/** What to measure and for how long. Times are per measurement, target and round. */
export interface Plan {
  readonly isQuick: boolean;
  readonly parts: readonly PartName[];
  readonly targets: readonly TargetName[];
  /** The checkout whose gateway is measured too, as the target `before`; `null` without one. */
  readonly before: string | null;
  /** A PostgreSQL server is started for the target `postgres`. */
  readonly hasPostgres: boolean;
  /** Instead of the parts, one and two gateway processes on one port are compared. */
  readonly comparesProcesses: boolean;
  /** Instead of the parts, gateways with and without metrics and traces are compared. */
  readonly comparesTelemetry: boolean;
  readonly rounds: number;
  readonly warmUp: WarmUp;
  readonly closedMs: number;
  readonly openMs: number;
  /** Connections of the closed loops, in addition to the 16 with which processor time is measured. */
  readonly otherConnections: readonly number[];
  readonly slowStreams: SlowStreams;
  /** `null` skips the long run. */
  readonly soak: Soak | null;
}

/**
 * Warm-up before the first measurement of a part: at least this long and this many requests, unless the limit is
 * reached first. Counted in requests too, because a slow target needs as many of them to compile its code.
 */
interface WarmUp {
  readonly ms: number;
  readonly requests: number;
  readonly limitMs: number;
}

/** Many concurrent streams with an event now and then. */
export interface SlowStreams {
  readonly count: number;
  readonly opensPerSecond: number;
  readonly events: number;
  readonly intervalMs: number;
  /** How long to wait before memory is read after they have ended. */
  readonly restMs: number;
}

/** Many requests to one process, to check that its memory does not grow. */
export interface Soak {
  readonly requests: number;
  readonly targets: readonly TargetName[];
  /** A target slower than this gets fewer requests. */
  readonly limitMs: number;
}

/** Printed by `--help`. */
export const USAGE = `npm run bench -- [--quick] [--only=${PART_NAMES.join(",")}] [--targets=${TARGET_NAMES.join(",")}]
                 [--memory-requests=100000] [--before=../other-checkout] [--store=postgres]
npm run bench -- --processes [--quick]
npm run bench -- --telemetry [--quick] [--before=../other-checkout]

  --quick            about a minute: short slices, one number of connections, no long run
  --only             only these parts
  --targets          only these targets
  --before           another checkout of this repository, with its packages installed: its gateway becomes the
                     column "before", to measure what a change costs within one run
  --store            postgres: the gateway once more, on a PostgreSQL that the bench starts, as the column
                     "postgres"
  --processes        instead of the parts: one and two gateway processes on one port and a PostgreSQL that the
                     bench starts, and how evenly connections are distributed; two to four minutes
  --telemetry        instead of the parts: gateways without metrics, with them, and with metrics and traces;
                     about two minutes
  --memory-requests  how many requests the long run sends to each target (0 leaves it out). Unless it is
                     given, the long run takes the relay and the gateway only, 100,000 requests each.`;

const DEFAULT_SOAK_REQUESTS = 100_000;
const SOAK_LIMIT_MS = 60_000;
/** A long run that was asked for explicitly may take as long as the slowest gateway needs. */
const ASKED_SOAK_LIMIT_MS = 300_000;

/** Parses the command line; `null` for `--help`. Throws with a message for an unknown option. */
export function readPlan(args: readonly string[]): Plan | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      targets: { type: "string" },
      "memory-requests": { type: "string" },
      before: { type: "string" },
      store: { type: "string" },
      processes: { type: "boolean", default: false },
      telemetry: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  const before = values.before === undefined ? null : resolve(values.before);
  const hasPostgres = readStore(values.store);
  const known = TARGET_NAMES.filter(
    (name) => (name !== "before" || before !== null) && (name !== "postgres" || hasPostgres),
  );
  const targets = pickNames("--targets", values.targets, known);
  return {
    isQuick: values.quick,
    parts: pickNames("--only", values.only, PART_NAMES),
    targets,
    before,
    hasPostgres,
    comparesProcesses: values.processes,
    comparesTelemetry: values.telemetry,
    ...(values.quick ? QUICK : FULL),
    soak: planSoak(values["memory-requests"], values.quick, targets),
  };
}

const FULL = {
  rounds: 3,
  warmUp: { ms: 1_000, requests: 40_000, limitMs: 9_000 },
  closedMs: 1_200,
  openMs: 3_000,
  otherConnections: [1, 64],
  slowStreams: { count: 1_000, opensPerSecond: 250, events: 48, intervalMs: 250, restMs: 3_000 },
} as const;

const QUICK = {
  rounds: 3,
  warmUp: { ms: 300, requests: 4_000, limitMs: 3_300 },
  closedMs: 400,
  openMs: 500,
  otherConnections: [],
  slowStreams: { count: 250, opensPerSecond: 250, events: 14, intervalMs: 250, restMs: 1_000 },
} as const;

function readStore(given: string | undefined): boolean {
  if (given !== undefined && given !== "postgres") throw new Error(`--store: "${given}" is not postgres`);
  return given === "postgres";
}

function planSoak(given: string | undefined, isQuick: boolean, targets: readonly TargetName[]): Soak | null {
  const measurable = targets.filter((name) => name !== "direct");
  if (given === undefined) {
    const own = measurable.filter((name) => name !== "portkey" && name !== "postgres");
    return isQuick ? null : { requests: DEFAULT_SOAK_REQUESTS, targets: own, limitMs: SOAK_LIMIT_MS };
  }
  const requests = Number(given);
  if (!Number.isSafeInteger(requests) || requests < 0) throw new Error(`--memory-requests: ${given}?`);
  return requests === 0 ? null : { requests, targets: measurable, limitMs: ASKED_SOAK_LIMIT_MS };
}
