import type { SpendLimit } from "../../../src/core/ledger/hold-book.ts";
import { BALANCE_LEASE, nameMeterLease } from "../../../src/core/ledger/money-leases.ts";
import { createSeededRandom, type SeededRandom } from "../../support/seeded-random.ts";
import { SimulatedNetwork } from "./network.ts";
import { Scheduler } from "./scheduler.ts";
import { SharedLedger, type SimulatedRecord } from "./shared-ledger.ts";
import {
  type GatewayPlace,
  recoverJournal,
  SimulatedGateway,
  type SimulatedRequest,
} from "./simulated-gateway.ts";

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
type StepKind = keyof typeof WEIGHTS;

/** What is simulated. */
export interface LeaseRun {
  readonly seed: number;
  readonly gateways: number;
  readonly steps: readonly Step[];
}

/** The outcome of a simulation. */
export interface LeaseOutcome {
  /** The invariant that was violated, with details; null if all held. */
  readonly broken: string | null;
  readonly trace: readonly string[];
  readonly seen: Readonly<Record<string, number>>;
}

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

/** Runs the steps, heals everything, and checks all invariants after each event and at the end. */
export async function simulateLeases(run: LeaseRun): Promise<LeaseOutcome> {
  const simulation = new LeaseSimulation(run);
  try {
    for (const step of run.steps) await simulation.step(step);
    await simulation.end();
    return { broken: null, ...simulation.report() };
  } catch (error) {
    const broken = error instanceof InvariantError ? error.message : String((error as Error).stack ?? error);
    return { broken, ...simulation.report() };
  }
}

class InvariantError extends Error {}

function ensure(holds: boolean, invariant: string, details: () => unknown): void {
  if (!holds) throw new InvariantError(`${invariant}: ${JSON.stringify(details())}`);
}

const ACCOUNTS = 3;
const KEYS = 2;
/** About the cost of a request. Nanodollars. */
const UNIT = 1_000;
const DAY = 20_574;

interface Place extends GatewayPlace {
  current: SimulatedGateway;
  isDead: boolean;
}

interface Policy {
  overdraft: number;
  /** The most that gateways may have borrowed by: overdrafts that were lowered, and what was corrected downwards. */
  slack: number;
}

interface Limit {
  limit: number | null;
  /** The highest limit so far: gateways may have borrowed by it. */
  highest: number;
}

class LeaseSimulation {
  private readonly scheduler = new Scheduler();
  private readonly random: SeededRandom;
  private readonly network: SimulatedNetwork;
  private readonly ledger = new SharedLedger();
  private readonly places: Place[];
  private readonly policies: Policy[];
  private readonly limits: Limit[];
  /** The cost of each generation that has ended in a journal. */
  private readonly ended = new Map<string, number>();
  private readonly trace: string[] = [];
  private readonly seen: Record<string, number> = {};
  private requests = 0;

  constructor({ seed, gateways }: LeaseRun) {
    this.random = createSeededRandom(seed * 7 + 1);
    this.network = new SimulatedNetwork(this.scheduler, this.random);
    this.policies = Array.from({ length: ACCOUNTS }, (_, at) => {
      this.ledger.credit(`acct_${at}`, UNIT * (2 + this.random.below(15)));
      return { overdraft: at === 1 ? 3 * UNIT : 0, slack: 0 };
    });
    this.limits = Array.from({ length: ACCOUNTS * KEYS }, (_, at) => {
      const limit = at % KEYS === 0 ? UNIT * (10 + this.random.below(40)) : null;
      return { limit, highest: limit ?? 0 };
    });
    this.places = Array.from({ length: gateways }, (_, at) => this.createPlace(at));
  }

  report(): Pick<LeaseOutcome, "trace" | "seen"> {
    return { trace: this.trace, seen: { ...this.seen, ...this.network.seen } };
  }

  async step(step: Step): Promise<void> {
    await this.advance(step.afterMs);
    const place = this.places[step.gateway % this.places.length] as Place;
    const text = this.perform(step, place);
    if (text === null) return;
    this.count(step.kind);
    this.trace.push(`${this.scheduler.now} ${place.id} ${step.kind}: ${text}`);
    await this.advance(0);
  }

