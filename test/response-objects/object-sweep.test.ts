import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Stores } from "../../src/app/stores/stores.ts";
import { DAY_MS } from "../../src/base/time/time.ts";
import type { StoredObject } from "../../src/core/response-objects/records/response-object.ts";
import type { ResponseStore } from "../../src/core/response-objects/records/response-store.ts";
import { ObjectSweep } from "../../src/core/response-objects/retention/object-sweep.ts";
import { AT, conversationOf, idAt, objectAt } from "../storage/contracts/response-store.ts";
import { accountOf } from "../storage/contracts/samples.ts";
import { dropDatabases } from "../support/databases/test-databases.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { eventually } from "../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { createTestClock, type TestClock } from "../support/test-clock.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const MUCH = 1_000_000;

let dataDir: string;
let stores: Stores;
beforeEach(async () => {
  dataDir = makeTempFolder("gateway-sweep-");
  stores = await openTestStores(dataDir);
});
afterEach(async () => {
  await stores.close();
  rmSync(dataDir, { recursive: true, force: true });
  await dropDatabases(dataDir);
});

async function add(...objects: readonly StoredObject[]): Promise<void> {
  for (const object of objects) expect(await stores.responses.addObject(object, [], MUCH)).toBe("added");
}

const isStored = async ({ id }: { readonly id: string }) =>
  (await stores.responses.findObject(id, 0)) !== null;

describe("the sweep of response objects", () => {
  let clock: TestClock;
  let days: number;
  let logged: unknown[];
  let calls: string[];
  let sweep: ObjectSweep;
  beforeEach(() => {
    clock = createTestClock(AT);
    days = 30;
    logged = [];
    calls = [];
    sweep = create();
  });

  const create = () =>
    new ObjectSweep({
      store: new Proxy(stores.responses, {
        get(store, name) {
          const method = store[name as keyof ResponseStore] as (...args: unknown[]) => unknown;
          return (...args: unknown[]) => {
            calls.push(String(name));
            return method.apply(store, args);
          };
        },
      }),
      accounts: stores.accounts,
      clock,
      log: { info: (event, fields) => void logged.push([event, fields]) },
      retentionDays: () => days,
    });

  test("deletes all chains that have expired, however many, and keeps others", async () => {
    const expired = Array.from({ length: 120 }, (_, n) => objectAt(n, { expiresAt: AT + (n % 3) }));
    const kept = objectAt(500, { expiresAt: AT + 3 });
    await add(...expired, kept);
    clock.advance(2);
    await sweep.run();
    expect(await stores.responses.sumBytes("org_a")).toBe(kept.bytes);
    expect(await isStored(kept)).toBe(true);
  });

  test("asks the store again when the next chain expires, and at the latest after an hour", async () => {
    await add(objectAt(0, { expiresAt: AT + 10 * MINUTE_MS }));
    await sweep.run();
    calls.length = 0;
    clock.advance(10 * MINUTE_MS - 1);
    await sweep.run();
    expect(calls).toEqual([]);
    clock.advance(1);
    await sweep.run();
    expect(await isStored(objectAt(0))).toBe(false);
    await add(objectAt(1, { expiresAt: AT }));
    clock.advance(HOUR_MS - 1);
    await sweep.run();
    expect(await isStored(objectAt(1))).toBe(true);
    clock.advance(1);
    await sweep.run();
    expect(await isStored(objectAt(1))).toBe(false);
  });

  test("applies a shorter retention to what is stored already, a day late at most", async () => {
    await add(objectAt(0, { expiresAt: AT + 30 * DAY_MS }), objectAt(1, { expiresAt: AT + 2 * DAY_MS }));
    await sweep.run();
    days = 3;
    await sweep.run();
    expect((await stores.responses.findObject(idAt(AT), AT))?.expiresAt).toBe(AT + 4 * DAY_MS);
    expect((await stores.responses.findObject(idAt(AT + 1), AT))?.expiresAt).toBe(AT + 2 * DAY_MS);
    days = 30;
    await sweep.run();
    expect((await stores.responses.findObject(idAt(AT), AT))?.expiresAt).toBe(AT + 4 * DAY_MS);
  });

  test("deletes everything of accounts that are closed, as soon as an account has changed", async () => {
    for (const id of ["org_a", "org_b"]) await stores.accounts.insertAccount(accountOf(id));
    await add(...Array.from({ length: 60 }, (_, n) => objectAt(n)), objectAt(99, { accountId: "org_b" }));
    await stores.responses.addConversation(conversationOf("conv_1"), 1e9);
    await sweep.run();
    expect(await stores.responses.sumBytes("org_a")).toBe(600);
    await stores.accounts.changeAccount("org_a", (account) => ({ ...account, closedAt: AT }));
    clock.advance(MINUTE_MS);
    await sweep.run();
    expect(await stores.responses.listAccounts(null, 9)).toEqual(["org_b"]);
    expect(await stores.responses.findConversation("conv_1", AT)).toBeNull();
    expect(logged).toEqual([
      ["the response objects of a closed account were deleted", { account_id: "org_a", deleted: 61 }],
    ]);
  });

  test("repeats what a failure has interrupted", async () => {
    await stores.accounts.insertAccount(accountOf("org_a", { closedAt: AT }));
    await add(objectAt(0), objectAt(1, { accountId: "org_b", expiresAt: AT }));
    const { deleteOfAccount } = stores.responses;
    stores.responses.deleteOfAccount = () => Promise.reject(new Error("the disk is full"));
    await expect(sweep.run()).rejects.toThrow("the disk is full");
    stores.responses.deleteOfAccount = deleteOfAccount;
    await sweep.run();
    expect(await stores.responses.listAccounts(null, 9)).toEqual(["org_b"]);
  });
});

