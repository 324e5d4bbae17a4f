import type { Database } from "bun:sqlite";
import { checkConfig } from "../../src/app/config/load-config.ts";
import type { Random } from "../../src/base/secrets/random.ts";
import { createKey } from "../../src/core/accounts/manage/manage-keys.ts";
import {
  type AccountRecord,
  DEFAULT_ACCOUNT_ID,
  NO_KEY_DEFAULTS,
  OPEN_POLICY,
} from "../../src/core/accounts/records/records.ts";
import { PLATFORM_ACCOUNT, type Transfer } from "../../src/core/ledger/records/records.ts";
import { decodeJournalEntry } from "../../src/core/usage/journal/journal-entry.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { describePrices, PROVIDERS } from "../books/prices.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createSeededRandom, type SeededRandom } from "../support/seeded-random.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";
import { type ClientRequest, SimulatedClient } from "./client.ts";
import { KeptObjects } from "./kept-objects.ts";
import type { Faults } from "./process-run.ts";
import { createDatabases, openPlainStores, type Place, type Service, startService } from "./service.ts";
import { type Bill, createVendors, type SimulatedVendors } from "./vendor.ts";

/** The outcome of a simulation. */
export interface Simulated {
  /** The invariant that was violated, with details; null if all held. */
  readonly broken: string | null;
  /** What happened, one line for each event. */
  readonly trace: readonly string[];
  /** How often each situation occurred, to notice a simulation that exercises nothing. */
  readonly seen: Readonly<Record<string, number>>;
}

/** Runs the whole service for a number of random steps, and checks all invariants after each. */
export async function simulate(seed: number, steps: number): Promise<Simulated> {
  const simulation = await Simulation.create(seed);
  try {
    for (let step = 0; step < steps; step++) await simulation.step();
    await simulation.end();
    return { broken: null, trace: simulation.trace, seen: simulation.seen };
  } catch (error) {
    const broken = error instanceof InvariantError ? error.message : String((error as Error).stack ?? error);
    return { broken, trace: simulation.trace, seen: simulation.seen };
  } finally {
    simulation.close();
  }
}

class InvariantError extends Error {}

function ensure(holds: boolean, invariant: string, details: () => unknown): void {
  if (!holds) throw new InvariantError(`${invariant}: ${JSON.stringify(details())}`);
}

const HOLD_TOKENS = 40;
/** The most tokens of an answer without a limit. */
const MAX_TOKENS = 10 * HOLD_TOKENS;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Ten minutes before a new day and month in UTC. */
const NEARLY_MIDNIGHT = Date.UTC(2026, 4, 1) - 10 * MINUTE_MS;
/** Timers close to the defaults, and those of an operator who allows answers of hours. */
const TIMERS = [
  { first_token_ms: 20 * SECOND_MS, silence_ms: 10 * SECOND_MS, total_ms: MINUTE_MS },
  { first_token_ms: 2 * HOUR_MS, silence_ms: 2 * HOUR_MS, total_ms: 3 * HOUR_MS },
] as const;
const MODELS = ["acme/alone", "acme/pair", "acme/pair", "acme/gift:free"] as const;
/** About the holds of one to ten requests. Nanodollars. */
const [GRANT_MIN, GRANT_MAX] = [900_000, 9_000_001];

/** The part of a record that must not change after its generation has ended. */
type Ending = Pick<UsageRecord, "outcome" | "costNanodollars">;

interface LimitRow {
  readonly key_id: string;
  readonly account_id: string;
  readonly user_id: string | null;
  readonly created_at: number;
  readonly cost: number;
}

class Simulation {
  readonly trace: string[] = [];
  readonly seen: Record<string, number> = {};
  private service!: Service;
  private clients: SimulatedClient[] = [];
  private readonly secrets: string[] = [];
  private readonly endings = new Map<string, Ending>();
  /** Generations whose final record the journal rejected before the process ended: these may be lost. */
  private readonly excused = new Set<string>();
  /** Accounts whose balance the current gateway process has cached. */
  private readonly loaded = new Set<string>();
  private changes = -1;
  private isEnding = false;
  /** Calls of vendors while an entry was not in the journal's files. */
  private earlyCalls = 0;
  /** Calls of vendors while a gateway starts. */
  private callsAtStart = 0;
  private isStarting = false;
  private grants = 0;
  private readonly objects: KeptObjects;