  /** Everything works again: all is saved, all money can be spent by any gateway, and all leases go back. */
  async end(): Promise<void> {
    this.network.isDown = false;
    this.network.isFaulty = false;
    for (const place of this.places) {
      place.current.process.resume();
      if (place.isDead) this.start(place);
    }
    await this.advance(60_000);
    for (const place of this.places)
      ensure(place.journal.size === 0, "a record is not saved at the end", () => [...place.journal.values()]);
    for (const [id, cost] of this.ended)
      ensure(
        this.ledger.charges.get(id) === cost,
        "a generation was charged another cost than its own",
        () => ({
          id,
          cost,
          charged: this.ledger.charges.get(id),
        }),
      );
    for (let account = 0; account < ACCOUNTS; account++) await this.spendRest(account);
    await this.advance(125_000);
    for (const [name, amounts] of this.ledger.bank.leases)
      for (const [gateway, amount] of amounts)
        ensure(amount === 0, "a lease was not given back", () => ({ name, gateway, amount }));
  }

  private createPlace(at: number): Place {
    const place = {
      id: `gateway_${at}`,
      scheduler: this.scheduler,
      network: this.network,
      ledger: this.ledger,
      skewMs: this.random.below(7_200_000) - 3_600_000,
      journal: new Map<string, SimulatedRecord>(),
      isDead: false,
    };
    return Object.assign(place, { current: SimulatedGateway.start(place) });
  }

  private start(place: Place): void {
    place.isDead = false;
    place.current = SimulatedGateway.start(place);
  }

  private advance(ms: number): Promise<void> {
    return this.scheduler.advance(ms, () => this.check());
  }

