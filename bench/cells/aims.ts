import { formatRatio } from "../report/figures.ts";
import { figureOf, LANES, type LaneName, LOADS } from "../targets/lanes.ts";
import type { Findings } from "./findings.ts";
import { SOAK_SLICES } from "./memory.ts";
import type { TargetName } from "./targets.ts";

/** A goal and whether the gateway met it. */
export interface Verdict {
  readonly aim: string;
  /** `null` if its figures were not measured. */
  readonly isMet: boolean | null;
  readonly found: string;
}

interface Aim {
  readonly figure: string;
  readonly what: string;
  readonly against: TargetName;
  /** The maximum of the gateway's figure, as a multiple of the other target's. */
  readonly most: number;
}

const AIMS: readonly Aim[] = [
  { figure: "small.cpu", what: "CPU, small request", against: "portkey", most: 1 / 8 },
  { figure: "large.cpu", what: "CPU, 200 kB body", against: "portkey", most: 1 / 12 },
  { figure: "stream.cpu", what: "CPU, 100-event stream", against: "portkey", most: 1 / 12 },
  { figure: "small.cpu", what: "CPU, small request", against: "relay", most: 2 },
  { figure: "large.cpu", what: "CPU, 200 kB body", against: "relay", most: 2 },
  { figure: "stream.cpu", what: "CPU, 100-event stream", against: "relay", most: 2 },
];
/** The maximum cost of a lane with translation, as a multiple of the first lane's. */
const MAX_TRANSLATED = 2;
/** The maximum cost of a lane without translation: the same, within the noise of one run. */
const MAX_ALIKE = 1.2;
const MAX_GROWTH = 1.2;
/** The processor time of the gateway on PostgreSQL, as a multiple of that on SQLite, without the database's own. */
const MAX_ON_POSTGRES = 1.25;
const MAX_ADDED_ON_POSTGRES_MS = 1;
const MAX_PLANNING_US = 15;

/** Compares the findings with the goals. */
export function checkGoals(findings: Findings): Verdict[] {
  const lanes = LANES.slice(1).map(({ name }) => checkLane(findings, name));
  return [
    ...AIMS.map((aim) => checkRatio(findings, aim)),
    ...lanes,
    checkPlanning(findings),
    checkGrowth(findings),
    checkQuotient(
      `CPU, small request, with PostgreSQL: at most ${MAX_ON_POSTGRES}x of that with SQLite`,
      findings.median("small.cpu", "postgres"),
      findings.median("small.cpu", "gateway"),
      MAX_ON_POSTGRES,
    ),
    checkAddedTime(findings),
  ];
}

function checkRatio(findings: Findings, { figure, what, against, most }: Aim): Verdict {
  const ours = findings.median(figure, "gateway");
  const theirs = findings.median(figure, against);
  const aim = `${what}: at most ${most < 1 ? `1/${Math.round(1 / most)}` : `${most}x`} of ${against}'s`;
  return checkQuotient(aim, ours, theirs, most);
}

/** A lane meets its goal if it does under every load. */
function checkLane(findings: Findings, lane: LaneName): Verdict {
  const [chat] = LANES;
  const { api, vendor, label } = LANES.find(({ name }) => name === lane) ?? chat;
  const most = api === vendor ? MAX_ALIKE : MAX_TRANSLATED;
  const aim = `CPU, ${label}: at most ${most}x of ${chat.label}, ${LOADS.map(({ name }) => name).join(", ")}`;
  const verdicts = LOADS.map(({ name: load }) => {
    const ours = findings.median(figureOf(load, lane), "gateway");
    return checkQuotient(load, ours, findings.median(figureOf(load, chat.name), "gateway"), most);
  });
  const isMeasured = verdicts.every(({ isMet }) => isMet !== null);
  return {
    aim,
    isMet: isMeasured ? verdicts.every(({ isMet }) => isMet) : null,
    found: isMeasured ? verdicts.map(({ found }) => found).join(", ") : "not measured",
  };
}

function checkPlanning(findings: Findings): Verdict {
  const aim = `Planning, 20 candidates: at most ${MAX_PLANNING_US} µs`;
  const us = findings.median("planning.cpu", "gateway");
  if (us === null) return { aim, isMet: null, found: "not measured" };
  return { aim, isMet: us <= MAX_PLANNING_US, found: `${us.toFixed(1)} µs` };
}

function checkAddedTime(findings: Findings): Verdict {
  const aim = `Time added to a small request with PostgreSQL, p50: below ${MAX_ADDED_ON_POSTGRES_MS} ms`;
  const ms = findings.median("latency.answer.added.p50", "postgres");
  if (ms === null) return { aim, isMet: null, found: "not measured" };
  return { aim, isMet: ms < MAX_ADDED_ON_POSTGRES_MS, found: `${ms.toFixed(2)} ms` };
}

function checkGrowth(findings: Findings): Verdict {
  const first = findings.median("soak.1", "gateway");
  const last = findings.median(`soak.${SOAK_SLICES}`, "gateway");
  return checkQuotient(
    `Memory, end of the long run: at most ${MAX_GROWTH}x of its first fifth's`,
    last,
    first,
    MAX_GROWTH,
  );
}

function checkQuotient(aim: string, value: number | null, base: number | null, most: number): Verdict {
  if (value === null || base === null || base <= 0) return { aim, isMet: null, found: "not measured" };
  return { aim, isMet: value / base <= most, found: formatRatio(value / base) };
}
