import { makeBody } from "../load/bodies.ts";
import { WrongAnswers } from "../load/harness.ts";
import { closedTrial } from "../load/trials.ts";
import type { Contestant } from "../targets/contestant.ts";
import { direct } from "../targets/direct.ts";
import { type Lab, measureInRounds, messageOf } from "./rounds.ts";

/**
 * Measures the time from the start of a process to its first answer of the upstream. Its files are in the memory of the operating
 * system. That of this gateway includes creating its database, an account and a key.
 */
export async function measureStart(lab: Lab): Promise<void> {
  lab.say("start to first answer …");
  // The upstream answers plain requests from here on.
  await lab.harness.run(await direct.start(lab.harness.upstreamPort), closedTrial(1_000, { maxRequests: 1 }));
  const contestants = lab.contestants.filter(({ name }) => name !== "direct");
  await measureInRounds(lab, contestants, { measure: (contestant) => timeStart(lab, contestant) });
}

async function timeStart({ harness }: Lab, contestant: Contestant): Promise<Record<string, number>> {
  const startedAt = performance.now();
  const running = await contestant.start(harness.upstreamPort).catch((error) => {
    throw new WrongAnswers(`it did not start: ${messageOf(error)}`);
  });
  try {
    const { port, path, headers, model } = running.door;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: makeBody("small", "chat", model, false),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new WrongAnswers(`status ${answer.status}`);
    return { "start.ms": performance.now() - startedAt };
  } finally {
    await running.stop();
  }
}
