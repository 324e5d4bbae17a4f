import { type Harness, type Trial, WrongAnswers } from "../load/harness.ts";
import { inTurn } from "../load/turns.ts";
import { isTolerable, watchHost } from "../machine/host-watch.ts";
import type { Contestant, Running } from "../targets/contestant.ts";
import type { LabPlan } from "./plan.ts";
import type { PartLog, Reading } from "./results.ts";

/** What every part needs. */
export interface Lab {
  readonly plan: LabPlan;
  readonly harness: Harness;
  readonly contestants: readonly Contestant[];
  readonly log: PartLog;
  say(line: string): void;
}

/** Measures one variant once; the names of the returned readings are figures. */
type Measure<T> = (subject: T) => Promise<Readonly<Record<string, number>>>;

/** Starts the contestants. One that does not start is reported and left out. */
export async function startAll({ contestants, harness, log, say }: Lab): Promise<Running[]> {
  const running: Running[] = [];
  for (const contestant of contestants) {
    try {
      running.push(await contestant.start(harness.upstreamPort));
    } catch (error) {
      log.fail(contestant.name, `it did not start: ${messageOf(error)}`);
      say(`  ${contestant.name} did not start: ${messageOf(error)}`);
    }
  }
  return running;
}

/**
 * Measures the subjects in turn, in rounds that each begin with another one, until enough rounds were undisturbed. A
 * subject with wrong answers is left out from then on, with what was read of it.
 */
export async function measureInRounds<T extends Named>(
  lab: Lab,
  subjects: readonly T[],
  { measure, cell = "" }: RoundOptions<T>,
): Promise<void> {
  const { log, plan, say } = lab;
  for (let tried = 0, kept = 0; kept < plan.rounds && tried < plan.maxRounds; tried++) {
    const stop = watchHost();
    const readings: Reading[] = [];
    for (const subject of inTurn(subjects, tried))
      readings.push(...(await measureOne(lab, subject, { measure, cell })));
    const disturbance = stop();
    if (isTolerable(disturbance, plan.tolerance)) {
      log.keep(readings, disturbance);
      kept++;
    } else {
      log.discard();
      const { steal, others } = disturbance;
      say(`  round thrown away: steal ${(100 * steal).toFixed(1)} %, others ${others.toFixed(2)} cores`);
    }
  }
}

interface Named {
  readonly name: string;
}

interface RoundOptions<T> {
  readonly measure: Measure<T>;
  /** The beginning of the names of its figures; what fails in it does not fail elsewhere. Absent: the whole part. */
  readonly cell?: string;
}

async function measureOne<T extends Named>(
  { log, say }: Lab,
  subject: T,
  { measure, cell = "" }: RoundOptions<T>,
): Promise<Reading[]> {
  if (log.hasFailed(subject.name, cell)) return [];
  try {
    const found = Object.entries(await measure(subject));
    return found.map(([figure, value]) => ({ figure, subject: subject.name, value }));
  } catch (error) {
    if (!(error instanceof WrongAnswers)) throw error;
    log.fail(subject.name, error.message, cell);
    say(`  ${subject.name} failed: ${error.message}`);
    return [];
  }
}

/**
 * Sends requests to each subject, so that compilers and allocators have settled. Records as the figure `warm` how many each got, since
 * slow ones do not get all in the time.
 */
export async function warmUp(
  lab: Lab,
  subjects: readonly Running[],
  { trial, cell = "" }: WarmUp,
): Promise<void> {
  for (const subject of subjects) {
    const [warm] = await measureOne(lab, subject, {
      cell,
      measure: async () => ({ [`${cell}.warm`]: (await lab.harness.run(subject, trial)).requests }),
    });
    if (warm !== undefined) lab.log.add(warm);
  }
}

interface WarmUp {
  readonly trial: Trial;
  readonly cell?: string;
}

/** Returns the message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