  private constructor(
    private readonly chance: SeededRandom,
    private readonly clock: TestClock,
    private readonly place: Place,
    private readonly vendors: SimulatedVendors,
  ) {
    this.objects = new KeptObjects(place.responseDatabase);
  }

  static async create(seed: number): Promise<Simulation> {
    const chance = createSeededRandom(seed);
    const clock = createTestClock(NEARLY_MIDNIGHT);
    let simulation: Simulation | null = null;
    const vendors = createVendors(MAX_TOKENS, () => simulation?.checkCall());
    const place: Place = {
      ...createDatabases(),
      journalFile: { segments: [], aside: [] },
      clock,
      random: createRandom(createSeededRandom(seed + 1)),
      transport: vendors,
      config: describeConfig(chance.oneIn(4) ? TIMERS[1] : TIMERS[0]),
      faults: { store: 0, journal: 0 },
      chance,
    };
    simulation = new Simulation(chance, clock, place, vendors);
    await simulation.makeAccounts();
    await simulation.start();
    return simulation;
  }

  /** Makes one random event happen, and checks all invariants. */
  async step(): Promise<void> {
    const dice = this.chance.below(100);
    if (dice < 28) this.ask();
    else if (dice < 73) this.vendorActs();
    else if (dice < 76) this.clientLeaves();
    else if (dice < 77) this.cancel();
    else if (dice < 84) this.timePasses();
    else if (dice < 89) await this.grant();
    else if (dice < 92) await this.refresh();
    else if (dice < 96) this.changeFaults();
    else await this.die();
    await this.settle();
    if (this.service.run.isOver) await this.restart();
    await this.check();
  }

  /** Removes all faults, lets all generations end, and checks the final state. */
  async end(): Promise<void> {
    this.tell("end");
    Object.assign(this.place.faults, NO_FAULTS);
    this.isEnding = true;
    this.service.run.endWithin(0);
    // All timers fire, and all records reach the store.
    for (let i = 0; i < 8; i++) {
      this.clock.leap(HOUR_MS);
      await this.settle();
    }
    if (this.service.run.isOver) await this.restart();
    await this.check();
    await this.stopCleanly();
    await this.check();
    const open = this.query<{ id: string }>("SELECT id FROM generations WHERE outcome = 'open'");
    ensure(open.length === 0, "no record is open at the end", () => open);
    const running = this.objects.listRunning();
    ensure(running.length === 0, "no response runs at the end", () => running);
    for (const client of this.clients) this.checkClient(client, await this.find(client.generationId ?? ""));
  }

  close(): void {
    this.service.run.isOver = true;
    this.place.database.close();
    this.place.responseDatabase.close();
  }

  private tell(line: string): void {
    this.trace.push(line);
  }

  private count(what: string): void {
    this.seen[what] = (this.seen[what] ?? 0) + 1;
  }

  private checkCall(): void {
    if (this.isStarting) this.callsAtStart += 1;
    if (this.service.journal.unwritten.length > 0 && !this.service.run.isOver) this.earlyCalls += 1;
  }

  private async settle(): Promise<void> {
    await turnEventLoop(TURNS);
  }

  // Events.

  private ask(): void {
    const { chance } = this;
    const secret = chance.pick(this.secrets);
    const path = chance.pick(PATHS);
    const request: ClientRequest = {
      secret,
      path,
      state: path === "/responses" && !chance.oneIn(4) ? this.objects.pickState(chance, secret) : null,
      model: chance.pick(MODELS),
      stream: !chance.oneIn(3),
      maxTokens: chance.pick([null, null, 4 + chance.below(HOLD_TOKENS), 100_000]),
      prompt: "word ".repeat(1 + chance.below(100)),
    };
    this.tell(
      `request ${JSON.stringify({ ...request, secret: this.secrets.indexOf(request.secret), prompt: request.prompt.length })}`,
    );
    this.clients.push(new SimulatedClient(this.service, request));
    this.count("asked");
  }