describe("a gateway", () => {
  let gateway: TestGateway;
  let clock: TestClock;
  beforeEach(async () => {
    clock = createTestClock(AT);
    gateway = await startTestGateway({ dataDir, clock });
  });
  afterEach(() => gateway.stop({ keepData: true }));

  /** Lets minutes pass until something has happened. */
  const passMinutes = (what: string, hasHappened: () => Promise<boolean>) =>
    eventually(what, async () => {
      clock.advance(MINUTE_MS);
      await turnEventLoop(50);
      return hasHappened();
    });

  test("deletes expired response objects within minutes, and not those that have not expired", async () => {
    const [expired, kept] = [objectAt(0, { expiresAt: AT + 1 }), objectAt(1)];
    await add(expired, kept);
    await passMinutes("the object is deleted", async () => !(await isStored(expired)));
    expect(await isStored(kept)).toBe(true);
  });

  test("deletes the response objects of a user that is closed", async () => {
    const create = createAccountTools(gateway);
    const [closed, open] = [await create.user("Ada"), await create.user("Eve")];
    const [gone, kept] = [closed, open].map((accountId, n) => objectAt(n, { accountId }));
    await add(gone as StoredObject, kept as StoredObject);
    const answer = await callAdmin(gateway, gateway.adminKey, "PATCH", `/users/${closed}`, { closed: true });
    expect(answer.status).toBe(200);
    await passMinutes("the object is deleted", async () => !(await isStored(gone as StoredObject)));
    expect(await isStored(kept as StoredObject)).toBe(true);
  });

  test("applies responses.retention_days of the stored configuration without a restart", async () => {
    const object = objectAt(0, { expiresAt: AT + 300 * DAY_MS });
    await add(object);
    const stored = await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", {
      edits: [{ path: ["responses", "retention_days"], value: 5 }],
    });
    expect(stored.status).toBe(200);
    await passMinutes("the chain expires earlier", async () => {
      const found = await stores.responses.findObject(object.id, AT);
      return found !== null && found.expiresAt < AT + 10 * DAY_MS;
    });
  });
});
