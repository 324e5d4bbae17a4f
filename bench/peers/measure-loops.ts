import type { Trial } from "../load/harness.ts";
import type { Door } from "../load/messages.ts";
import { closedTrial } from "../load/trials.ts";
import { isFloor, type Running, TRANSLATED } from "../targets/contestant.ts";
import { type Lab, measureInRounds, startAll, warmUp } from "./rounds.ts";

/** A kind of request over a number of connections, each of which sends again once it is answered. */
interface Cell {
  readonly name: string;
  readonly trial: Partial<Trial>;
  /** Measured on the floors as well. */
  readonly hasFloors?: true;
  /** Measured without translation as well, right before: what translation costs is their ratio. */
  readonly isTranslated?: true;
}

/** A door of a variant, and the beginning of the names of the figures that are measured there. */
interface Way {
  readonly name: string;
  readonly door: (subject: Running) => Door | null;
}

const LOOPS: readonly Cell[] = [
  { name: "small.16", trial: {}, hasFloors: true },
  { name: "small.1", trial: { connections: 1 } },
  { name: "small.64", trial: { connections: 64 } },
  { name: "24kB.16", trial: { body: "24kB" } },
  { name: "200kB.16", trial: { body: "large" }, hasFloors: true },
  { name: "stream.16", trial: { events: 100 }, hasFloors: true },
];

const TRANSLATIONS: readonly Cell[] = [
  { name: "anthropic.small.16", trial: {}, isTranslated: true },
  { name: "anthropic.200kB.16", trial: { body: "large" }, isTranslated: true },
];

/** Measures chat requests to a chat upstream: processor time, requests a second, and how busy the variant's core was. */
export async function measureLoops(lab: Lab): Promise<void> {
  const running = await startAll(lab);
  await measureCells(lab, running, LOOPS);
  await stopAll(running);
}

/**
 * Measures chat requests that are translated for an Anthropic upstream, on the variants that can, and the same requests without
 * translation.
 */
export async function measureTranslation(lab: Lab): Promise<void> {
  const contestants = lab.contestants.filter(({ name }) => !FORWARD_ONLY.includes(name));
  const running = await startAll({ ...lab, contestants });
  const translating = running.filter(({ lanes }) => lanes.has(TRANSLATED));
  await measureCells(lab, translating, TRANSLATIONS);
  await stopAll(running);
}

/** Variants that know no format. */
const FORWARD_ONLY = ["direct", "byte-relay", "nginx", "bun-relay"];

async function measureCells(lab: Lab, all: readonly Running[], cells: readonly Cell[]): Promise<void> {
  const { plan } = lab;
  for (const [i, cell] of cells.entries()) {
    const running = cell.hasFloors ? all : all.filter((subject) => !isFloor(subject.name));
    const ways = listWays(cell);
    lab.say(`${cell.name} …`);
    const { requests, limitMs } = i === 0 ? plan.warmUp : plan.nextWarmUp;
    const warming = closedTrial(limitMs, { ...cell.trial, maxRequests: requests });
    for (const way of ways) {
      const subjects = running.flatMap((subject) => atDoor(subject, way));
      await warmUp(lab, subjects, { cell: way.name, trial: warming });
    }
    await measureInRounds(lab, running, {
      cell: cell.name,
      measure: async (subject) => {
        const found: Record<string, number> = {};
        for (const way of ways)
          for (const entered of atDoor(subject, way))
            Object.assign(found, await measureWay(lab, entered, { name: way.name, trial: cell.trial }));
        return found;
      },
    });
  }
}

function listWays({ name, isTranslated }: Cell): readonly Way[] {
  const own: Way["door"] = ({ door }) => door;
  if (!isTranslated) return [{ name, door: own }];
  return [
    { name: `${name}.same`, door: own },
    { name, door: ({ lanes }) => lanes.get(TRANSLATED) ?? null },
  ];
}

function atDoor(subject: Running, way: Way): Running[] {
  const door = way.door(subject);
  return door === null ? [] : [{ ...subject, door }];
}

async function measureWay(
  { harness, plan }: Lab,
  subject: Running,
  { name, trial }: Pick<Cell, "name" | "trial">,
): Promise<Record<string, number>> {
  const { requests, cpuUs, elapsedMs } = await harness.run(subject, closedTrial(plan.closedMs, trial));
  const perSecond = (requests * 1_000) / elapsedMs;
  if (subject.pid === null) return { [`${name}.rps`]: perSecond };
  const busy = cpuUs / (elapsedMs * 1_000);
  return { [`${name}.cpu`]: cpuUs / requests, [`${name}.rps`]: perSecond, [`${name}.busy`]: busy };
}

/** Ends what was started. */
export async function stopAll(running: readonly Running[]): Promise<void> {
  await Promise.all(running.map((subject) => subject.stop()));
}
