import { hostname } from "node:os";
import type { GatewayIdentity } from "../../core/gateways/gateway-identity.ts";
import type { RegisteredGateway, ReleasedLease } from "../../core/gateways/gateway-registry.ts";
import type { Journal } from "../../core/usage/journal/journal.ts";
import { type Recovery, recoverUsage } from "../../core/usage/journal/recover-usage.ts";
import { openFileJournal } from "../../storage/journal/file-journal.ts";
import { isDataDirLocked, lockLeftDataDir } from "../../storage/sqlite/connection/data-lock.ts";
import { journalDirOf, type Stores } from "../stores/stores.ts";

/** The stores that a takeover uses. */
type TakeOverStores = Pick<Stores, "gateways" | "usageOf" | "audit" | "clock">;

/** The gateway to take over, and the gateway that does it. */
interface TakeOver {
  readonly stores: TakeOverStores;
  readonly gone: RegisteredGateway;
  /** The action of the audit entry. */
  readonly action: string;
}

/** The result of a takeover. */
export interface TakenOver {
  readonly recovery: Recovery;
  /** Whether the journal of the gateway was found. Without it, its unsaved costs are lost. */
  readonly hadJournal: boolean;
  /** Changes of resources whose outcome is unknown. */
  readonly changes: number;
  /** Null if the leases stay, because the journal has entries that this version cannot read. */
  readonly released: readonly ReleasedLease[] | null;
}

/**
 * Takes a gateway over that is gone. Does what it would do at its next start, and ends it: saves its journal if its data directory is on
 * this machine, ends its open records, and gives its leases back. Its process can write nothing any more, if it still exists. Returns null
 * if the gateway is live, if a process uses its data directory, or if another process takes it over.
 * @throws GatewayReplacedError if another process takes it over meanwhile.
 */
export async function takeOver(task: TakeOver): Promise<TakenOver | null> {
  const { id, dataDir } = task.gone;
  const lock = lockLeftDataDir(dataDir, id);
  if (lock === null) return null;
  const journal = openFileJournal(journalDirOf(dataDir));
  try {
    return await settle(task, journal);
  } finally {
    journal.close();
    lock.release();
  }
}

/**
 * Like `takeOver`, for a gateway whose disk is lost: its open records end as interrupted, with the progress that they recorded in the
 * database.
 */
export function giveUpJournal(task: TakeOver): Promise<TakenOver | null> {
  return settle(task, null);
}

/** Returns whether a process of this machine has the data directory of a gateway that ran here. It may be paused and wake up. */
export function isStillHere({ dataDir, host }: Pick<RegisteredGateway, "dataDir" | "host">): boolean {
  return host === hostname() && isDataDirLocked(dataDir);
}

async function settle(task: TakeOver, journal: Journal | null): Promise<TakenOver | null> {
  const { stores, gone } = task;
  const { gateways, audit, clock } = stores;
  const identity = await gateways.takeOver(gone);
  if (identity === null) return null;
  const store = stores.usageOf(identity);
  const now = clock.now();
  const recovery = await recoverUsage({ journal: journal ?? NO_JOURNAL, store, gatewayId: gone.id, now });
  const changes = await audit.settleChanges(gone.id);
  const isWhole = recovery.unknown.length === 0;
  const released = isWhole ? await releaseAll(stores, identity) : null;
  const taken = { recovery, hadJournal: journal !== null, changes, released };
  await record(task, taken);
  if (isWhole) await gateways.end(identity);
  return taken;
}

async function releaseAll(
  { gateways }: Pick<TakeOverStores, "gateways">,
  identity: GatewayIdentity,
): Promise<ReleasedLease[]> {
  const all: ReleasedLease[] = [];
  for (;;) {
    const released = await gateways.releaseLeases(identity);
    if (released === null) return all;
    all.push(...released);
  }
}

async function record({ stores, gone, action }: TakeOver, taken: TakenOver): Promise<void> {
  const { recovery, hadJournal, released } = taken;
  await stores.audit.appendAudit({
    at: stores.clock.now(),
    keyId: null,
    userId: null,
    requestId: null,
    accountId: null,
    action,
    target: gone.id,
    changes: {
      journal: hadJournal ? "saved" : "given up",
      records_saved: recovery.brought,
      records_interrupted: recovery.interrupted,
      leases_released: released?.length ?? 0,
      nanodollars_released: sumOfBalances(released ?? []),
    },
  });
}

/** Returns the released amount of balances, in nanodollars. Leases of limits are about the same money. */
export function sumOfBalances(released: readonly ReleasedLease[]): number {
  return released.reduce((sum, { limit, amount }) => (limit === null ? sum + amount : sum), 0);
}

/** The journal of a gateway whose disk is lost. */
const NO_JOURNAL: Journal = {
  append: () => 0,
  flush() {},
  read: () => null,
  size: () => 0,
  mark: () => 0,
  release() {},
  recover: () => [],
  skipped() {},
  close() {},
};
