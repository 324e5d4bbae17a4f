import type { Trial } from "../harness.ts";
import type { Door } from "../messages.ts";
import { closedTrial } from "../parts.ts";
import { isFloor, type Running } from "./contestant.ts";
import { type Lab, measureInRounds, startAll, warmUp } from "./rounds.ts";

/** A kind of request over a number of connections, each of which sends again once it is answered. */
interface Cell {
  readonly name: string;
  readonly trial: Partial<Trial>;
  /** Measured on the floors as well. */
  readonly hasFloors?: true;
}

const LOOPS: readonly Cell[] = [
  { name: "small.16", trial: {}, hasFloors: true },
  { name: "small.1", trial: { connections: 1 } },
  { name: "small.64", trial: { connections: 64 } },
  { name: "24kB.16", trial: { body: "24kB" } },
  { name: "200kB.16", trial: { body: "large" }, hasFloors: true },
  { name: "stream.16", trial: { events: 100 }, hasFloors: true },
];

const TRANSLATED: readonly Cell[] = [
  { name: "anthropic.small.16", trial: {} },
  { name: "anthropic.200kB.16", trial: { body: "large" } },
];

/** Measures chat requests to a chat upstream: processor time, requests a second, and how busy the variant's core was. */
export async function measureLoops(lab: Lab): Promise<void> {
  const running = await startAll(lab);
  await measureCells(lab, running, LOOPS);
  await stopAll(running);
}

/** Measures chat requests that are translated for an Anthropic upstream, on the variants that can. */
export async function measureTranslation(lab: Lab): Promise<void> {
  const contestants = lab.contestants.filter(({ name }) => !FORWARD_ONLY.includes(name));
  const running = await startAll({ ...lab, contestants });
  const translating = running.flatMap((subject) => atDoor(subject, subject.anthropic));
  await measureCells(lab, translating, TRANSLATED);
  await stopAll(running);
}

/** Variants that know no format. */
const FORWARD_ONLY = ["direct", "byte-relay", "nginx", "bun-relay"];

function atDoor(subject: Running, door: Door | null): Running[] {
  return door === null ? [] : [{ ...subject, door }];
}

async function measureCells(lab: Lab, all: readonly Running[], cells: readonly Cell[]): Promise<void> {
  const { plan, harness } = lab;
  for (const [i, { name, trial, hasFloors }] of cells.entries()) {
    const running = hasFloors ? all : all.filter((subject) => !isFloor(subject.name));
    lab.say(`${name} …`);
    const { requests, limitMs } = i === 0 ? plan.warmUp : plan.nextWarmUp;
    await warmUp(lab, running, {
      cell: name,
      trial: closedTrial(limitMs, { ...trial, maxRequests: requests }),
    });
    const measured = closedTrial(plan.closedMs, trial);
    await measureInRounds(lab, running, {
      cell: name,
      measure: async (subject) => {
        const { requests, cpuUs, elapsedMs } = await harness.run(subject, measured);
        const perSecond = (requests * 1_000) / elapsedMs;
        if (subject.pid === null) return { [`${name}.rps`]: perSecond };
        const busy = cpuUs / (elapsedMs * 1_000);
        return { [`${name}.cpu`]: cpuUs / requests, [`${name}.rps`]: perSecond, [`${name}.busy`]: busy };
      },
    });
  }
}

/** Ends what was started. */
export async function stopAll(running: readonly Running[]): Promise<void> {
  await Promise.all(running.map((subject) => subject.stop()));
}
