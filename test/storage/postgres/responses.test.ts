import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/base/time/clock.ts";
import { DAY_MS, dayOf } from "../../../src/base/time/time.ts";
import type { StoredObject } from "../../../src/core/response-objects/records/response-object.ts";
import type { ResponseStore } from "../../../src/core/response-objects/records/response-store.ts";
import { connectPostgres, type Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { RESPONSE_TABLES } from "../../../src/storage/postgres/responses/response-store.ts";
import { listDays, partitionOf } from "../../../src/storage/postgres/tables/partitions.ts";
import { JOIN_PREVIOUS, selectChain } from "../../../src/storage/sql/response-objects/find-objects.ts";
import { PGBOUNCER, startTestPgBouncer, type TestPgBouncer } from "../../support/databases/pgbouncer.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import {
  AT,
  conversationOf,
  idAt,
  objectAfter,
  objectAt,
  runningAt,
  testResponseStore,
} from "../contracts/response-store.ts";
import { openResponses, usePostgres } from "./databases.ts";

const MUCH = 1_000_000;
const DAY = dayOf(AT);

describe.skipIf(POSTGRES_BIN === null)("response objects in PostgreSQL", () => {
  const connect = usePostgres();

  /** Adds a chain with an object on each of some days. */
  async function addChain(database: Postgres, days: number): Promise<readonly StoredObject[]> {
    const chain = [objectAt(0)];
    for (let n = 1; n < days; n++) chain.push(objectAfter(chain[n - 1] as StoredObject, n * DAY_MS));
    for (const object of chain) await openResponses(database).addObject(object, [], MUCH);
    return chain;
  }

  test("are in the partition of the day in their id, which is created with that of the next day", async () => {
    const database = connect();
    await addChain(database, 2);
    expect(await listDays(database, RESPONSE_TABLES)).toEqual([DAY + 2, DAY + 1, DAY]);
    for (const [n, day] of [DAY, DAY + 1].entries())
      expect(await database.run(`SELECT id FROM ${partitionOf("response_objects", day)}`)).toEqual([
        { id: idAt(AT + n * DAY_MS) },
      ]);
  });

  test("are added at the same time by gateways that all find no partition", async () => {
    const stores = Array.from({ length: 6 }, () => openResponses(connect()));
    const outcomes = await Promise.all(
      stores.flatMap((store, n) =>
        [0, 1, 2].map((day) => store.addObject(objectAt(n + day * DAY_MS), [], MUCH)),
      ),
    );
    expect(outcomes).toEqual(Array(18).fill("added"));
  });

  test("are read along a chain from one partition in each step, however many rows the planner expects", async () => {
    const database = connect();
    const chain = await addChain(database, 8);
    // Few rows in many partitions let the planner prefer to read all of them.
    await database.run("ANALYZE");
    const { text, values } = selectChain(idAt(AT + 7 * DAY_MS), AT, JOIN_PREVIOUS.lateral).render();
    const plan = await database.run<{ "QUERY PLAN": string }>(
      `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ${text}`,
      values as string[],
    );
    const scans = plan
      .map((row) => row["QUERY PLAN"])
      .filter((line) => line.includes("on response_objects_") && !line.includes("never executed"));
    // The partition of each object is read once. That of the last one is read by the first step.
    const loops = scans.map((line) => Number(/loops=(\d+)/.exec(line)?.[1]));
    expect([scans.length, Math.max(...loops)]).toEqual([chain.length, 1]);
    const reader = openResponses(database);
    expect(await reader.readChain(idAt(AT + 7 * DAY_MS), AT)).toHaveLength(chain.length);
  });

  test("leave partitions that are dropped when they are empty and older than the retention", async () => {
    const database = connect();
    const store = openResponses(database);
    await addChain(database, 4);
    await store.addObject(objectAt(0, { id: "gen_undated" }), [], MUCH);
    for (const id of [idAt(AT), idAt(AT + 2 * DAY_MS), "gen_undated"]) await store.deleteObject(id);
    const release = async (firstKept: number) => {
      while ((await store.releaseSpace(firstKept)).hasMore);
      return (await listDays(database, RESPONSE_TABLES)).map((day) => (day === 0 ? 0 : day - DAY));
    };
    expect(await release(DAY)).toEqual([4, 3, 2, 1, 0, 0]);
    expect(await release(DAY + 2)).toEqual([4, 3, 2, 1, 0]);
    expect(await release(DAY + 9)).toEqual([3, 1, 0]);
    const events = await database.run(
      "SELECT inhrelid FROM pg_inherits WHERE inhparent = 'response_events'::regclass",
    );
    expect(events).toHaveLength(3);
  });

  test("are added for a day whose partition was dropped by another gateway", async () => {
    const [here, there] = [openResponses(connect()), openResponses(connect())];
    await here.addObject(objectAt(0), [], MUCH);
    await there.addObject(objectAt(1), [], MUCH);
    for (const n of [0, 1]) await here.deleteObject(idAt(AT + n));
    while ((await here.releaseSpace(DAY + 5)).hasMore);
    expect(await there.addObject(objectAt(2), [], MUCH)).toBe("added");
    expect(await here.findObject(idAt(AT + 2), AT)).not.toBeNull();
  });

  test("are skipped by a sweep while their chain is in use, and deleted by the next one", async () => {
    const database = connect();
    const store = openResponses(connect());
    for (const n of [0, 1]) await store.addObject(objectAt(n, { expiresAt: AT + 10 }), [], MUCH);
    await database.transaction(async (sql) => {
      await sql.run("SELECT 1 AS one FROM response_chains WHERE root_id = $1 FOR UPDATE", [idAt(AT)]);
      expect(await store.deleteExpired(AT + 10, 9)).toBe(1);
    });
    expect(await store.deleteExpired(AT + 10, 9)).toBe(1);
    expect(await store.sumBytes("org_a")).toBe(0);
  });

  test("are all deleted once by two sweeps at the same time", async () => {
    const stores = [openResponses(connect()), openResponses(connect())];
    for (let n = 0; n < 60; n++)
      await stores[0]?.addObject(objectAt(n, { accountId: `org_${n % 7}`, expiresAt: AT }), ["item"], MUCH);
    const sweep = async (store: (typeof stores)[number]) => {
      let deleted = 0;
      for (let n = 0; n < 30; n++) deleted += await store.deleteExpired(AT, 7);
      return deleted;
    };
    const deleted = await Promise.all(stores.map(sweep));
    expect(deleted.reduce((sum, count) => sum + count, 0)).toBe(60);
    const database = connect();
    for (const table of ["objects", "items", "chains"])
      expect(await database.run(`SELECT 1 AS one FROM response_${table}`)).toEqual([]);
    expect(await database.run("SELECT 1 AS one FROM response_accounts WHERE bytes <> 0")).toEqual([]);
  });
});

