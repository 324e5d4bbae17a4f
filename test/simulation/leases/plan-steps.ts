import { createSeededRandom } from "../../support/seeded-random.ts";

/** One step of a simulation. Its numbers are chosen when it is planned, so that it stays the same without the steps before it. */
export interface Step {
  readonly kind: StepKind;
  readonly afterMs: number;
  /** Which gateway, account, key; each modulo the number of them. */
  readonly gateway: number;
  readonly account: number;
  readonly key: number;
  /** At least 0 and below 1: amounts and durations. */
  readonly size: number;
  readonly share: number;
}

const WEIGHTS = {
  request: 60,
  credit: 4,
  refund: 2,
  expire: 2,
  "change overdraft": 2,
  "change limit": 2,
  "correct down": 1,
  pause: 3,
  resume: 4,
  crash: 2,
  restart: 4,
  "take over": 1,
  "store down": 1,
  "store up": 6,
} as const;
export type StepKind = keyof typeof WEIGHTS;

/** Plans the steps of a seed. */
export function planSteps(seed: number, count: number): Step[] {
  const random = createSeededRandom(seed);
  const kinds = Object.entries(WEIGHTS).flatMap(([kind, weight]) =>
    Array<string>(weight).fill(kind),
  ) as StepKind[];
  return Array.from({ length: count }, () => ({
    kind: random.pick(kinds),
    afterMs: random.oneIn(20) ? random.below(30_000) : random.below(150),
    gateway: random.below(1_000),
    account: random.below(1_000),
    key: random.below(1_000),
    size: random.next(),
    share: random.next(),
  }));
}
