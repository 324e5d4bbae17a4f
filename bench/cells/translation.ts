import { closedTrial, STREAM_EVENTS } from "../load/trials.ts";
import { figureOf, LANES, type LaneName, LOADS } from "../targets/lanes.ts";
import { addCpu, type Bench, each, warmUp } from "./parts.ts";
import type { Target } from "./targets.ts";

/**
 * Measures the processor time of the gateway where client API and upstream format differ, and where both are
 * the same format other than chat. One process serves all pairs, as in production.
 */
export async function measureTranslation(bench: Bench): Promise<void> {
  const gateway = bench.targets.find(({ name }) => name === "gateway");
  if (gateway === undefined) return;
  const lanes = new Map(LANES.map(({ name }) => [atDoor(gateway, name), name]));
  const laned: Bench = { ...bench, targets: [...lanes.keys()] };
  for (const { name: load, body, isStream } of LOADS) {
    const trial = closedTrial(bench.plan.closedMs, { body, events: isStream ? STREAM_EVENTS : 0 });
    await warmUp(laned, "translation", trial);
    for (let round = 1; round <= bench.plan.rounds; round++) {
      await each(laned, "translation", trial, round, (outcome, target) => {
        const lane = lanes.get(target);
        if (lane !== undefined) addCpu(bench, figureOf(load, lane), target.name, round, outcome);
      });
    }
  }
}

function atDoor(gateway: Target, lane: LaneName): Target {
  const door = gateway.lanes.get(lane);
  if (door === undefined) throw new Error(`no door for ${lane}`);
  return { ...gateway, door };
}