/** What must be empty, whatever happens at the same time. */
const INVARIANTS = {
  "sums that differ": `SELECT account_id FROM response_accounts AS sums
    FULL JOIN (SELECT account_id, sum(bytes) AS bytes FROM
        (SELECT account_id, bytes FROM response_objects UNION ALL
          SELECT account_id, bytes FROM response_conversations) AS rows GROUP BY 1) AS kept USING (account_id)
    WHERE coalesce(sums.bytes, 0) <> coalesce(kept.bytes, 0)`,
  "chains with another number of objects": `SELECT root_id FROM response_chains AS chains
    FULL JOIN (SELECT root_id, count(*) AS count FROM response_objects GROUP BY 1) AS objects USING (root_id)
    WHERE coalesce(chains.objects, 0) <> coalesce(objects.count, 0)`,
  "chains of nothing": `SELECT root_id FROM response_chains AS c WHERE objects = 0
    AND NOT EXISTS (SELECT FROM response_conversations AS v WHERE v.id = c.root_id)`,
  "items of no object": `SELECT item_id FROM response_items AS i
    WHERE NOT EXISTS (SELECT FROM response_objects AS o WHERE o.id = i.object_id)`,
  "places of no object": `SELECT object_id FROM response_places AS p
    WHERE NOT EXISTS (SELECT FROM response_objects AS o WHERE o.id = p.object_id)`,
} as const;

