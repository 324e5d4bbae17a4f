import type { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { verifyAudit } from "../../src/core/audit/verify-audit.ts";
import { createSqliteStores } from "../../src/storage/sqlite/stores.ts";
import { auditDraftOf } from "./contracts/samples.ts";
import { useSqlite } from "./sqlite-connections.ts";

const connect = useSqlite();
let database: Database;
beforeEach(() => {
  database = connect();
});

describe("the audit log in SQLite", () => {
  async function fill(entries: number) {
    const store = createSqliteStores(database).audit;
    for (let i = 1; i <= entries; i++) await store.appendAudit(auditDraftOf(`user_${i}`));
    return store;
  }

  /** Changes the log as anyone who can write the file can. */
  function tamper(statement: string): void {
    database.exec("DROP TRIGGER audit_log_stays; DROP TRIGGER audit_log_remains");
    expect(database.run(statement).changes).toBe(1);
  }

  test("verifies without entries, and over more entries than one page", async () => {
    expect((await verifyAudit(createSqliteStores(database).audit)).flaw).toBeNull();
    const store = await fill(1_001);
    expect(await verifyAudit(store)).toMatchObject({ entries: 1_001, flaw: null });
  });

  test.each([
    ...["at = 2", "key_id = NULL", "user_id = 'x'", "action = 'x'", "account_id = 'x'", "target = 'x'"].map(
      (change) => [`UPDATE audit_log SET ${change} WHERE place = 4`, 4, /changed/] as const,
    ),
    [`UPDATE audit_log SET request_id = 'x', changes = '{}' WHERE place = 4`, 4, /changed/],
    ["UPDATE audit_log SET hash = 'x' WHERE place = 4", 4, /changed/],
    ["UPDATE audit_log SET previous_hash = 'x' WHERE place = 4", 4, /follow/],
    ["DELETE FROM audit_log WHERE place = 4", 5, /missing/],
    ["DELETE FROM audit_log WHERE place = 1", 2, /missing/],
  ])("does not verify after %s and names entry %i", async (statement, place, problem) => {
    const store = await fill(8);
    tamper(statement);
    const { flaw, entries } = await verifyAudit(store);
    expect([flaw?.place, flaw?.problem]).toEqual([place, expect.stringMatching(problem)]);
    expect(entries).toBe(statement.includes("= 1") ? 0 : 3);
  });

  test("has another last hash after its newest entry is deleted", async () => {
    const store = await fill(3);
    const { lastHash } = await verifyAudit(store);
    tamper("DELETE FROM audit_log WHERE place = 3");
    expect((await verifyAudit(store)).lastHash).not.toBe(lastHash);
  });
});

test("expired idempotency keys are deleted from SQLite when the next one is claimed", async () => {
  const store = createSqliteStores(database).answers;
  const claim = { fingerprint: "f", at: 1_000, expiredAt: 0, maxNames: 3 };
  for (const name of ["a", "b", "c"]) await store.claimKey({ scope: "key_a", name }, claim);
  await store.claimKey({ scope: "key_a", name: "a" }, { ...claim, at: 2_000, expiredAt: 1_001 });
  expect(database.query("SELECT count(*) AS rows FROM kept_answers").get()).toEqual({ rows: 1 });
});
