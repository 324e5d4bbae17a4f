import { closedTrial } from "../load/trials.ts";
import { stopAll } from "./measure-loops.ts";
import { type Lab, measureInRounds, startAll, warmUp } from "./rounds.ts";

const RATE = 200;
const CONNECTIONS = 512;
const MS = 1_000;

/**
 * Measures how long an answer takes at a fixed rate, whether earlier ones were answered or not. Times are from when a request was due.
 * What a variant adds is computed in the same round, which `direct` is a part of.
 */
export async function measureLatency(lab: Lab): Promise<void> {
  const { plan, harness } = lab;
  const running = await startAll(lab);
  const { requests, limitMs } = plan.warmUp;
  lab.say(`latency at ${RATE} requests a second …`);
  await warmUp(lab, running, { cell: "latency", trial: closedTrial(limitMs, { maxRequests: requests }) });
  const trial = closedTrial(plan.openMs, { ratePerSecond: RATE, connections: CONNECTIONS });
  await measureInRounds(lab, running, {
    measure: async (subject) => {
      const { latency } = await harness.run(subject, trial);
      return { "latency.p50": latency.p50 * MS, "latency.p99": latency.p99 * MS };
    },
  });
  await stopAll(running);
}
