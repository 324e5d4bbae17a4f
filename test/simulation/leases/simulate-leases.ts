import type { SpendLimit } from "../../../src/core/ledger/holds/hold-book.ts";
import { createSeededRandom, type SeededRandom } from "../../support/seeded-random.ts";
import {
  ACCOUNTS,
  DAY,
  ensure,
  InvariantError,
  KEYS,
  LeaseChecks,
  type Limit,
  type Place,
  type Policy,
} from "./check-leases.ts";
import { SimulatedNetwork } from "./network.ts";
import type { Step } from "./plan-steps.ts";
import { Scheduler } from "./scheduler.ts";
import { SharedLedger, type SimulatedRecord } from "./shared-ledger.ts";
import { recoverJournal, SimulatedGateway, type SimulatedRequest } from "./simulated-gateway.ts";

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

/** About the cost of a request. Nanodollars. */
const UNIT = 1_000;

class LeaseSimulation {
  private readonly scheduler = new Scheduler();
  private readonly random: SeededRandom;
  private readonly network: SimulatedNetwork;
  readonly ledger = new SharedLedger();
  readonly places: Place[];
  readonly policies: Policy[];
  readonly limits: Limit[];
  private readonly checks: LeaseChecks;
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
    this.checks = new LeaseChecks(this);
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
    this.checks.checkCharges();
    for (let account = 0; account < ACCOUNTS; account++) await this.spendRest(account);
    // Two minutes until nothing counts as spent lately, and one in which nothing is needed.
    await this.advance(190_000);
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
      horizonMs: at % 2 === 0 ? 60_000 : 3_600_000,
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
    return this.scheduler.advance(ms, () => this.checks.check());
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
        this.checks.noteEnded(place.journal);
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