  private count(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  /** Returns what happened; null if the step does not apply. */
  private perform(step: Step, place: Place): string | null {
    const account = step.account % ACCOUNTS;
    const policy = this.policies[account] as Policy;
    const limit = this.limits[account * KEYS + (step.key % KEYS)] as Limit;
    const id = `acct_${account}`;
    const amount = Math.ceil(step.size * 6 * UNIT);
    switch (step.kind) {
      case "request":
        return this.request(step, place);
      case "credit":
        this.ledger.credit(id, amount);
        return `${id} ${amount}`;
      case "refund":
        return this.refund(step.share);
      case "expire":
        return `${id} ${this.ledger.expire(id, amount)} of ${amount}`;
      case "correct down":
        policy.slack += amount;
        this.ledger.credit(id, -amount);
        return `${id} ${amount}`;
      case "change overdraft": {
        const overdraft = Math.floor(step.share * 5) * UNIT;
        policy.slack += Math.max(0, policy.overdraft - overdraft);
        policy.overdraft = overdraft;
        return `${id} ${overdraft}`;
      }
      case "change limit":
        if (limit.limit === null) return null;
        limit.limit = Math.ceil(step.size * 60) * UNIT;
        limit.highest = Math.max(limit.highest, limit.limit);
        return `${id} ${limit.limit}`;
      default:
        return this.disturb(step, place);
    }
  }

  private disturb({ kind }: Step, place: Place): string | null {
    const { process } = place.current;
    switch (kind) {
      case "pause":
        if (!process.isRunning) return null;
        process.pause();
        return "";
      case "resume":
        if (place.isDead || process.isRunning) return null;
        process.resume();
        return "";
      case "crash":
        if (place.isDead) return null;
        process.kill();
        place.isDead = true;
        this.noteEnded(place.journal);
        recoverJournal(place.journal);
        return "";
      case "restart":
        if (!place.isDead) return null;
        this.start(place);
        return "";
      case "take over":
        return this.takeOver(place);
      case "store down":
      case "store up":
        this.network.isDown = kind === "store down";
        return "";
      default:
        return null;
    }
  }

  private refund(share: number): string | null {
    const charges = [...this.ledger.charges];
    const charge = charges[Math.floor(share * charges.length)];
    if (charge === undefined) return null;
    const [id, cost] = charge;
    this.ledger.credit(`acct_${id.split("_")[1]}`, cost);
    return `${id} ${cost}`;
  }

  /** Another process saves the journal of a dead gateway, and gives its leases back. */
  private takeOver(place: Place): string | null {
    if (!place.isDead || this.network.isDown) return null;
    const { bank } = this.ledger;
    bank.register(place.id);
    this.ledger.save(place.id, bank.epochOf(place.id), [...place.journal.values()]);
    place.journal.clear();
    bank.release(place.id);
    return "";
  }

  private request(step: Step, place: Place): string | null {
    if (!place.current.isServing) return null;
    const account = step.account % ACCOUNTS;
    const request = this.createRequest(account, step);
    void place.current.serve(request).then((outcome) => {
      this.count(outcome);
      this.trace.push(`${this.scheduler.now} ${place.id} ${request.id} ${outcome}`);
    });
    return `${request.id} ${request.least}..${request.amount}..${request.most} costs ${request.cost}`;
  }

  private createRequest(
    account: number,
    { key, size, share }: Pick<Step, "key" | "size" | "share">,
  ): SimulatedRequest {
    const amount = Math.ceil((0.2 + size) * UNIT);
    const most = share < 0.5 ? amount : amount * 4;
    this.requests += 1;
    return {
      id: `gen_${account}_${this.requests}`,
      accountId: `acct_${account}`,
      overdraft: (this.policies[account] as Policy).overdraft,
      limits: this.limitsOf(account, key % KEYS),
      amount,
      least: Math.ceil(amount / 4),
      most,
      cost: Math.ceil(most * share),
      lastsMs: Math.ceil(size * share * 20_000),
    };
  }

  private limitsOf(account: number, key: number): SpendLimit[] {
    const { limit } = this.limits[account * KEYS + key] as Limit;
    return [{ meter: `key:${account}_${key}`, of: "key", limit, since: DAY, query: {} }];
  }

  private noteEnded(journal: ReadonlyMap<string, SimulatedRecord>): void {
    for (const { id, cost } of journal.values()) {
      if (cost === null) continue;
      const earlier = this.ended.get(id);
      ensure(earlier === undefined || earlier === cost, "a generation ended with two costs", () => ({
        id,
        cost,
        earlier,
      }));
      this.ended.set(id, cost);
    }
  }

  private check(): void {
    for (const place of this.places) this.checkGateway(place);
    for (const [account, { overdraft, slack }] of this.policies.entries()) {
      const id = `acct_${account}`;
      const { amount } = this.ledger.account(id);
      const leased = this.ledger.bank.sumLeases(id, BALANCE_LEASE);
      ensure(leased <= Math.max(0, amount + overdraft + slack), "more is leased than an account has", () => ({
        id,
        amount,
        overdraft,
        slack,
        leased,
      }));
      ensure(amount + overdraft + slack >= 0, "more was charged than an account had", () => ({
        id,
        amount,
        overdraft,
      }));
    }
    for (const [at, { limit, highest }] of this.limits.entries()) {
      if (limit === null) continue;
      const account = Math.floor(at / KEYS);
      const name = nameMeterLease({ meter: `key:${account}_${at % KEYS}`, since: DAY });
      const spent = this.ledger.spent.get(name) ?? 0;
      const leased = this.ledger.bank.sumLeases(`acct_${account}`, name);
      ensure(spent + leased <= highest, "more is leased than a limit leaves", () => ({
        name,
        spent,
        leased,
        highest,
      }));
    }
  }

  /** What a gateway holds and has not saved never exceeds its leases, also when it is dead. */
  private checkGateway({ id, current, journal, isDead }: Place): void {
    this.noteEnded(journal);
    const needed = new Map<string, number>();
    const need = (record: SimulatedRecord, amount: number): void => {
      for (const name of record.leasedFrom ?? []) {
        const key = `${record.accountId} ${name}`;
        needed.set(key, (needed.get(key) ?? 0) + amount);
      }
    };
    const held = new Map(isDead ? [] : current.book.holds().map((hold) => [hold.id, hold.amount]));
    for (const record of journal.values()) {
      if (record.cost === null) need(record, held.get(record.id) ?? record.held);
      else if (!this.ledger.charges.has(record.id)) need(record, record.cost);
    }
    for (const [key, amount] of needed) {
      const [accountId = "", name = ""] = key.split(" ");
      const lease = this.ledger.bank.leaseOfGateway(id, accountId, name);
      ensure(amount <= lease, "a gateway holds and has spent more than its lease", () => ({
        id,
        key,
        amount,
        lease,
      }));
    }
  }

  /** Everything that an account and a key without a limit have can be held at any one gateway. */
  private async spendRest(account: number): Promise<void> {
    const policy = this.policies[account] as Policy;
    const rest = this.ledger.account(`acct_${account}`).amount + policy.overdraft;
    if (rest <= 0) return;
    const place = this.random.pick(this.places);
    const request = this.createRequest(account, { key: 1, size: 1, share: 0 });
    const sizes = { amount: rest, least: rest, most: rest, cost: 1, lastsMs: 1 };
    const outcomes: string[] = [];
    for (let tries = 0; tries < 3 && outcomes.at(-1) !== "held"; tries++) {
      void place.current
        .serve({ ...request, id: `${request.id}_${tries}`, ...sizes })
        .then((outcome) => outcomes.push(outcome));
      await this.advance(2_000);
    }
    ensure(outcomes.at(-1) === "held", "a request is refused while money is free", () => ({
      account,
      rest,
      outcomes,
      leases: [...this.ledger.bank.leases].map(([name, amounts]) => [name, ...amounts]),
    }));
  }
}
