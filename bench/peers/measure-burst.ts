import { closedTrial } from "../load/trials.ts";
import { watchHost } from "../machine/host-watch.ts";
import { readResidentMb } from "../machine/proc.ts";
import type { Running } from "../targets/contestant.ts";
import { type Lab, startAll } from "./rounds.ts";

const IDLE_MS = 2_000;
const SAMPLE_MS = 100;
const ANSWER_MS = 60_000;

/**
 * Measures the resident memory of fresh processes while many large requests are held at once, and how many were answered. Once for each
 * variant, whatever else the machine does, because memory does not depend on it; while one rests, the next is measured.
 */
export async function measureBurst(lab: Lab): Promise<void> {
  const resting: Promise<void>[] = [];
  for (const contestant of lab.contestants.filter(({ name }) => name !== "direct")) {
    lab.say(`${lab.plan.burst.requests} bodies of 150 kB at once to ${contestant.name} …`);
    const [subject] = await startAll({ ...lab, contestants: [contestant] });
    if (subject === undefined) continue;
    await measureOne(lab, subject);
    resting.push(readAfterRest(lab, subject));
  }
  await Promise.all(resting);
}

async function measureOne(lab: Lab, subject: Running): Promise<void> {
  await Bun.sleep(IDLE_MS);
  const stop = watchHost();
  const found = Object.entries(await holdAtOnce(lab, subject));
  lab.log.keep(
    found.map(([figure, value]) => ({ figure, subject: subject.name, value })),
    stop(),
  );
}

async function readAfterRest({ plan, log }: Lab, subject: Running): Promise<void> {
  await Bun.sleep(plan.burst.restMs);
  log.add({ figure: "burst.after", subject: subject.name, value: residentMb(subject) });
  await subject.stop();
}

async function holdAtOnce({ plan, harness, log }: Lab, subject: Running): Promise<Record<string, number>> {
  const { requests, latencyMs } = plan.burst;
  const trial = closedTrial(ANSWER_MS, {
    body: "150kB",
    connections: requests,
    maxRequests: requests,
    latencyMs,
    graceMs: 0,
  });
  const idle = residentMb(subject);
  let peak = idle;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentMb(subject));
  }, SAMPLE_MS);
  const outcome = await harness.observe(subject, trial).finally(() => clearInterval(timer));
  const [fault] = Object.keys(outcome.wrong);
  if (fault !== undefined)
    log.note(`${subject.name} did not answer ${requests - outcome.requests}: ${fault}`);
  return {
    "burst.idle": idle,
    "burst.peak": peak,
    "burst.answered": outcome.requests,
    "burst.seconds": outcome.elapsedMs / 1_000,
  };
}

function residentMb({ pid }: Running): number {
  return pid === null ? 0 : readResidentMb(pid);
}
