import { describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/base/failures/store-error.ts";
import { StoreHealth } from "../../../src/base/failures/store-health.ts";
import { HOUR_MS } from "../../../src/base/time/time.ts";
import { createAccountCache } from "../../../src/core/accounts/memory/account-cache.ts";
import { createKeyCache } from "../../../src/core/accounts/memory/key-cache.ts";
import { createAccountRoutes } from "../../../src/core/named-routes/account-routes.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { POSTGRES_BIN } from "../../support/databases/postgres.ts";
import { createTestClock } from "../../support/test-clock.ts";
import { accountOf, keyOf, memberOf, providerKeyOf } from "../contracts/samples.ts";
import { openSqlStores, usePostgres } from "./databases.ts";

/** Counts the statements that read a table by `pattern`, of one process. */
function count(
  database: Postgres,
  pattern: RegExp,
): { readonly database: Postgres; found: number; isAway: boolean } {
  const counted = {
    found: 0,
    isAway: false,
    database: {
      run: (text: string, values: Parameters<Postgres["run"]>[1]) => {
        if (pattern.test(text)) counted.found += 1;
        if (counted.isAway && pattern.test(text)) return Promise.reject(new StoreError("away"));
        return database.run(text, values);
      },
      transaction: (work: Parameters<Postgres["transaction"]>[0]) => database.transaction(work),
      listen: () => Promise.reject(new Error("not in this test")),
      close: () => Promise.resolve(),
    } as Postgres,
  };
  return counted;
}

describe.skipIf(POSTGRES_BIN === null)("a cache of a gateway on PostgreSQL", () => {
  const connect = usePostgres();
  const clock = createTestClock();
  const createHealth = () => new StoreHealth({ clock, maxStalenessMs: 60_000 });
  const names = Array.from({ length: 50 }, (_, at) => `${at}`.padStart(2, "0"));

  async function cacheKeys() {
    const other = openSqlStores(connect()).keys;
    for (const name of names) await other.insertKey(keyOf(`key_${name}`, { hash: `hash_${name}` }));
    const counted = count(connect(), /FROM api_keys WHERE hash/);
    const cache = createKeyCache({
      store: openSqlStores(counted.database).keys,
      health: createHealth(),
      clock,
      adminSecret: null,
    });
    const readAll = async () => {
      const read = [];
      for (const name of names) read.push(await cache.identifyHash(`hash_${name}`));
      return read;
    };
    await cache.refresh();
    await readAll();
    counted.found = 0;
    return { other, counted, cache, readAll };
  }

  test("reads one key again after another process has changed it, and none after uses were recorded", async () => {
    const { other, counted, cache, readAll } = await cacheKeys();
    await other.changeKey("key_07", (key) => ({ ...key, name: "changed" }));
    await cache.refresh();
    expect((await readAll())[7]).toMatchObject({ key: { name: "changed" } });
    expect(counted.found).toBe(1);
    await other.revokeKey("key_08", 1);
    await other.recordKeyUses(names.map((name) => ({ id: `key_${name}`, usedAt: 5_000 })));
    await cache.refresh();
    expect((await readAll()).map((principal) => principal === null).indexOf(true)).toBe(8);
    expect(counted.found).toBe(2);
  });

  test("reads a rotated key again by both secrets, and none after uses and announcements of the former one", async () => {
    const { other, counted, cache, readAll } = await cacheKeys();
    const at = clock.now();
    const secret = { hash: "hash_next", hint: "gw_…", at, previousUntil: at + HOUR_MS };
    await other.rotateKey("key_09", secret);
    await cache.refresh();
    expect([(await readAll())[9], await cache.identifyHash("hash_next")]).toMatchObject([
      { key: { id: "key_09" } },
      { key: { id: "key_09" } },
    ]);
    expect(counted.found).toBe(2);
    await other.recordKeyUses([{ id: "key_09", usedAt: at, isPrevious: true }]);
    const query = { now: at + HOUR_MS - 1, withinMs: HOUR_MS, limit: 9 };
    expect(await other.claimFormerSecrets(query)).toHaveLength(1);
    await cache.refresh();
    await readAll();
    expect(counted.found).toBe(2);
  });

  test("finds a key that it has looked for in vain as soon as another process creates it, and reads no other again", async () => {
    const { other, counted, cache, readAll } = await cacheKeys();
    expect(await cache.identifyHash("hash_new")).toBeNull();
    await other.insertKey(keyOf("key_new", { hash: "hash_new" }));
    await cache.refresh();
    expect(await cache.identifyHash("hash_new")).not.toBeNull();
    await readAll();
    expect(counted.found).toBe(2);
  });

  test("reads everything again after more changes than are listed, or if the list was cut off behind what it has seen", async () => {
    const { other, counted, cache, readAll } = await cacheKeys();
    const database = connect();
    const change = (times: number) =>
      database.run(
        `INSERT INTO changed_rows (name, id) SELECT 'keys', 'hash_' || n FROM generate_series(1, $1::integer) AS n`,
        [times],
      );
    await change(1_001);
    await other.changeKey("key_07", (key) => ({ ...key, name: "changed" }));
    await cache.refresh();
    expect((await readAll())[7]).toMatchObject({ key: { name: "changed" } });
    expect(counted.found).toBe(names.length);
    await other.changeKey("key_07", (key) => ({ ...key, name: "again" }));
    await database.run("DELETE FROM changed_rows WHERE place < (SELECT max(place) FROM changed_rows)");
    await cache.refresh();
    expect((await readAll())[7]).toMatchObject({ key: { name: "again" } });
    expect(counted.found).toBe(2 * names.length);
    await other.changeKey("key_07", (key) => ({ ...key, name: "a third time" }));
    await cache.refresh();
    await readAll();
    expect(counted.found).toBe(2 * names.length + 1);
  });

  test("does not use a key that another process has revoked, though the lookup that would tell so fails", async () => {
    const { other, counted, cache } = await cacheKeys();
    await other.revokeKey("key_07", 1);
    await cache.refresh();
    counted.isAway = true;
    const refused = await Promise.resolve(cache.identifyHash("hash_07")).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreError);
    // All others go on.
    expect(await cache.identifyHash("hash_08")).not.toBeNull();
  });

  test("keeps no more than ten thousand changes of a group", async () => {
    const database = connect();
    await database.run(
      "INSERT INTO changed_rows (name, id) SELECT 'keys', 'old' FROM generate_series(1, 12000)",
    );
    const keys = openSqlStores(database).keys;
    for (let at = 0; at < 100; at++) await keys.insertKey(keyOf(`key_${at}`, { hash: `hash_${at}` }));
    const [row] = await database.run<{ rows: string }>(
      "SELECT count(*) AS rows FROM changed_rows WHERE name = 'keys'",
    );
    expect(Number(row?.rows)).toBeLessThan(10_200);
  });

  test("reads one account again after a change of it, of its policy or of a budget of it, and one membership after a change of it", async () => {
    const other = openSqlStores(connect()).accounts;
    for (const name of names) {
      await other.insertAccount(accountOf(`user_${name}`));
      await other.putMember(memberOf("org_a", `user_${name}`, { role: "member" }));
    }
    const counted = count(connect(), /FROM (accounts|members) WHERE (id|organization_id) = \$1/);
    const accounts = openSqlStores(counted.database).accounts;
    const cache = createAccountCache({ ...openSqlStores(connect()), accounts }, createHealth());
    const readAll = async () => {
      for (const name of names) {
        await cache.account(`user_${name}`);
        await cache.member("org_a", `user_${name}`);
      }
    };
    await cache.refresh();
    await readAll();
    counted.found = 0;
    const { policy } = accountOf("x");
    await other.changeAccount("user_07", (account) => ({
      ...account,
      policy: { ...policy, zeroRetention: true },
    }));
    await cache.refresh();
    await readAll();
    expect(counted.found).toBe(1);
    expect(await cache.account("user_07")).toMatchObject({ policy: { zeroRetention: true } });
    await other.putMember(memberOf("org_a", "user_08", { role: "admin" }));
    await cache.refresh();
    await readAll();
    expect(counted.found).toBe(2);
    expect(await cache.member("org_a", "user_08")).toMatchObject({ role: "admin" });
    await openSqlStores(connect()).budgets.insertBudget({
      id: "budget_1",
      accountId: "user_09",
      name: "monthly",
      subject: "account",
      subjectId: null,
      endUser: null,
      limit: 5,
      period: "month",
      days: null,
      action: "block",
      warnAt: 800,
      setBy: "operator",
      createdAt: 0,
    });
    await cache.refresh();
    await readAll();
    expect(counted.found).toBe(3);
    expect(await cache.account("user_09")).toMatchObject({ budgets: [{ id: "budget_1" }] });
  });

  test("reads the BYOK keys and the routes of one account again", async () => {
    const [routes, keys] = [openSqlStores(connect()).namedRoutes, openSqlStores(connect()).providerKeys];
    const counted = count(connect(), /FROM named_routes/);
    const cache = createAccountRoutes(openSqlStores(counted.database).namedRoutes, createHealth());
    await cache.refresh();
    for (const name of names) await cache.of(`user_${name}`);
    counted.found = 0;
    const definition = { kind: "alias", target: "acme/one" } as const;
    await routes.putNamedRoute({ name: "a", accountId: "user_07", definition, updatedAt: 1 });
    await cache.refresh();
    for (const name of names) await cache.of(`user_${name}`);
    expect(counted.found).toBe(1);
    const { cursor } = await keys.listChangedProviderKeys(null);
    await keys.insertProviderKey(providerKeyOf("pk_1", { accountId: "user_07" }));
    await keys.recordKeyUses([{ id: "pk_1", usedAt: 5_000, error: null }]);
    expect(await keys.listChangedProviderKeys(cursor)).toMatchObject({ ids: ["user_07"] });
  });
});
