import type { Clock } from "../../base/time/clock.ts";
import type { ReloadOptions } from "../../core/settings/config-reload.ts";
import type { ReloadAnswer, ReloadOutcome, ReloadRejection, ReloadStep } from "./messages.ts";

/** A process that takes part in a reload. */
interface ReloadingProcess {
  readonly index: number;
  /** Resolves with the answer; with null if the process ends before. */
  readonly ask: (step: ReloadStep) => Promise<ReloadAnswer | null>;
}

/** How a reload of several processes is done. */
interface ProcessesReload extends ReloadOptions {
  readonly processes: readonly ReloadingProcess[];
  /** Whether a signal has asked for it, and not a request. */
  readonly isOnSignal: boolean;
  readonly clock: Clock;
}

/** The time limit of a step for one process. Milliseconds. */
export const STEP_MS = 30_000;

/**
 * Reloads the configuration of all processes, or of none. Each process reads and checks it, and they apply it only if all have read the
 * same. A process that ends in between reads the configuration when it is started again.
 */
export async function reloadProcesses(reload: ProcessesReload): Promise<ReloadOutcome> {
  const { processes, dryRun, isOnSignal } = reload;
  const answers = await askAll(reload, () => ({ step: "prepare" }));
  const prepared = answers.flatMap((answer) => (answer?.kind === "prepared" ? [answer] : []));
  const rejection = findRejection(answers, prepared);
  const [first] = prepared;
  if (rejection !== null || dryRun || first === undefined) {
    await askAll(reload, () => ({ step: "abort" }));
    if (rejection !== null) return { kind: "rejected", rejection };
    return { kind: "reloaded", reload: { changes: first?.changes ?? [], applied: false } };
  }
  await askAll(reload, ({ index }) => ({
    step: "commit",
    isOnSignal: isOnSignal && index === processes[0]?.index,
  }));
  return { kind: "reloaded", reload: { changes: first.changes, applied: true } };
}

type Answers = readonly (ReloadAnswer | null)[];

function findRejection(
  answers: Answers,
  prepared: readonly { readonly digest: string }[],
): ReloadRejection | null {
  for (const answer of answers) if (answer?.kind === "rejected") return answer.rejection;
  if (prepared.length < answers.length)
    return { message: "A process has not read the configuration in time. Reload again." };
  const isSame = new Set(prepared.map(({ digest }) => digest)).size <= 1;
  return isSame
    ? null
    : { message: "The configuration has changed while the processes read it. Reload again." };
}

async function askAll(
  { processes, clock }: ProcessesReload,
  stepOf: (process: ReloadingProcess) => ReloadStep,
): Promise<Answers> {
  const late = Promise.withResolvers<null>();
  const timer = clock.after(STEP_MS, () => late.resolve(null));
  const answers = processes.map((process) => Promise.race([process.ask(stepOf(process)), late.promise]));
  try {
    return await Promise.all(answers);
  } finally {
    timer.cancel();
  }
}
