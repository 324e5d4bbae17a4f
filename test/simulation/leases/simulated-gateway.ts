import { StoreError } from "../../../src/base/failures/store-error.ts";
import type { HoldRequest, HoldVerdict } from "../../../src/core/ledger/holds/hold-book.ts";
import { LeasedHoldBook } from "../../../src/core/ledger/leases/leased-hold-book.ts";
import type { MoneyLeases } from "../../../src/core/ledger/leases/money-leases.ts";
import type { SimulatedNetwork } from "./network.ts";
import { type Scheduler, SimulatedProcess } from "./scheduler.ts";
import type { SharedLedger, SimulatedRecord } from "./shared-ledger.ts";

const SAVE_MS = 100;
const REFRESH_MS = 1_000;
const HOLD_MS = 120_000;

/** What a gateway runs in. */
export interface GatewayPlace {
  readonly id: string;
  readonly scheduler: Scheduler;
  readonly network: SimulatedNetwork;
  readonly ledger: SharedLedger;
  /** For how long its leases should suffice. */
  readonly horizonMs: number;
  readonly skewMs: number;
  /** The journal's file: the latest version of each record that the database may not have. It survives the process. */
  readonly journal: Map<string, SimulatedRecord>;
}

/** A request of a client. Amounts are nanodollars. */
export interface SimulatedRequest extends Pick<HoldRequest, "id" | "accountId" | "overdraft" | "limits"> {
  readonly amount: number;
  readonly least: number;
  readonly most: number;
  /** What it costs in the end, as far as it is held. */
  readonly cost: number;
  /** How long it runs. Milliseconds. */
  readonly lastsMs: number;
}

export type Outcome = HoldVerdict["kind"] | "unavailable";

/** One start of a gateway: a hold book, a recorder in small, and the generations that it runs. */
export class SimulatedGateway {
  readonly process: SimulatedProcess;
  readonly book: LeasedHoldBook;
  private isSaving = false;
  private isScheduled = false;
  private isStarted = false;

  private constructor(
    private readonly place: GatewayPlace,
    private readonly epoch: number,
    leases: MoneyLeases,
  ) {
    const { scheduler, network, ledger, skewMs } = place;
    this.process = new SimulatedProcess(scheduler, skewMs);
    const call = <T>(work: () => T | Promise<T>): Promise<T> => network.call(this.process, work);
    this.book = new LeasedHoldBook({
      leases: {
        borrow: (order) => call(() => leases.borrow(order)),
        giveBack: (order) => call(() => leases.giveBack(order)),
        listWanted: () => call(() => leases.listWanted()),
        listLeases: () => call(() => leases.listLeases()),
      },
      store: {
        findBalance: (accountId) => call(() => ledger.findBalance(accountId)),
        listCreditChanges: (cursor) => call(() => ledger.listCreditChanges(cursor)),
      },
      clock: this.process.clock,
      horizonMs: place.horizonMs,
    });
  }

  /** Starts a gateway, which recovers its journal before its first request. */
  static start(place: GatewayPlace): SimulatedGateway {
    const leases = place.ledger.bank.register(place.id);
    const gateway = new SimulatedGateway(place, place.ledger.bank.epochOf(place.id), leases);
    recoverJournal(place.journal);
    void gateway.begin();
    return gateway;
  }

  get isServing(): boolean {
    return this.isStarted && this.process.isRunning;
  }

  /** Serves a request; resolves when its hold is taken or not. */
  async serve(request: SimulatedRequest): Promise<Outcome> {
    const { amount, least, most, id, accountId, overdraft, limits } = request;
    const expiresAt = this.process.clock.now() + HOLD_MS;
    const hold = { id, accountId, overdraft, limits, amount, least, most, expiresAt };
    let verdict: HoldVerdict;
    try {
      verdict = await this.book.hold(hold);
    } catch (error) {
      if (error instanceof StoreError) return "unavailable";
      throw error;
    }
    if (verdict.kind === "held") this.run(request, verdict);
    return verdict.kind;
  }

  /** Reads what others have changed, as at intervals and after a notification. */
  refresh(): void {
    this.process.deliver(() => void this.book.refresh(this.process.clock.now()).catch(() => {}));
  }

  private async begin(): Promise<void> {
    const { clock } = this.process;
    // Everything that an earlier process spent is saved before its leases are read.
    if (this.place.journal.size > 0 && !(await this.save())) {
      clock.after(SAVE_MS, () => void this.begin());
      return;
    }
    try {
      await this.book.start();
    } catch {
      clock.after(SAVE_MS, () => void this.begin());
      return;
    }
    this.isStarted = true;
    clock.every(REFRESH_MS, () => this.refresh());
  }

  private run(
    request: SimulatedRequest,
    { amount, leasedFrom }: Extract<HoldVerdict, { kind: "held" }>,
  ): void {
    const { journal } = this.place;
    const { id, accountId, limits, cost, lastsMs } = request;
    const record = { id, accountId, limits, leasedFrom };
    let held = amount;
    const write = (cost: number | null): void => {
      journal.set(id, { ...record, held, cost });
      this.scheduleSave();
    };
    write(null);
    // Streams grow twice, the rest grows at its end.
    for (const share of [1 / 3, 2 / 3])
      this.process.clock.after(lastsMs * share, () => {
        held = this.book.grow(id, Math.ceil(cost * share));
        write(null);
      });
    this.process.clock.after(lastsMs, async () => {
      held = await this.book.growSoon(id, cost);
      const charged = Math.min(cost, held);
      write(charged);
      this.book.settle(id, charged);
    });
  }

  private scheduleSave(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.process.clock.after(SAVE_MS, async () => {
      this.isScheduled = false;
      await this.save();
      if (this.place.journal.values().some(({ cost }) => cost !== null)) this.scheduleSave();
    });
  }

  /** Saves the journal. Returns whether the database has all of it. */
  private async save(): Promise<boolean> {
    const { network, ledger, journal, id } = this.place;
    if (this.isSaving || journal.size === 0) return false;
    this.isSaving = true;
    const group = [...journal.values()];
    try {
      await network.call(this.process, () => ledger.save(id, this.epoch, group));
    } catch {
      return false;
    } finally {
      this.isSaving = false;
    }
    const saved = group.filter((record) => journal.get(record.id) === record && record.cost !== null);
    for (const record of saved) journal.delete(record.id);
    this.book.saved(saved.map((record) => record.id));
    return journal.values().every(({ cost }) => cost === null);
  }
}

/** Ends the open records of a process that is gone, with what was held for them at most. */
export function recoverJournal(journal: Map<string, SimulatedRecord>): void {
  for (const record of journal.values())
    if (record.cost === null) journal.set(record.id, { ...record, cost: Math.floor(record.held / 2) });
}
