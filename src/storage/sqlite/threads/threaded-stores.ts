import { StoreError } from "../../../base/failures/store-error.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { SqliteStores } from "../stores.ts";
import { CALLS, type ChangeMethod, type Lane, type LaneCall } from "./lanes.ts";
import {
  ChangedMeanwhileError,
  type StartStoreThread,
  StoreThread,
  type StoreThreadLimits,
} from "./store-thread.ts";

/** The dependencies of stores in threads. */
interface ThreadedStoresParts {
  readonly dataDir: string;
  /** Measures how long callers wait. */
  readonly clock: Clock;
  readonly start: StartStoreThread;
}

/** Stores whose statements run in threads. */
export interface ThreadedStores {
  readonly stores: SqliteStores;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;

const MEGABYTE = 1024 * 1024;

/** The bounds of the threads. A lane with few callers has a thread, and pages in memory, only while it is used. */
const LIMITS: Readonly<Record<Lane, StoreThreadLimits>> = {
  write: { sent: 32, waiting: 1_000, waitMs: 20_000, cacheBytes: 2 * MEGABYTE, idleMs: null },
  lookup: { sent: 32, waiting: 2_000, waitMs: 10_000, cacheBytes: 2 * MEGABYTE, idleMs: null },
  list: { sent: 1, waiting: 200, waitMs: 20_000, cacheBytes: 8 * MEGABYTE, idleMs: MINUTE_MS },
  report: { sent: 1, waiting: 100, waitMs: 5 * MINUTE_MS, cacheBytes: 64 * MEGABYTE, idleMs: MINUTE_MS },
  check: { sent: 1, waiting: 10, waitMs: 30 * MINUTE_MS, cacheBytes: 64 * MEGABYTE, idleMs: MINUTE_MS },
  // Few are sent, because each may have megabytes. It stays for a while, because requests wait for it.
  responses: { sent: 4, waiting: 200, waitMs: 10_000, cacheBytes: 16 * MEGABYTE, idleMs: 10 * MINUTE_MS },
};

/** How often a change is tried again because the record was changed since it was read. */
const MAX_TRIES = 20;

/** Creates the stores of a data directory, whose databases must have the tables of this version. */
export function createThreadedStores({ dataDir, clock, start }: ThreadedStoresParts): ThreadedStores {
  const threads = new Map<Lane, StoreThread>(
    Object.entries(LIMITS).map(([name, limits]) => {
      const task = name === "write" || name === "responses" ? name : "read";
      return [name as Lane, new StoreThread({ dataDir, task, limits, clock, start })];
    }),
  );
  const own = (lane: Lane) => threads.get(lane) as StoreThread;
  const lookup = withStandIn(own("lookup"), own("write"));
  const threadOf: ThreadOf = (lane) => (lane === "lookup" ? lookup : own(lane));
  const stores = Object.entries(CALLS).map(([store, calls]) => [store, createStore(store, calls, threadOf)]);
  return {
    stores: Object.fromEntries(stores) as unknown as SqliteStores,
    async close() {
      const { write, ...others } = Object.fromEntries(threads) as Record<Lane, StoreThread>;
      await Promise.all(Object.values(others).map((other) => other.close()));
      // The last connection writes the rest of the write-ahead log into the database.
      await write.close();
    },
  };
}

/**
 * Calls a thread, or, until it is needed, another one that is idle: a start makes one call after another, and each thread takes a tenth of
 * its time.
 */
function withStandIn(thread: StoreThread, standIn: StoreThread): Caller {
  return { call: (call) => (thread.isStarted || standIn.isBusy ? thread : standIn).call(call) };
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;
type Caller = Pick<StoreThread, "call">;
type ThreadOf = (lane: Lane) => Caller;

function createStore(
  store: string,
  calls: Readonly<Record<string, LaneCall>>,
  threadOf: ThreadOf,
): Readonly<Record<string, Method>> {
  const methods = Object.entries(calls).map(([method, call]): [string, Method] => {
    if (typeof call !== "string") return [method, createChange(store, method, call, threadOf("write"))];
    const thread = threadOf(call);
    return [method, (...args) => thread.call({ store, method, args })];
  });
  return Object.fromEntries(methods);
}

/** Returns a method that changes a record by a function, and repeats that as often as another change comes in between. */
function createChange(store: string, method: string, { find }: ChangeMethod, thread: Caller): Method {
  return async (id, change) => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await thread.call({ store, method: find, args: [id] });
      const after = before === null ? null : (change as (record: unknown) => unknown)(before);
      try {
        return await thread.call({ store, method, args: [id, before, after] });
      } catch (error) {
        if (!(error instanceof ChangedMeanwhileError)) throw error;
      }
    }
    throw new StoreError(`the record was changed ${MAX_TRIES} times while it was changed`);
  };
}
