import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { DAY_MS } from "../../src/base/time/time.ts";
import type { InferencePrincipal } from "../../src/core/accounts/records/principal.ts";
import { type AccountRecord, NO_KEY_DEFAULTS, OPEN_POLICY } from "../../src/core/accounts/records/records.ts";
import { Ledger } from "../../src/core/ledger/credits/ledger.ts";
import { MemoryHoldBook } from "../../src/core/ledger/holds/memory-hold-book.ts";
import type { LedgerStore } from "../../src/core/ledger/records/ledger-store.ts";
import { PLATFORM_ACCOUNT } from "../../src/core/ledger/records/records.ts";
import { openDatabase } from "../../src/storage/sqlite/connection/database.ts";
import { SqliteLedgerStore } from "../../src/storage/sqlite/ledger/ledger-store.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

let dir: string;
let database: Database;
let store: LedgerStore;
let clock: TestClock;
let ledger: Ledger;

beforeEach(() => {
  dir = makeTempFolder("gateway-expiry-");
  database = openDatabase(dir);
  store = new SqliteLedgerStore(database);
  clock = createTestClock();
  ledger = openLedger();
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

function openLedger(): Ledger {
  const holdBook = new MemoryHoldBook({ store, drain: async () => {} });
  return new Ledger({ store, holdBook, recorder: { drain: async () => {} }, clock, holdMs: 3_600_000 });
}

const account: AccountRecord = {
  id: "user_a",
  kind: "user",
  name: "a",
  overdraft: 0,
  monthlyLimit: null,
  policy: OPEN_POLICY,
  rateLimit: null,
  plan: null,
  email: null,
  externalId: null,
  createdAt: 0,
  ...NO_KEY_DEFAULTS,
  closedAt: null,
};
const principal = {
  kind: "key",
  key: { spendLimit: null, spendLimitPeriod: null },
  account,
  member: null,
} as Extract<InferencePrincipal, { kind: "key" }>;

const SPENDER = { accountId: "user_a", keyId: null, userId: "user_a", createdAt: 0 };

function give(id: string, amount: number, days: number | null, to = "user_a"): Promise<boolean> {
  const expiresAt = days === null ? null : clock.now() + days * DAY_MS;
  const rest = { createdAt: clock.now(), note: null, expiresAt };
  return ledger.transfer({ id, kind: "grant", from: PLATFORM_ACCOUNT, to, amount, ...rest });
}

async function hold(id: string, amount: number): Promise<string> {
  const cost = { least: amount, expected: amount, most: amount };
  return (await ledger.hold(principal, { id, ...SPENDER }, cost)).kind;
}

/** Settles a generation: its cost is in the store, and its hold is released. */
async function settle(id: string, cost: number): Promise<void> {
  const rest = { createdAt: clock.now(), note: null, expiresAt: null };
  await store.addTransfer({ id, kind: "usage", from: "user_a", to: PLATFORM_ACCOUNT, amount: cost, ...rest });
  ledger.settle(id, cost);
}

test("only a request that runs when a grant expires may still spend it, and the balance stays above zero", async () => {
  await give("short", 100, 1);
  await give("long", 30, null);
  expect(await hold("gen_1", 80)).toBe("held");
  clock.leap(DAY_MS);
  await ledger.expireGrants();
  expect((await ledger.balanceOf("user_a")).balance).toBe(130);
  expect(await hold("gen_2", 10)).toBe("refused");
  await settle("gen_1", 70);
  await ledger.expireGrants();
  expect(await ledger.balanceOf("user_a")).toEqual({ balance: 30, held: 0 });
  expect(await store.findTransfer("expiry:short")).toMatchObject({ amount: 30, kind: "expiry" });
  expect(await hold("gen_2", 30)).toBe("held");
  await settle("gen_2", 30);
  expect(ledger.holds()).toEqual([]);
  expect(await store.findDifferences()).toEqual([]);
});

test("what a generation has spent of an expired grant is not taken back if it ends while the grant is", async () => {
  /** Costs that the journal has and the store does not. */
  const unsaved: Parameters<LedgerStore["addTransfer"]>[0][] = [];
  const drain = async () => {
    for (const transfer of unsaved.splice(0)) await store.addTransfer(transfer);
  };
  const plain = store;
  store = Object.assign(Object.create(plain) as LedgerStore, {
    async findGrantsLeft(accountId: string) {
      const left = await plain.findGrantsLeft(accountId);
      unsaved.push({
        ...{ id: "gen_1", kind: "usage", from: "user_a", to: PLATFORM_ACCOUNT, amount: 70 },
        ...{ createdAt: clock.now(), note: null, expiresAt: null },
      });
      ledger.settle("gen_1", 70);
      return left;
    },
  });
  const holdBook = new MemoryHoldBook({ store, drain });
  ledger = new Ledger({ store, holdBook, recorder: { drain }, clock, holdMs: 3_600_000 });
  await give("short", 100, 1);
  await give("long", 30, null);
  expect(await hold("gen_1", 80)).toBe("held");
  clock.leap(DAY_MS);
  await ledger.expireGrants();
  expect(await store.findTransfer("expiry:short")).toMatchObject({ amount: 30 });
  expect(await ledger.balanceOf("user_a")).toEqual({ balance: 30, held: 0 });
});

test("a grant whose account is not in memory is taken back only once its rest is reserved, and nothing stays reserved", async () => {
  const plain = store;
  const loaded = Promise.withResolvers<void>();
  store = Object.assign(Object.create(plain) as LedgerStore, {
    async findBalance(accountId: string) {
      await loaded.promise;
      return plain.findBalance(accountId);
    },
  });
  ledger = openLedger();
  await give("short", 100, 1);
  clock.leap(DAY_MS);
  const expired = ledger.expireGrants();
  await turnEventLoop(5);
  expect(await plain.findTransfer("expiry:short")).toBeNull();
  loaded.resolve();
  await expired;
  expect(await plain.findTransfer("expiry:short")).toMatchObject({ amount: 100 });
  expect(ledger.holds()).toEqual([]);
  expect(await ledger.balanceOf("user_a")).toEqual({ balance: 0, held: 0 });
});

test("the rest of an expired grant is taken back once, by several gateways and sweeps at the same time", async () => {
  await give("a", 50, 1);
  await give("b", 50, 2);
  await settle("gen_1", 20);
  clock.leap(DAY_MS);
  const other = openLedger();
  await Promise.all([ledger.expireGrants(), other.expireGrants(), ledger.expireGrants()]);
  await ledger.refresh();
  expect((await ledger.balanceOf("user_a")).balance).toBe(50);
  clock.leap(DAY_MS);
  await ledger.expireGrants();
  await other.expireGrants();
  expect((await ledger.balanceOf("user_a")).balance).toBe(0);
  expect(await store.listEndedGrants(clock.now(), 10)).toEqual([]);
  expect(ledger.holds()).toEqual([]);
  expect(await store.findDifferences()).toEqual([]);
});

test("a grant that is used up expires without a transfer", async () => {
  await give("a", 50, 1);
  await settle("gen_1", 50);
  clock.leap(DAY_MS);
  await ledger.expireGrants();
  expect(await store.findTransfer("expiry:a")).toBeNull();
  expect(await store.listEndedGrants(clock.now(), 10)).toEqual([]);
});

test("a grant whose expiry the store rejects does not prevent the expiry of other grants", async () => {
  await give("a", 50, 1);
  await give("b", 50, 1);
  database.exec(`CREATE TRIGGER poison BEFORE INSERT ON transfers WHEN NEW.id = 'expiry:a'
    BEGIN SELECT RAISE(ABORT, 'poison'); END`);
  clock.leap(DAY_MS);
  await expect(ledger.expireGrants()).rejects.toThrow("poison");
  expect(await store.findTransfer("expiry:b")).toMatchObject({ amount: 50 });
  expect(await store.listEndedGrants(clock.now(), 10)).toMatchObject([{ id: "a" }]);
});

test("any number of grants that wait for a request do not hold up the expiry of later ones", async () => {
  for (let n = 100; n < 220; n++) await give(`grant_${n}`, 1, 1);
  await give("later", 50, 2, "user_b");
  clock.leap(2 * DAY_MS);
  expect(await hold("gen_1", 120)).toBe("held");
  for (let sweeps = 0; sweeps < 3; sweeps++) await ledger.expireGrants();
  expect(await store.findTransfer("expiry:later")).toMatchObject({ amount: 50 });
  expect(await store.findTransfer("expiry:grant_100")).toBeNull();
  // Those that waited have their turn again.
  ledger.settle("gen_1", 0);
  for (let sweeps = 0; sweeps < 3; sweeps++) await ledger.expireGrants();
  expect(await store.listEndedGrants(clock.now(), 10)).toEqual([]);
  expect(ledger.holds()).toEqual([]);
  expect((await ledger.balanceOf("user_a")).balance).toBe(0);
});

test("a gateway that leaves expired grants to another one reserves nothing of them any more", async () => {
  await give("short", 100, 1);
  await give("long", 30, null);
  expect(await hold("gen_1", 80)).toBe("held");
  clock.leap(DAY_MS);
  await ledger.expireGrants();
  expect(await ledger.balanceOf("user_a")).toMatchObject({ held: 180 });
  ledger.leaveGrants();
  expect(await ledger.balanceOf("user_a")).toMatchObject({ held: 80 });
  await openLedger().expireGrants();
  await ledger.refresh();
  ledger.settle("gen_1", 0);
  expect(await ledger.balanceOf("user_a")).toEqual({ balance: 30, held: 0 });
  expect(await hold("gen_2", 30)).toBe("held");
});
