import { parseArgs } from "node:util";
import { pickNames } from "../machine/pick-names.ts";

/** What is measured, in this order. */
const PART_NAMES = [
  "loops",
  "translation",
  "latency",
  "burst",
  "start",
  "features",
  "streams",
  "agents",
  "heap",
] as const;
export type PartName = (typeof PART_NAMES)[number];

/** What to measure and for how long. Times are in milliseconds, per measurement, variant and round. */
export interface LabPlan {
  readonly isQuick: boolean;
  readonly parts: readonly PartName[];
  readonly targets: readonly string[];
  /** Whether the results replace those of the same parts in docs/performance. */
  readonly publishes: boolean;
  /** Good rounds that a figure is the median of. */
  readonly rounds: number;
  /** Rounds after which the rest is given up, because too many were disturbed. */
  readonly maxRounds: number;
  /** Rounds with more disturbance are thrown away; `null` keeps all. */
  readonly tolerance: Tolerance | null;
  /** Before the first measurement: this many small requests, or as many as the time allows. */
  readonly warmUp: { readonly requests: number; readonly limitMs: number };
  /** Before each further kind of request. */
  readonly nextWarmUp: { readonly requests: number; readonly limitMs: number };
  readonly closedMs: number;
  readonly openMs: number;
  readonly streams: number;
  /** Streams that are open at once, how fast they are opened, and what each of them is. */
  readonly agents: {
    readonly streams: number;
    readonly opensPerSecond: number;
    readonly events: number;
    readonly intervalMs: number;
  };
  readonly burst: { readonly requests: number; readonly latencyMs: number; readonly restMs: number };
}

/** The disturbance by others that a round may have. */
export interface Tolerance {
  /** The share of processor time that the host gave to other machines. */
  readonly steal: number;
  /** Cores that programs outside the bench kept busy on this machine. */
  readonly others: number;
}

const FULL = {
  rounds: 5,
  maxRounds: 8,
  tolerance: { steal: 0.03, others: 0.3 },
  warmUp: { requests: 30_000, limitMs: 15_000 },
  nextWarmUp: { requests: 30_000, limitMs: 22_000 },
  closedMs: 800,
  openMs: 3_000,
  streams: 2_000,
  agents: { streams: 10_000, opensPerSecond: 400, events: 9, intervalMs: 4_000 },
  burst: { requests: 1_500, latencyMs: 3_000, restMs: 30_000 },
} as const;

const QUICK = {
  rounds: 1,
  maxRounds: 1,
  tolerance: null,
  warmUp: { requests: 500, limitMs: 500 },
  nextWarmUp: { requests: 50, limitMs: 200 },
  closedMs: 200,
  openMs: 300,
  streams: 200,
  agents: { streams: 100, opensPerSecond: 400, events: 4, intervalMs: 250 },
  burst: { requests: 100, latencyMs: 200, restMs: 500 },
} as const;

/** Returns what `--help` prints. */
export function usage(targets: readonly string[]): string {
  return `npm run bench -- peers [--quick] [--only=PARTS] [--targets=NAMES] [--publish]

Installs, starts and measures other gateways and relays beside this one.

  --quick    whether everything runs, in about a minute; its figures mean nothing
  --only     only these parts: ${PART_NAMES.join(", ")}
  --targets  only these variants:
             ${targets.join(", ")}
  --publish  replace the results of these parts in docs/performance.md`;
}

/** Parses the command line; `null` for `--help`. Throws with a message for an unknown option or name. */
export function readLabPlan(args: readonly string[], targets: readonly string[]): LabPlan | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      targets: { type: "string" },
      publish: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return null;
  if (values.quick && values.publish) throw new Error("--publish: the figures of a quick run mean nothing");
  return {
    isQuick: values.quick,
    parts: pickNames("--only", values.only, PART_NAMES),
    targets: pickNames("--targets", values.targets, targets),
    publishes: values.publish,
    ...(values.quick ? QUICK : FULL),
  };
}
