import { readFileSync } from "node:fs";
import { WrongAnswers } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { watchHost } from "../machine/host-watch.ts";
import { readResidentMb } from "../machine/proc.ts";
import { medianOf } from "../report/figures.ts";
import type { Contestant } from "../targets/contestant.ts";
import type { LabPlan } from "./plan.ts";
import { type Lab, messageOf } from "./rounds.ts";

const IDLE_MS = 2_000;
const SAMPLE_MS = 250;
/** A stream occupies two files of the variant: its connection to the client and that to the upstream. */
const FILES_PER_STREAM = 2;
/** Files that a variant has open besides its streams. */
const OTHER_FILES = 200;
/** The share of the streams that must be open at once for the figure to count. */
const LEAST_SHARE_AT_ONCE = 0.99;

/**
 * Measures the resident memory of fresh processes while many streams of agents are open, whose upstream sends an event every few
 * seconds. Once for each variant, whatever else the machine does, because memory does not depend on it.
 */
export async function measureAgents(lab: Lab): Promise<void> {
  const { streams } = lab.plan.agents;
  const count = Math.min(streams, Math.floor((readFileLimit() - OTHER_FILES) / FILES_PER_STREAM));
  if (count < streams)
    lab.log.note(
      `The limit of open files allows ${format(count)} streams of agents here, not ${format(streams)}, because each needs two`,
    );
  for (const contestant of lab.contestants) {
    lab.say(`${count} streams of agents through ${contestant.name} …`);
    try {
      await measureOne(lab, contestant, count);
    } catch (error) {
      lab.log.fail(contestant.name, messageOf(error));
      lab.say(`  ${contestant.name} failed: ${messageOf(error)}`);
    }
  }
}

async function measureOne({ plan, harness, log }: Lab, contestant: Contestant, count: number): Promise<void> {
  const subject = await contestant.start(harness.upstreamPort);
  const stop = watchHost();
  try {
    const { pid } = subject;
    if (pid === null) return;
    await Bun.sleep(IDLE_MS);
    const idle = readResidentMb(pid);
    const samples = new Samples(pid);
    const outcome = await harness.run(subject, trialOf(plan, count)).finally(() => samples.stop());
    if (outcome.peakStreams < LEAST_SHARE_AT_ONCE * count)
      throw new WrongAnswers(`of ${count} streams no more than ${outcome.peakStreams} were open at once`);
    const open = samples.medianBetween(...whileOpen(plan, count)) ?? Number.NaN;
    const found = {
      "agents.streams": outcome.peakStreams,
      "agents.idle": idle,
      "agents.open": open,
      "agents.peak": samples.most,
      "agents.each": ((open - idle) * 1_000) / outcome.peakStreams,
    };
    log.keep(
      Object.entries(found).map(([figure, value]) => ({ figure, subject: subject.name, value })),
      stop(),
    );
  } finally {
    await subject.stop();
  }
}

function trialOf({ agents }: LabPlan, count: number) {
  const { opensPerSecond, events, intervalMs } = agents;
  return closedTrial((count * 1_000) / opensPerSecond + 1_000, {
    body: "24kB",
    events,
    intervalMs,
    ratePerSecond: opensPerSecond,
    connections: count,
    maxRequests: count,
  });
}

/** Returns from when to when all streams are open, in milliseconds since the first was opened; without the first half, in which some may be late. */
function whileOpen({ agents }: LabPlan, count: number): [fromMs: number, toMs: number] {
  const openingMs = (count * 1_000) / agents.opensPerSecond;
  const streamMs = agents.events * agents.intervalMs;
  return [openingMs + (streamMs - openingMs) / 2, streamMs];
}

/** Reads the resident memory of a process at intervals. Megabytes. */
class Samples {
  most = 0;
  readonly #startedAt = performance.now();
  readonly #read: { readonly atMs: number; readonly value: number }[] = [];
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(pid: number) {
    this.#timer = setInterval(() => {
      const value = readResidentMb(pid);
      this.#read.push({ atMs: performance.now() - this.#startedAt, value });
      this.most = Math.max(this.most, value);
    }, SAMPLE_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  medianBetween(fromMs: number, toMs: number): number | null {
    return medianOf(this.#read.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).map(({ value }) => value));
  }
}

/** Returns how many files a process of this user may open at most: the hard limit, to which variants raise their own. */
function readFileLimit(): number {
  const limit = /^Max open files +\S+ +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return limit === undefined || limit === "unlimited" ? Number.POSITIVE_INFINITY : Number(limit);
}

function format(count: number): string {
  return count.toLocaleString("en-US");
}
