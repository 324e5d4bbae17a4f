import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../src/base/failures/store-error.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import type { SqliteStores } from "../../src/storage/sqlite/stores.ts";
import type { ThreadMessage } from "../../src/storage/sqlite/threads/messages.ts";
import { startStoreWorker } from "../../src/storage/sqlite/threads/start-store-worker.ts";
import { StoreThread, type StoreThreadEvents } from "../../src/storage/sqlite/threads/store-thread.ts";
import {
  createThreadedStores,
  type ThreadedStores,
} from "../../src/storage/sqlite/threads/threaded-stores.ts";
import { startInlineThread } from "../support/databases/inline-store-thread.ts";
import { copyMigratedDatabase } from "../support/databases/sqlite-template.ts";
import { turnEventLoop, waitFor } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock } from "../support/test-clock.ts";
import { testAccountStore } from "./contracts/account-store.ts";
import { testAuditStore } from "./contracts/audit-store.ts";
import { testConcurrentWriters } from "./contracts/concurrent-writers.ts";
import { testConfigStore } from "./contracts/config-store.ts";
import { testConsoleSessionStore } from "./contracts/console-session-store.ts";
import { testDrainStore } from "./contracts/drain-store.ts";
import { testHealthHistoryStore } from "./contracts/health-history-store.ts";
import { testIdentityStore } from "./contracts/identity-store.ts";
import { testInvitationStore } from "./contracts/invitation-store.ts";
import { testKeyStore } from "./contracts/key-store.ts";
import { testBudgetStore } from "./contracts/money/budget-store.ts";
import { testHourlyUsage } from "./contracts/money/hourly-usage.ts";
import { testLedgerStore } from "./contracts/money/ledger-store.ts";
import { testUsageStore } from "./contracts/money/usage-store.ts";
import { testNamedRouteStore } from "./contracts/named-route-store.ts";
import { testPromptLogStore } from "./contracts/prompt-log-store.ts";
import { testProviderKeyStore } from "./contracts/provider-key-store.ts";
import { testRejectionStore } from "./contracts/rejection-store.ts";
import { testResponseStore } from "./contracts/response-store.ts";
import { testSettingsStore } from "./contracts/settings-store.ts";
import { testStoredResponseStore } from "./contracts/stored-response-store.ts";
import { testTeamStore } from "./contracts/team-store.ts";

