import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { PostgresChanges } from "../../../src/storage/postgres/changes.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { PostgresGatewayRegistry } from "../../../src/storage/postgres/gateways/gateway-registry.ts";
import { openTestPostgres } from "../../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../../support/databases/postgres.ts";
import { eventually } from "../../support/eventually.ts";
import { NO_CONFIG } from "../../support/gateway/reported-config.ts";
import { openSqlStores } from "./databases.ts";

describe.skipIf(POSTGRES_BIN === null)("the changes of a PostgreSQL database", () => {
  let server: TestPostgres;
  let url: string;
  const opened: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await startTestPostgres();
  });
  afterAll(() => server.remove());
  beforeEach(async () => {
    url = await server.createMigratedDatabase();
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  function connect(): Postgres {
    const database = openTestPostgres(url, 2);
    opened.push(database);
    return database;
  }
  function watch(
    isListening: boolean,
    database = connect(),
  ): { changes: PostgresChanges; hints: () => number } {
    const changes = new PostgresChanges(database, isListening);
    opened.push(changes);
    let hints = 0;
    changes.listen(() => {
      hints += 1;
    });
    return { changes, hints: () => hints };
  }
  const raise = (database: Postgres, name: string) =>
    database.run("UPDATE revisions SET revision = revision + 1 WHERE name = $1", [name]);

  test("one reading finds the revisions of all groups of tables, and nothing is known before it", async () => {
    const database = connect();
    const { changes } = watch(false);
    expect(changes.revisionOf("keys")).toBeNull();
    await changes.read();
    expect([changes.revisionOf("keys"), changes.revisionOf("accounts")]).toEqual([0, 0]);
    await raise(database, "keys");
    expect(changes.revisionOf("keys")).toBe(0);
    await changes.read();
    expect([changes.revisionOf("keys"), changes.revisionOf("accounts")]).toEqual([1, 0]);
  });

  test("a store answers with the revision of the last reading, and asks the database before the first", async () => {
    const database = connect();
    const { changes } = watch(false);
    const store = openSqlStores(database, changes).keys;
    await raise(database, "keys");
    expect(await store.keyRevision()).toBe(1);
    await changes.read();
    await raise(database, "keys");
    expect(await store.keyRevision()).toBe(1);
    await changes.read();
    expect(await store.keyRevision()).toBe(2);
  });

  test("a committed change is announced to a listening process, and one that is rolled back is not", async () => {
    const database = connect();
    const { hints } = watch(true);
    // The subscription begins some time after the call.
    await eventually("the first hint", async () => {
      await raise(database, "keys");
      return hints() > 0;
    });
    const rollBack = database.transaction(async (sql) => {
      await sql.run("UPDATE revisions SET revision = 1000 WHERE name = 'keys'");
      throw new Error("changed its mind");
    });
    await expect(rollBack).rejects.toThrow("changed its mind");
    const before = hints();
    await raise(database, "accounts");
    await eventually("the hint of the second change", () => hints() > before);
  });

  test("a request for money that other gateways have leased is announced and counted", async () => {
    const database = connect();
    const { changes, hints } = watch(true);
    await eventually("the hint", async () => {
      await database.run(
        `INSERT INTO wanted_leases (account_id, gateway_id, wanted_at) VALUES ('acct_1', 'gateway_a', now())
         ON CONFLICT (account_id, gateway_id) DO UPDATE SET wanted_at = now()`,
      );
      return hints() > 0;
    });
    await changes.read();
    expect(changes.revisionOf("wanted")).toBe(1);
  });

  test("a gateway that registers or ends is announced as such, and one that renews is not", async () => {
    const database = connect();
    const registry = new PostgresGatewayRegistry(database);
    const changes = new PostgresChanges(connect(), true);
    opened.push(changes);
    const heard = { gateways: 0, others: 0 };
    changes.listen((isAboutGateways) => {
      heard[isAboutGateways ? "gateways" : "others"] += 1;
    });
    // Announcements arrive in the order of their commits, so that after this one no earlier one follows.
    const countGateways = async (): Promise<number> => {
      const before = heard.others;
      await eventually("the announcement of another change", async () => {
        await database.run("UPDATE revisions SET revision = revision + 1 WHERE name = 'keys'");
        return heard.others > before;
      });
      return heard.gateways;
    };
    const listening = await countGateways();
    const description = {
      id: "gateway_a",
      host: "host",
      version: "1",
      dataDir: "/data",
      masterKeys: [],
      config: NO_CONFIG,
    };
    const identity = await registry.register(description);
    expect(await countGateways()).toBe(listening + 1);
    await registry.renew(identity);
    expect(await countGateways()).toBe(listening + 1);
    await registry.end(identity);
    expect(await countGateways()).toBe(listening + 2);
  });

  test("a process that cannot listen gets no hints and reads the same revisions", async () => {
    const database = connect();
    const { changes, hints } = watch(false);
    await raise(database, "catalog");
    await changes.read();
    expect([changes.revisionOf("catalog"), hints()]).toEqual([1, 0]);
  });

  test("a process that could not listen tries again after some readings", async () => {
    const database = connect();
    let attempts = 0;
    const failing: Pick<Postgres, "run" | "listen"> = {
      run: (text, values) => database.run(text, values),
      listen(channel, onNotification) {
        attempts += 1;
        if (attempts === 1) return Promise.reject(new Error("too many connections"));
        return database.listen(channel, onNotification);
      },
    };
    const changes = new PostgresChanges(failing, true);
    opened.push(changes);
    let hints = 0;
    changes.listen(() => {
      hints += 1;
    });
    for (let reading = 0; reading < 20; reading++) await changes.read();
    await eventually("a hint of the second attempt", async () => {
      await raise(database, "keys");
      return hints > 0;
    });
    expect(attempts).toBe(2);
  });

  test("a restart of the server loses the notifications only until the connection is open again", async () => {
    const { hints } = watch(true);
    const first = connect();
    await eventually("the first hint", async () => {
      await raise(first, "keys");
      return hints() > 0;
    });
    await server.kill();
    await server.start();
    const before = hints();
    const second = connect();
    await eventually("a hint after the restart", async () => {
      await raise(second, "keys");
      return hints() > before;
    });
    expect(hints()).toBeGreaterThan(before);
  });
});