  private vendorActs(): void {
    const { calls } = this.vendors;
    const at = this.chance.below(Math.max(1, calls.length));
    this.tell(`vendor acts on ${at} of ${calls.length}`);
    calls[at]?.act(this.chance);
  }

  private clientLeaves(): void {
    const open = this.clients.filter(({ isOver }) => !isOver);
    const at = this.chance.below(Math.max(1, open.length));
    this.tell(`client ${at} of ${open.length} leaves`);
    open[at]?.leave();
    this.count("left");
  }

  /** Cancels a response of the background. */
  private cancel(): void {
    const running = this.objects.listRunning().filter(({ is_background }) => is_background === 1);
    const at = this.chance.below(Math.max(1, running.length));
    this.tell(`cancel of ${at} of ${running.length}`);
    const response = running[at];
    if (response === undefined) return;
    this.count("cancels");
    const { account_id: accountId, user_id: userId, key_id: keyId } = response;
    const { jobs } = this.service.parts.http.features.responses;
    jobs.cancel({ accountId, userId, keyId }, response.id).catch(() => {});
  }

  private timePasses(): void {
    const ms = this.chance.pick([1, 120, 1_100, 5_000, 12_000, 70_000, 10 * MINUTE_MS, 70 * MINUTE_MS]);
    this.tell(`${ms} ms pass`);
    this.clock.advance(ms);
  }

  private async grant(): Promise<void> {
    this.grants += 1;
    const to = this.chance.pick(PREPAID);
    const amount = GRANT_MIN + this.chance.below(GRANT_MAX - GRANT_MIN);
    const fromInside = this.chance.oneIn(2);
    this.tell(`grant of ${amount} to ${to}, from ${fromInside ? "inside" : "outside"}`);
    const transfer = describeGrant(`grant_${this.grants}`, to, amount, this.clock.now());
    if (fromInside)
      this.service.parts.http.generation.ledger.transfer(transfer).catch(() => this.count("grant failed"));
    else await openPlainStores(this.place).ledger.addTransfer(transfer);
  }

  private async refresh(): Promise<void> {
    this.tell("refresh");
    this.service.parts.http.generation.ledger.refresh().catch(() => {});
  }

  private changeFaults(): void {
    const often = () => (this.chance.oneIn(2) ? 0 : 2 + this.chance.below(8));
    const faults: Faults = { store: often(), journal: often() };
    this.tell(`faults ${JSON.stringify(faults)}`);
    Object.assign(this.place.faults, faults);
    this.count("faults");
  }

  /** Kills the process, at once or during its next operations. */
  private async die(): Promise<void> {
    if (this.chance.oneIn(2)) {
      const operations = 1 + this.chance.below(12);
      this.tell(`dies within ${operations} operations`);
      this.service.run.endWithin(operations);
      return;
    }
    this.tell("dies");
    this.service.run.isOver = true;
  }

  private async stopCleanly(): Promise<void> {
    const { recorder, journal } = this.service.parts;
    await recorder.drain();
    journal.release(Number.POSITIVE_INFINITY);
    await this.service.parts.http.generation.ledger.refresh();
    const { segments, aside } = this.place.journalFile;
    ensure(
      segments.flat().length + aside.length === 0,
      "the journal is empty after a clean stop",
      () => segments,
    );
    for (const id of this.loaded) {
      const { balance, held } = await this.service.parts.http.generation.ledger.balanceOf(id);
      const stored = this.readBalance(id);
      ensure(
        balance === stored && held === 0,
        "after a clean stop memory and store agree, and nothing is held",
        () => ({
          id,
          balance,
          held,
          stored,
        }),
      );
    }
  }

