import { findBusiest } from "./outage.ts";
import { spread } from "./random-outages.ts";
import { FIRST_TOKEN_MS, type TrafficSite } from "./traffic-site.ts";

/** The outcome of conversations. */
export interface ConversationsReport {
  /** Turns after a conversation's first that were answered, and those of them that found a warm cache. */
  readonly turns: number;
  readonly warm: number;
  readonly failed: number;
}

const TURNS = 50;
const PAUSE_MS = 12_000;
/** A vendor caches a prompt for five minutes, so no turn takes longer than that to follow. */
const MAX_PAUSE_MS = 120_000;
const DEGRADED = { kind: "brown-out", failShare: 0.3, slowness: 4 } as const;
const UNTIL_DEGRADED_MS = 60_000;
/** Longer than any conversation takes. */
const ALL_MS = 3_600_000;

/** Runs conversations of fifty turns while the vendor that has most of them fails now and then. */
export async function runConversations(site: TrafficSite, count: number): Promise<ConversationsReport> {
  const { clock, fleet, chance } = site;
  const requests: number[] = [];
  const startedAt = clock.now();
  let failed = 0;
  const hold = (name: string): void => {
    const model = chance.pick(site.models);
    const session = chance.oneIn(2) ? name : null;
    const ask = async (turn: number): Promise<void> => {
      const { request, isAnswered } = await site.ask({
        model,
        stream: true,
        conversation: name,
        turn,
        session,
      });
      if (!isAnswered) failed += 1;
      else if (turn > 0) requests.push(request);
      if (turn + 1 === TURNS) return;
      clock.after(Math.min(MAX_PAUSE_MS, spread(chance.next(), PAUSE_MS)), () => void ask(turn + 1));
    };
    void ask(0);
  };
  for (let at = 0; at < count; at++)
    clock.after(chance.below(UNTIL_DEGRADED_MS / 2), () => hold(`talk ${at}`));
  await clock.run(startedAt + UNTIL_DEGRADED_MS);
  fleet.setTrouble(findBusiest(fleet.calls), DEGRADED);
  await clock.run(startedAt + ALL_MS + FIRST_TOKEN_MS);
  const warm = requests.filter((request) => fleet.wasWarm(request) === true).length;
  return { turns: requests.length, warm, failed };
}

/** Lists the violated expectations. */
export function findBrokenConversations({ turns, warm }: ConversationsReport): readonly string[] {
  return warm >= 0.95 * turns ? [] : [`of ${turns} turns only ${warm} found a warm cache`];
}