let dataDir: string;
let opened: ThreadedStores[];
beforeEach(() => {
  dataDir = makeTempFolder("gateway-threads-");
  copyMigratedDatabase(dataDir);
  opened = [];
});
afterEach(async () => {
  for (const stores of opened) await stores.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function open(start = startInlineThread): SqliteStores {
  const threaded = createThreadedStores({ dataDir, clock: systemClock, start });
  opened.push(threaded);
  const { settings } = threaded.stores;
  // The second call finds the thread that writes busy, so that look-ups get their own, whose connection only reads.
  for (const name of ["one", "other"]) settings.findSetting(name).catch(() => {});
  return threaded.stores;
}

describe("SQLite behind threads", () => {
  testAccountStore(() => open().accounts);
  testKeyStore(() => open().keys);
  testInvitationStore(() => open());
  testTeamStore(() => open());
  testProviderKeyStore(() => open().providerKeys);
  testPromptLogStore(() => open().promptLog);
  testRejectionStore(() => open().rejections);
  testResponseStore(() => open().responses);
  testSettingsStore(() => open().settings);
  testConfigStore(() => open().config);
  testDrainStore(() => open().drains);
  testHealthHistoryStore(() => open().healthHistory);
  testNamedRouteStore(() => open().namedRoutes);
  testUsageStore(() => open().usage);
  testLedgerStore(() => open());
  testConcurrentWriters(() => open());
  testHourlyUsage(() => {
    const stores = open();
    return {
      ...stores,
      async run(text) {
        const database = openDatabase(dataDir);
        database.exec(text);
        database.close();
      },
      reopen: () => open().usage,
    };
  });
  testBudgetStore(() => open());
  testAuditStore(() => open().audit);
  testConsoleSessionStore(() => {
    const { consoleSessions, keys } = open();
    return { sessions: consoleSessions, keys };
  });
  testIdentityStore(() => open().identities);
  testStoredResponseStore(() => open().answers);
});

describe("SQLite in real threads", () => {
  test("a setting that one thread has written is what the thread of look-ups reads", async () => {
    const { settings } = open(startStoreWorker);
    await settings.putSetting("name", "value");
    expect(await settings.findSetting("name")).toBe("value");
  });

  test("calls that follow each other need one thread, and a look-up beside a change has its own", async () => {
    let started = 0;
    const threaded = createThreadedStores({
      dataDir,
      clock: systemClock,
      start(events) {
        started += 1;
        return startInlineThread(events);
      },
    });
    opened.push(threaded);
    const { settings } = threaded.stores;
    await settings.putSetting("one", "a");
    expect(await settings.findSetting("one")).toBe("a");
    expect(started).toBe(1);
    await Promise.all([settings.putSetting("one", "b"), settings.findSetting("one")]);
    expect(started).toBe(2);
    expect(await settings.findSetting("one")).toBe("b");
  });

  test("two changes of an account at the same time are both kept", async () => {
    const { accounts } = open(startStoreWorker);
    await Promise.all([
      accounts.changeAccount("acct_default", (account) => ({ ...account, name: `${account.name} a` })),
      accounts.changeAccount("acct_default", (account) => ({ ...account, overdraft: 7 })),
    ]);
    expect(await accounts.findAccount("acct_default")).toMatchObject({ name: "default a", overdraft: 7 });
  });

  test("calls fail with the reason if the file is no database", async () => {
    await Bun.write(
      join(dataDir, "gateway.db"),
      "not a database, but a text that is longer than its header would be. ".repeat(9),
    );
    const { settings } = open(startStoreWorker);
    const failure = await settings.findSetting("name").catch((error: unknown) => error);
    expect(String(failure)).toContain("file is not a database");
  });
});

describe("a thread of SQLite", () => {
  const LIMITS = { sent: 2, waiting: 2, waitMs: 1_000, cacheBytes: 0, idleMs: 60_000 };

  /** A thread that answers when the test says so. */
  function createSite(limits: Partial<typeof LIMITS> = {}) {
    const clock = createTestClock();
    const started: { events: StoreThreadEvents; messages: ThreadMessage[]; isStopped: boolean }[] = [];
    const thread = new StoreThread({
      dataDir: "nowhere",
      task: "read",
      limits: { ...LIMITS, ...limits },
      clock,
      start(events) {
        const one = { events, messages: [] as ThreadMessage[], isStopped: false };
        started.push(one);
        return {
          post: (message) => void one.messages.push(message),
          hold() {},
          stop() {
            one.isStopped = true;
          },
        };
      },
    });
    const call = (method = "findSetting") => {
      const promise = thread.call({ store: "settings", method, args: [] });
      return promise.catch((error: unknown) => (error instanceof StoreError ? error.message : "unknown"));
    };
    const calls = () => started.at(-1)?.messages.filter(({ kind }) => kind === "call") ?? [];
    return { clock, thread, started, call, calls };
  }

  test("sends a bounded number of calls, and the next one when it has answered", async () => {
    const { call, calls, started } = createSite();
    const results = ["a", "b", "c"].map((method) => call(method));
    expect(calls()).toHaveLength(2);
    started[0]?.events.onAnswer({ kind: "result", id: 1, result: "first" });
    expect(await results[0]).toBe("first");
    expect(calls().map((message) => (message.kind === "call" ? message.method : ""))).toEqual([
      "a",
      "b",
      "c",
    ]);
  });

  test("fails further calls at once if enough wait", async () => {
    const { call } = createSite();
    for (let i = 0; i < 4; i++) void call();
    expect(await call()).toBe("the store failed: 2 calls wait for it already");
  });

  test("gives up calls after a time, and never sends those that waited", async () => {
    const { call, calls, clock, started } = createSite();
    const results = [call(), call(), call()];
    clock.advance(1_000);
    const late = "the store failed: it has not answered for 1000 ms";
    expect(await Promise.all(results)).toEqual([late, late, late]);
    started[0]?.events.onAnswer({ kind: "result", id: 1, result: null });
    expect(calls()).toHaveLength(2);
  });

  test("that ends by itself fails its calls, and is started again after a pause", async () => {
    const { call, clock, started } = createSite();
    const results = [call(), call(), call()];
    started[0]?.events.onBroken("its thread has ended");
    const ended = "the store failed: its thread has ended";
    expect(await Promise.all(results)).toEqual([ended, ended, ended]);
    expect(await call()).toContain("is started again");
    expect(started).toHaveLength(1);
    clock.advance(1_000);
    void call();
    expect(started).toHaveLength(2);
  });

  test("closes its database when it has been idle, and a later call starts another one", async () => {
    const { call, clock, started } = createSite();
    const result = call();
    started[0]?.events.onAnswer({ kind: "result", id: 1, result: null });
    await result;
    clock.advance(60_000);
    expect(started[0]?.messages.at(-1)).toEqual({ kind: "close" });
    void call();
    expect(started).toHaveLength(2);
  });

  test("is ended after five seconds if it does not close its database", async () => {
    const { call, clock, started, thread } = createSite({ waitMs: 60_000 });
    const result = call();
    const closing = thread.close();
    clock.advance(5_000);
    await closing;
    expect(started[0]?.isStopped).toBe(true);
    expect(await result).toBe("the store failed: it is closed");
  });

  test("of a gateway that crashes becomes a failed call, and the next calls are answered", async () => {
    const workers: Worker[] = [];
    const clock = createTestClock();
    const { stores, close } = createThreadedStores({
      dataDir,
      clock,
      start(events) {
        const worker = new Worker(new URL("../support/databases/crashing-worker.ts", import.meta.url));
        workers.push(worker);
        if (workers.length > 1) {
          worker.terminate();
          return startStoreWorker(events);
        }
        worker.onerror = ({ message }) => events.onBroken(message);
        return { post: (message) => worker.postMessage(message), hold() {}, stop: () => worker.terminate() };
      },
    });
    const failure = await stores.settings.findSetting("name").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    clock.advance(1_000);
    const found = await waitFor(async () => stores.settings.findSetting("name").then(String, () => null));
    expect(found).toBe("null");
    await turnEventLoop();
    await close();
  });
});
