import { resolve } from "node:path";
import type { Log } from "../../base/failures/log.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { RegisteredGateway } from "../../core/gateways/gateway-registry.ts";
import { listDamagedLines } from "../../storage/journal/damaged-lines.ts";
import { journalDirOf, type Stores } from "../stores/stores.ts";
import { logDamagedLines, logRecovery } from "./log-recovery.ts";
import { type TakenOver, takeOver } from "./take-over.ts";

/** How often gateways that are gone are looked for. Milliseconds. */
const PERIOD_MS = 10_000;
/** The maximum number of gateways that are taken over in one round: each may have a large journal. */
const MAX_AT_ONCE = 5;

/** The dependencies of takeovers. */
interface TakeOverParts {
  readonly stores: Pick<Stores, "gateways" | "usageOf" | "audit" | "clock" | "isShared">;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this gateway is the leading one. */
  readonly isLeader: () => Promise<boolean>;
  /** The data directory of this gateway. */
  readonly dataDir: string;
  /** Ends the responses of gateways that are not among these. */
  readonly endResponses: (live: ReadonlySet<string>) => Promise<unknown>;
  /** Gateways that were taken over except for journal entries that this version cannot read. They are not tried again. */
  readonly unfinished: Set<string>;
}

/**
 * Ends the responses of gateways that are gone, and takes over the journals of those whose data directories are on this machine, for example
 * on a shared volume.
 */
export function takeOverRegularly(options: Omit<TakeOverParts, "unfinished">): Timer {
  const parts = { ...options, unfinished: new Set<string>() };
  const { stores, clock, log } = parts;
  if (!stores.isShared) return { cancel() {} };
  let isRunning = false;
  return clock.every(PERIOD_MS, async () => {
    if (isRunning) return;
    isRunning = true;
    // Both are tried again in the next round, by this gateway or another.
    await takeOverAll(parts).catch((error) =>
      log.warn("a gateway that is gone could not be taken over; it is tried again", {
        detail: String(error),
      }),
    );
    await endLostResponses(parts).catch((error) =>
      log.warn("the responses of a gateway that is gone could not be ended; it is tried again", {
        detail: String(error),
      }),
    );
    isRunning = false;
  });
}

/** Ends the responses of all gateways that are gone, wherever their journals are: clients may wait for them at other gateways. */
export async function endLostResponses({
  stores,
  isLeader,
  endResponses,
}: Pick<TakeOverParts, "stores" | "isLeader" | "endResponses">): Promise<void> {
  if (!(await isLeader())) return;
  const live = (await stores.gateways.list()).filter(({ isLive }) => isLive);
  await endResponses(new Set(live.map(({ id }) => id)));
}

/** Takes over the gateways that can be taken over now, up to a maximum. Does nothing at a gateway that is not the leading one. */
export async function takeOverAll(parts: TakeOverParts): Promise<void> {
  const { stores, dataDir, isLeader, unfinished } = parts;
  if (!(await isLeader())) return;
  const gone = (await stores.gateways.list()).filter(
    (one) => !one.isLive && one.dataDir !== resolve(dataDir) && !unfinished.has(one.id),
  );
  let taken = 0;
  for (const one of gone) {
    if (taken === MAX_AT_ONCE) return;
    const result = await takeOver({ stores, gone: one, action: "gateway takeover" });
    if (result === null) continue;
    taken += 1;
    if (result.released === null) unfinished.add(one.id);
    logTakeOver(parts.log, one, result);
  }
}

function logTakeOver(log: Log, { id, dataDir }: RegisteredGateway, taken: TakenOver): void {
  const { released } = taken;
  log.warn("took over the journal of a gateway that is gone", {
    gateway_id: id,
    data_dir: dataDir,
    leases_released: released?.length ?? 0,
  });
  logRecovery(taken.recovery, log);
  logDamagedLines(listDamagedLines(journalDirOf(dataDir)), log);
}