describe.skipIf(POSTGRES_BIN === null)("changes of response objects in PostgreSQL at the same time", () => {
  const connect = usePostgres();

  /** Returns changes of all kinds, of four conversations of two accounts. */
  function createChanges(stores: readonly ResponseStore[], round: number) {
    const store = (n: number) => stores[n % stores.length] as ResponseStore;
    const each = Array.from({ length: 6 }, (_, n) => {
      const [ms, rootId] = [round * 6 + n, `conv_${n % 4}`];
      const accountId = `org_${n % 2}`;
      const place = { rootId, conversationId: rootId, sequence: round * 2 + (n > 3 ? 1 : 0) };
      const running = runningAt(MUCH + ms, { accountId, expiresAt: AT + (ms % 3) * 100 });
      const end = { status: "completed", gatewayId: null, bytes: 25, chainBytes: 25, endedAt: 1 } as const;
      return [
        store(n).addObject(objectAt(ms, { accountId, ...place, expiresAt: AT + 50 }), ["item"], MUCH),
        store(n + 1).addObject(running, ["item", "other"], MUCH),
        store(n + 2).changeObject(runningAt(MUCH + ms - 6), { ...end, ciphertext: new Uint8Array(1) }, ["x"]),
        store(n + 3).addEvents(runningAt(MUCH + ms - 6), [
          { first: ms, last: ms, ciphertext: new Uint8Array(1) },
        ]),
        store(n + 3).deleteObject(idAt(AT + ms - 12)),
        store(n + 4).touchChain(rootId, AT + 50 + round),
      ];
    });
    const rare = [
      () => store(5).deleteOfAccount("org_1", 7),
      () => store(2).deleteExpired(AT + 20, 9),
      () => store(3).deleteExpired(AT + 20, 9),
      () => store(1).addConversation(conversationOf("conv_1", { accountId: "org_1", bytes: 3 }), 1e9),
      () => store(4).changeConversation("conv_1", { ciphertext: new Uint8Array(1), bytes: round }),
      () => store(2).deleteConversation("conv_1"),
      () => store(1).limitExpiry(AT + 60, 10),
    ];
    return [...each.flat(), ...(round % 3 === 1 ? rare.map((change) => change()) : [])];
  }

  test("never wait for each other in a circle, and leave the right sums", async () => {
    const stores = Array.from({ length: 6 }, () => openResponses(connect()));
    for (let round = 0; round < 40; round++) await Promise.all(createChanges(stores, round));
    const database = connect();
    const broken = await Promise.all(
      Object.entries(INVARIANTS).map(async ([name, text]) => [name, await database.run(text)]),
    );
    expect(broken).toEqual(Object.keys(INVARIANTS).map((name) => [name, []]));
  });
});

describe.skipIf(POSTGRES_BIN === null || PGBOUNCER === null)("PostgreSQL behind PgBouncer", () => {
  let server: TestPostgres;
  let bouncer: TestPgBouncer;
  let url: string;
  const opened: Postgres[] = [];
  beforeAll(async () => {
    server = await startTestPostgres();
    bouncer = await startTestPgBouncer(await server.createDatabase());
  });
  afterAll(async () => {
    await bouncer.remove();
    await server.remove();
  });
  beforeEach(async () => {
    const database = new URL(await server.createMigratedDatabase());
    const pooled = new URL(bouncer.url);
    pooled.pathname = database.pathname;
    url = pooled.href;
  });
  afterEach(async () => {
    for (const connection of opened.splice(0)) await connection.close();
  });
  testResponseStore(() => {
    const connection = connectPostgres({ url, maxConnections: 4, isPooled: true, clock: systemClock });
    opened.push(connection);
    return openResponses(connection);
  });
});
