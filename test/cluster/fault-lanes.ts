import { createSeededRandom, type SeededRandom } from "../support/seeded-random.ts";
import type { Cluster, Member } from "./cluster.ts";
import {
  chooseFault,
  DATABASE_GONE,
  type Done,
  type Fault,
  GATEWAY_FAULTS,
  REDIS_HANGS,
  runFault,
  STORE_FAULTS,
} from "./faults.ts";

/** A gateway's row ends after thirty seconds without a sign of life. A fault of this length exceeds that. Milliseconds. */
const PAST_LEASE_MS = 36_000;
/** What a kill may take with everything around it: a gateway does not start while PostgreSQL is away. Milliseconds. */
const MS_PER_KILL = 12_000;
/** Load without faults, after the last. Milliseconds. */
const CALM_MS = 5_000;

const LONG_FAULTS: readonly Fault[] = [
  {
    name: "pause a gateway until its row has ended",
    harms: ["gateway"],
    kills: 0,
    weight: 1,
    async run({ member: { node } }) {
      node.suspend();
      await Bun.sleep(PAST_LEASE_MS);
      node.resume();
    },
  },
  {
    name: "kill a gateway, and start it again after its row has ended",
    harms: ["gateway"],
    kills: 1,
    weight: 1,
    async run({ member: { node } }) {
      await node.kill();
      await Bun.sleep(PAST_LEASE_MS);
      await node.start();
    },
  },
  {
    name: "cut a gateway off from PostgreSQL until its row has ended",
    harms: ["store"],
    kills: 0,
    weight: 1,
    async run({ member: { toPostgres } }) {
      toPostgres.cut();
      await Bun.sleep(PAST_LEASE_MS);
      toPostgres.heal();
    },
  },
];

/** Faults in three lanes at a time: gateways, stores, and faults that outlast a gateway's row. Each gateway is in one lane at most. */
export class FaultLanes {
  /** What was done, in order. */
  readonly faults: Done[] = [];
  private readonly busy = new Set<Member>();
  private isOver = false;

  constructor(
    private readonly cluster: Cluster,
    private readonly seed: number,
  ) {}

  /** Does faults until so many gateways were killed. Returns how many there was time for. */
  async run(kills: number): Promise<number> {
    const until = Date.now() + kills * MS_PER_KILL;
    const killed = () => this.faults.reduce((sum, { kills }) => sum + kills, 0);
    const others = [this.storeLane(), this.longLane()];
    const chance = createSeededRandom(this.seed);
    while (killed() < kills && Date.now() < until) {
      await this.doOne(chooseFault(GATEWAY_FAULTS, chance), chance);
      await Bun.sleep(chance.below(800));
    }
    this.isOver = true;
    await Promise.all(others);
    return killed();
  }

  /** Waits until the effects of the last fault have passed, and a while longer. */
  async calm(): Promise<void> {
    await Bun.sleep(CALM_MS * 2);
  }

  private async storeLane(): Promise<void> {
    const chance = createSeededRandom(this.seed + 1);
    // Not left to chance: checks are about these, and hangs come before anything that would end connections.
    const first = [...REDIS_HANGS, ...DATABASE_GONE];
    while (!this.isOver) {
      await this.doOne(first.shift() ?? chooseFault(STORE_FAULTS, chance), chance);
      await Bun.sleep(500 + chance.below(2_500));
    }
  }

  private async longLane(): Promise<void> {
    const chance = createSeededRandom(this.seed + 2);
    for (let index = 0; !this.isOver; index++) {
      await this.doOne(LONG_FAULTS[index % LONG_FAULTS.length] as Fault, chance);
      await Bun.sleep(chance.below(5_000));
    }
  }

  private async doOne(fault: Fault, chance: SeededRandom): Promise<void> {
    const member = chance.pick(this.cluster.members.filter((one) => !this.busy.has(one)));
    this.busy.add(member);
    await runFault(fault, { cluster: this.cluster, member, chance }, this.faults);
    this.busy.delete(member);
  }
}