  private async restart(): Promise<void> {
    this.count("restarts");
    // Only entries that could not be written may be lost.
    const { unwritten, rejected } = this.service.journal;
    for (const entry of unwritten.filter((one) => rejected.has(one))) {
      const read = decodeJournalEntry(entry);
      if (read.kind === "usage") this.excused.add(read.record.id);
    }
    for (const call of this.vendors.calls) call.act(BREAKS_OFF);
    for (const client of this.clients) client.isOver = true;
    await this.start();
  }

  /** Starts a gateway, repeatedly if faults prevent a start or the process ends during it. */
  private async start(): Promise<void> {
    for (;;) {
      this.isStarting = true;
      const { run, started } = startService(this.place);
      let service: Service | null = null;
      started.then(
        (it) => {
          service = it;
        },
        () => {
          run.isOver = true;
        },
      );
      if (!this.isEnding && this.chance.oneIn(6)) run.endWithin(1 + this.chance.below(8));
      await turnEventLoop(2 * TURNS);
      this.isStarting = false;
      if (service !== null && !run.isOver) {
        this.service = service;
        break;
      }
      this.tell("a start fails");
      this.count("failed starts");
      if (!run.isOver) throw new InvariantError("a start neither succeeds nor fails");
      if (this.chance.oneIn(3)) Object.assign(this.place.faults, NO_FAULTS);
    }
    this.loaded.clear();
    this.tell("started");
    const running = this.objects.listRunning();
    ensure(running.length === 0, "a start ends the responses of the process before", () => running);
  }

  // Invariants.

  /** Checks all invariants, without faults and without ending the process. */
  private async check(): Promise<void> {
    const { run } = this.service;
    const { faults } = this.place;
    const kept = { ...faults };
    Object.assign(faults, NO_FAULTS);
    run.isPaused = true;
    this.checkHolds();
    await this.checkBalances();
    this.checkBooks();
    await this.checkClients();
    await this.checkObjects();
    run.isPaused = false;
    Object.assign(faults, kept);
  }

  /** Every hold belongs to a generation that runs. */
  private checkHolds(): void {
    ensure(
      this.earlyCalls === 0,
      "no vendor is called before the record is in the journal",
      () => this.earlyCalls,
    );
    const { ledger, running } = this.service.parts.http.generation;
    const { active } = running;
    const holds = ledger.holds();
    ensure(holds.length <= active.size, "every hold has a running generation", () => ({
      holds,
      active: active.size,
    }));
    for (const { accountId } of holds) this.loaded.add(accountId);
    if (holds.length > 0) this.count("holds");
  }

  private async checkBalances(): Promise<void> {
    const { ledger } = this.service.parts.http.generation;
    for (const id of this.loaded) {
      const { balance, held } = await ledger.balanceOf(id);
      const sum = ledger.holds().reduce((all, hold) => all + (hold.accountId === id ? hold.amount : 0), 0);
      ensure(held === sum, "the held amount is the sum of the holds", () => ({ id, held, sum }));
      const overdraft = OVERDRAFTS[id];
      if (overdraft === undefined) continue;
      ensure(balance - held >= -overdraft, "no account has holds beyond its overdraft", () => ({
        id,
        balance,
        held,
      }));
    }
  }

