import { WrongAnswers } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import { stopAll } from "./measure-loops.ts";
import { type Lab, measureInRounds, startAll, warmUp } from "./rounds.ts";

const EVENTS = 64;
const INTERVAL_MS = 20;
/** The longest time for all streams of a slow variant. Milliseconds. */
const LIMIT_MS = 30_000;

/** Measures how long many paced streams take that are opened at once; the upstream alone needs 1.28 s. */
export async function measureStreams(lab: Lab): Promise<void> {
  const { plan, harness } = lab;
  const running = await startAll(lab);
  lab.say(`${plan.streams} streams at once …`);
  const { requests, limitMs } = plan.nextWarmUp;
  await warmUp(lab, running, {
    cell: "streams",
    trial: closedTrial(limitMs, { events: EVENTS, maxRequests: requests }),
  });
  const trial = closedTrial(LIMIT_MS, {
    events: EVENTS,
    intervalMs: INTERVAL_MS,
    connections: plan.streams,
    maxRequests: plan.streams,
    graceMs: 0,
  });
  await measureInRounds(lab, running, {
    measure: async (subject) => {
      const outcome = await harness.observe(subject, trial);
      if (outcome.requests < plan.streams) {
        // What it still has to send would be sent on the core of the others.
        await subject.stop();
        throw new WrongAnswers(
          `of ${plan.streams} streams ${outcome.requests} had ended after ${LIMIT_MS / 1_000} s`,
        );
      }
      const { elapsedMs, cpuUs } = outcome;
      const wall = { "streams.seconds": elapsedMs / 1_000 };
      if (subject.pid === null) return wall;
      const busy = cpuUs / (elapsedMs * 1_000);
      return { ...wall, "streams.cpu": cpuUs / (plan.streams * EVENTS), "streams.busy": busy };
    },
  });
  await stopAll(running);
}
