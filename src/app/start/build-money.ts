import type { Log } from "../../base/failures/log.ts";
import type { StoreHealth } from "../../base/failures/store-health.ts";
import type { Clock } from "../../base/time/clock.ts";
import { BudgetWatch } from "../../core/extensions/budgets/budget-watch.ts";
import { HOLD_MARGIN_MS, Ledger } from "../../core/ledger/credits/ledger.ts";
import { MemoryHoldBook } from "../../core/ledger/holds/memory-hold-book.ts";
import { LeasedHoldBook } from "../../core/ledger/leases/leased-hold-book.ts";
import type { Journal } from "../../core/usage/journal/journal.ts";
import { Recorder } from "../../core/usage/journal/recorder.ts";
import { TimesRecorder } from "../../core/usage/reports/times-recorder.ts";
import type { Config } from "../config/config-schema.ts";
import type { JoinedGateways } from "../several/join-gateways.ts";
import { logQuarantined } from "../stores/log-quarantined.ts";
import { createOutageLog, type OutageLog } from "../stores/outage-log.ts";
import type { Stores } from "../stores/stores.ts";

/** How long a hold waits for other gateways if these get no notifications, and notice the change at their next reading. Milliseconds. */
const UNNOTIFIED_WAIT_MS = 700;

/** The stores of records and money. */
interface MoneySource {
  readonly config: Config;
  readonly platform: { readonly clock: Clock; readonly log: Log };
  readonly stores: Stores;
  readonly journal: Journal;
  readonly gateways: JoinedGateways;
  readonly health: StoreHealth;
}

/** The parts that write records and move money. */
export interface Money {
  readonly recorder: Recorder;
  readonly recordOutage: OutageLog;
  readonly ledger: Ledger;
  readonly usageTimes: TimesRecorder;
  readonly budgetWatch: BudgetWatch;
}

/** Builds the parts that write records and move money. */
export function buildMoney(source: MoneySource): Money {
  const {
    config,
    platform: { clock, log },
    stores,
    journal,
    gateways,
  } = source;
  const leased = buildLeasedBook(source);
  const recordOutage = createOutageLog({
    log,
    clock,
    failureEvent: "the store rejects records; they wait in the journal",
    recoveryEvent: "records are stored again",
  });
  const usageTimes = new TimesRecorder({ store: stores.usage, clock });
  const recorder = new Recorder({
    journal,
    store: stores.usage,
    clock,
    maxJournalBytes: config.limits.journal_bytes,
    onStoreError(error) {
      recordOutage.failed(error);
      gateways.noticeFailure(error);
    },
    onQuarantined(quarantined) {
      logQuarantined(quarantined, log);
      ledger.takeBack(quarantined.record);
    },
    onSaved(saved, ids) {
      usageTimes.add(saved);
      leased?.saved(ids);
    },
  });
  const budgetWatch = new BudgetWatch({ store: stores.budgets, teams: stores.teams, clock });
  const ledger = new Ledger({
    store: stores.ledger,
    holdBook: leased ?? buildMemoryBook(source, recorder),
    recorder,
    clock,
    holdMs: config.timers.total_ms + HOLD_MARGIN_MS,
    onBudgetRefused: (budgets, id, spender) => budgetWatch.refused(budgets, id, spender),
  });
  return { recorder, recordOutage, ledger, usageTimes, budgetWatch };
}

function buildMemoryBook({ stores, health }: MoneySource, recorder: Recorder): MemoryHoldBook {
  return new MemoryHoldBook({
    store: {
      findBalance: (accountId) => health.lookup(() => stores.ledger.findBalance(accountId)),
      sumSpending: (query) => health.lookup(() => stores.ledger.sumSpending(query)),
      listCreditChanges: (cursor, limit) => stores.ledger.listCreditChanges(cursor, limit),
    },
    drain: () => health.lookup(() => recorder.drain()),
  });
}

/** Returns the hold book of a gateway that shares balances; null for the only gateway of its stores. */
function buildLeasedBook(source: MoneySource): LeasedHoldBook | null {
  const { config, platform, stores, gateways, health } = source;
  const { moneyLeases } = stores;
  if (moneyLeases === null) return null;
  return new LeasedHoldBook({
    leases: {
      borrow: (order) => health.lookup(() => moneyLeases.borrow(order)),
      giveBack: (order) => moneyLeases.giveBack(order),
      listWanted: () => moneyLeases.listWanted(),
      listLeases: () => moneyLeases.listLeases(),
    },
    store: {
      findBalance: (accountId) => health.lookup(() => stores.ledger.findBalance(accountId)),
      listCreditChanges: (cursor, limit) => stores.ledger.listCreditChanges(cursor, limit),
    },
    clock: platform.clock,
    horizonMs: config.storage.max_staleness_ms,
    onFailure: gateways.noticeFailure,
    ...(config.database.pooled ? { waitMs: UNNOTIFIED_WAIT_MS } : {}),
  });
}