  private checkBooks(): void {
    const changes = this.query<{ n: number }>("SELECT total_changes() AS n")[0]?.n as number;
    if (changes === this.changes) return;
    this.changes = changes;
    const wrong = this.query(
      `SELECT g.id, g.cost, t.amount FROM generations g LEFT JOIN transfers t ON t.id = g.id
       WHERE g.outcome <> 'open' AND coalesce(t.amount, 0) <> g.cost
          OR g.outcome = 'open' AND t.id IS NOT NULL
          OR g.cost <> json_extract(g.record, '$.costNanodollars')
          OR g.outcome = 'failed' AND json_extract(g.record, '$.firstTokenAt') IS NULL AND g.cost <> 0
       UNION ALL
       SELECT t.id, NULL, t.amount FROM transfers t
       WHERE t.kind = 'usage' AND t.id NOT IN (SELECT id FROM generations)`,
    );
    ensure(
      wrong.length === 0,
      "each record has exactly one transfer, and a generation that failed before its first token costs nothing",
      () => wrong,
    );
    const differences = this.query(
      `SELECT account_id, sum(amount) AS difference FROM (
         SELECT to_account AS account_id, amount FROM transfers
         UNION ALL SELECT from_account, -amount FROM transfers
         UNION ALL SELECT account_id, -amount FROM balances
         -- The platform's balance is the negative sum of all others.
         UNION ALL SELECT 'house', coalesce(sum(amount), 0) FROM balances)
       GROUP BY account_id HAVING sum(amount) <> 0`,
    );
    ensure(
      differences.length === 0,
      "every balance is the sum of its transfers, also the derived balance of the platform",
      () => differences,
    );
    for (const [id, overdraft] of Object.entries(OVERDRAFTS)) {
      ensure(this.readBalance(id) >= -overdraft, "no account is below its overdraft", () => [
        id,
        this.readBalance(id),
      ]);
    }
    this.checkLimits();
  }

  private checkLimits(): void {
    const rows = this.query<LimitRow>(
      "SELECT key_id, account_id, user_id, created_at, cost FROM generations WHERE cost > 0",
    );
    for (const { name, limit, meterOf } of LIMITS) {
      const spent = new Map<string, number>();
      for (const row of rows) {
        const meter = meterOf(row);
        if (meter !== null) spent.set(meter, (spent.get(meter) ?? 0) + row.cost);
      }
      const over = [...spent].filter(([, amount]) => amount > limit);
      ensure(over.length === 0, `no ${name} is exceeded`, () => over);
    }
  }

  /** A generation that has ended does not change; an answer that was received completely costs what its vendor billed. */
  private async checkClients(): Promise<void> {
    const still: SimulatedClient[] = [];
    for (const client of this.clients) {
      const record = client.generationId === null ? null : await this.find(client.generationId);
      this.checkClient(client, record);
      this.objects.note(client);
      // After a crash a record may still be open.
      if (!client.isOver || record?.outcome === "open") still.push(client);
    }
    this.clients = still;
    for (const [id, ending] of this.endings) {
      const now = await this.find(id);
      const isSame = now?.outcome === ending.outcome && now.costNanodollars === ending.costNanodollars;
      ensure(isSame || this.excused.has(id), "a generation that has ended does not change", () => ({
        id,
        ending,
        now,
      }));
    }
    if (this.endings.size > REMEMBERED) this.endings.delete(this.endings.keys().next().value as string);
  }

  /** A response object does not change after its end, and one that is complete has a generation that is. */
  private async checkObjects(): Promise<void> {
    ensure(this.callsAtStart === 0, "no response is sent again by a start", () => this.callsAtStart);
    const { wrong, ended } = this.objects.compare();
    ensure(
      wrong.length === 0,
      "a response that has ended does not change, and has its place for itself",
      () => wrong,
    );
    for (const { id, status } of ended) {
      this.count(`object ${status}`);
      const record = await this.find(id);
      // A process that dies before its generation has a record calls no vendor, and the response fails.
      const isWrong = status === "completed" && !this.excused.has(id) && !COMPLETE.has(record?.outcome ?? "");
      ensure(!isWrong, "a complete response has a generation that is complete or still open", () => record);
    }
  }

