import { measureHeap } from "../machine/measure-heap.ts";
import { type Lab, measureInRounds } from "./rounds.ts";

/** Measures the heap that requests allocate in this gateway and in the floors. Once: it hardly varies. */
export async function measureHeaps(lab: Lab): Promise<void> {
  lab.say("heap …");
  const { harness, plan } = lab;
  await measureInRounds({ ...lab, plan: { ...plan, rounds: 1 } }, lab.contestants, {
    measure: async (contestant) => {
      const start = (environment: Readonly<Record<string, string>>) =>
        contestant.start(harness.upstreamPort, environment);
      const { small, stream } = await measureHeap(harness, start);
      return { "heap.small": small / 1_000, "heap.stream": stream / 1_000 };
    },
  });
}