  private checkClient(client: SimulatedClient, record: UsageRecord | null): void {
    const { generationId: id, status } = client;
    if (status !== null) this.count(`status ${status}`);
    ensure(status !== 500, "no answer has status 500", () => client.text);
    if (id === null || this.excused.has(id)) return;
    ensure(record !== null, "a client that has seen the beginning of an answer has a record", () => ({
      id,
      request: client.request,
    }));
    if (record === null || record.outcome === "open") {
      ensure(
        !client.isWhole,
        "a client that has seen the end of an answer has a record that has ended",
        () => record,
      );
      return;
    }
    this.count(record.outcome);
    this.endings.set(id, { outcome: record.outcome, costNanodollars: record.costNanodollars });
    if (!client.isWhole) return;
    this.count("whole");
    ensure(
      record.outcome === "completed",
      "an answer that was received completely is recorded as completed",
      () => record,
    );
    const bill = this.vendors.bills.get(client.answerName ?? "");
    if (bill === undefined || bill.isImpossible) this.checkEstimate(record, bill);
    else this.checkBill(record, bill, client.request.model.endsWith(":free"));
  }

  private checkBill(record: UsageRecord, bill: Bill, isFree: boolean): void {
    if (!isFree && record.costNanodollars < bill.cost) this.count("not covered");
    ensure(
      record.upstreamCostNanodollars === bill.cost &&
        record.costNanodollars <= (isFree ? 0 : bill.cost) &&
        record.provider === bill.provider,
      "an answer that was received completely costs what its vendor billed, as far as its account covers it",
      () => ({ record, bill }),
    );
  }

  /** Checks an answer that the gateway has ended early, or whose vendor has impossible counts. */
  private checkEstimate(record: UsageRecord, bill: Bill | undefined): void {
    this.count(bill === undefined ? "cut short" : "impossible counts");
    // The count of an answer that is slightly too long may be accepted.
    const isAccepted = record.completionTokens === bill?.completionTokens;
    ensure(
      (record.estimated || isAccepted) &&
        record.completionTokens <= MAX_TOKENS + MARGIN_TOKENS &&
        record.promptTokens <= 1e5,
      "usage without plausible counts is estimated by the text that was seen",
      () => ({ record, bill }),
    );
    if (bill === undefined)
      ensure(
        record.finishReason === "length",
        "an answer without a bill has ended where its account covered no more",
        () => record,
      );
  }

  /** Finds a record without faults, in the store or in the gateway's memory. */
  private async find(id: string): Promise<UsageRecord | null> {
    const [row] = this.query<{ record: string }>("SELECT record FROM generations WHERE id = ?", id);
    const stored = row === undefined ? null : (JSON.parse(row.record) as UsageRecord);
    return stored !== null && stored.outcome !== "open" ? stored : this.service.parts.recorder.find(id);
  }

  private readBalance(id: string): number {
    return (
      this.query<{ amount: number }>("SELECT amount FROM balances WHERE account_id = ?", id)[0]?.amount ?? 0
    );
  }

  private query<Row>(sql: string, ...values: string[]): Row[] {
    return (this.place.database as Database).query<Row, string[]>(sql).all(...values);
  }

  // Accounts.

  private async makeAccounts(): Promise<void> {
    const stores = openPlainStores(this.place);
    for (const id of [...Object.keys(OVERDRAFTS)]) {
      await stores.accounts.insertAccount(presentAccount(id));
      await stores.ledger.addTransfer(
        describeGrant(`first_${id}`, id, GRANT_MIN + this.chance.below(GRANT_MAX), this.clock.now()),
      );
    }
    await stores.accounts.putMember({
      organizationId: "org_b",
      userId: "user_a",
      role: "member",
      source: "manual",
      dailyLimit: DAILY_LIMIT,
      createdAt: 1,
    });
    for (const [accountId, userId, spendLimit] of KEYS) {
      const { secret } = await createKey(stores, {
        name: accountId,
        kind: "inference",
        expiresAt: null,
        accountId,
        userId,
        spendLimit,
      });
      this.secrets.push(secret);
    }
  }
}

/** A master key of 32 bytes, in base64. */
const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
function repeat<const T extends string>(value: T, times: number): readonly T[] {
  return Array.from({ length: times }, () => value);
}

/** The paths of requests, as often as they are chosen. */
const PATHS = [
  ...repeat("/chat/completions", 8),
  ...repeat("/messages", 4),
  ...repeat("/responses", 4),
  "/conversations",
] as const;
/** The outcomes of a generation whose response may be complete. */
const COMPLETE: ReadonlySet<string> = new Set(["completed", "open"]);
/** The most tokens of an answer besides its text. */
const MARGIN_TOKENS = 256;
const TURNS = 6;
const REMEMBERED = 40;
const NO_FAULTS: Faults = { store: 0, journal: 0 };
/** Makes a vendor end its answer with a broken connection. */
const BREAKS_OFF = { ...createSeededRandom(1), below: () => 0, oneIn: () => true };

const KEY_LIMIT = 900_000;
const DAILY_LIMIT = 800_000;
const MONTHLY_LIMIT = 1_100_000;
/** Prepaid accounts, and how far below zero they may go. */
const OVERDRAFTS: Readonly<Record<string, number>> = { user_a: 0, user_b: 1_500_000, org_a: 0, org_b: 0 };
const PREPAID = Object.keys(OVERDRAFTS);
const KEYS: readonly (readonly [string, string | null, number | null])[] = [
  [DEFAULT_ACCOUNT_ID, null, null],
  ["user_a", "user_a", null],
  ["user_b", "user_b", KEY_LIMIT],
  ["org_b", "user_a", null],
  ["org_a", null, null],
];

interface Limit {
  readonly name: string;
  readonly limit: number;
  /** Returns the sum that the row counts for; null if the limit does not apply to it. */
  meterOf(row: LimitRow): string | null;
}

const LIMITS: readonly Limit[] = [
  {
    name: "key's limit",
    limit: KEY_LIMIT,
    meterOf: ({ account_id, key_id }) => (account_id === "user_b" ? key_id : null),
  },
  {
    name: "member's daily limit",
    limit: DAILY_LIMIT,
    meterOf: ({ account_id, user_id, created_at }) =>
      account_id === "org_b" && user_id === "user_a" ? new Date(created_at).toISOString().slice(0, 10) : null,
  },
  {
    name: "organization's monthly limit",
    limit: MONTHLY_LIMIT,
    meterOf: ({ account_id, created_at }) =>
      account_id === "org_a" ? new Date(created_at).toISOString().slice(0, 7) : null,
  },
];

function presentAccount(id: string): AccountRecord {
  return {
    id,
    kind: id.startsWith("org_") ? "organization" : "user",
    name: id,
    overdraft: OVERDRAFTS[id] ?? 0,
    monthlyLimit: id === "org_a" ? MONTHLY_LIMIT : null,
    policy: OPEN_POLICY,
    rateLimit: null,
    plan: null,
    email: null,
    externalId: null,
    createdAt: 1,
    ...NO_KEY_DEFAULTS,
    closedAt: null,
  };
}

function describeGrant(id: string, to: string, amount: number, createdAt: number): Transfer {
  return { id, kind: "grant", from: PLATFORM_ACCOUNT, to, amount, createdAt, note: null, expiresAt: null };
}

function describeConfig(timers: (typeof TIMERS)[number]) {
  const models = {
    "vendor-a": ["acme/alone", "acme/pair", "acme/gift:free"],
    "vendor-b": ["acme/pair"],
  } as const;
  const providers = PROVIDERS.map((slug) => {
    const served = models[slug].map(
      (id) => `{id: "${id}", name: up, context_length: 32768, prices: ${describePrices(slug)}}`,
    );
    return `  ${slug}: {base_url: "http://${slug}.example/v1", api_keys: [key], models: [${served.join(", ")}]}`;
  });
  return checkConfig(
    `secrets: {keys: ["${MASTER_KEY}"]}\nlimits: {hold_tokens: ${HOLD_TOKENS}}\ntimers: ${JSON.stringify(timers)}\nproviders:\n${providers.join("\n")}\n`,
    "gateway.yaml",
    {},
  );
}

function createRandom(chance: SeededRandom): Random {
  return { bytes: (length) => Uint8Array.from({ length }, () => chance.below(256)) };
}
