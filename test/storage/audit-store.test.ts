import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditDraft } from "../../src/core/audit/records.ts";
import { verifyAudit } from "../../src/core/audit/verify-audit.ts";
import { createSqliteAuditStore } from "../../src/storage/sqlite/audit-store.ts";
import { openDatabase } from "../../src/storage/sqlite/database.ts";
import { createSqliteStoredResponseStore } from "../../src/storage/sqlite/stored-response-store.ts";

let dir: string;
let database: Database;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "gateway-audit-"));
  database = openDatabase(dir);
});
afterEach(() => {
  database.close();
  rmSync(dir, { recursive: true, force: true });
});

const draft = (target: string): AuditDraft => ({
  at: 1_000,
  keyId: "key_a",
  userId: null,
  action: "PATCH /api/admin/users/:id",
  accountId: "user_a",
  target,
  requestId: "req_a",
  changes: { name: "é\u2028", nested: { b: 1, "1": [0.1, null] } },
});

describe("the audit log", () => {
  async function fill(entries: number) {
    const store = createSqliteAuditStore(database);
    for (let i = 1; i <= entries; i++) await store.appendAudit(draft(`user_${i}`));
    return store;
  }

  /** What somebody with the file can do. */
  function tamper(statement: string): void {
    database.exec("DROP TRIGGER audit_log_stays; DROP TRIGGER audit_log_remains");
    expect(database.run(statement).changes).toBe(1);
  }

  test("is one chain, also when two processes write it by turns", async () => {
    const elsewhere = openDatabase(dir);
    const [here, there] = [createSqliteAuditStore(database), createSqliteAuditStore(elsewhere)];
    for (let i = 0; i < 10; i++) await (i % 2 === 0 ? here : there).appendAudit(draft(`user_${i}`));
    elsewhere.close();
    expect(await verifyAudit(here)).toMatchObject({ entries: 10, flaw: null });
  });

  test("holds without entries, and over more than are read at once", async () => {
    expect((await verifyAudit(createSqliteAuditStore(database))).flaw).toBeNull();
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
  ])("shows %s at place %i", async (statement, place, problem) => {
    const store = await fill(8);
    tamper(statement);
    const { flaw, entries } = await verifyAudit(store);
    expect([flaw?.place, flaw?.problem]).toEqual([place, expect.stringMatching(problem)]);
    expect(entries).toBe(statement.includes("= 1") ? 0 : 3);
  });

  test("whose end is cut off has another last hash", async () => {
    const store = await fill(3);
    const { lastHash } = await verifyAudit(store);
    tamper("DELETE FROM audit_log WHERE place = 3");
    expect((await verifyAudit(store)).lastHash).not.toBe(lastHash);
  });
});

describe("names of repeatable requests", () => {
  const claim = { fingerprint: "f", at: 1_000, expiredAt: 0, maxNames: 3 };

  test("are bounded for each scope, and free again when they are old", async () => {
    const store = createSqliteStoredResponseStore(database);
    for (const name of ["a", "b", "c"])
      expect((await store.claimKey({ scope: "key_a", name }, claim)).kind).toBe("first");
    expect((await store.claimKey({ scope: "key_a", name: "d" }, claim)).kind).toBe("full");
    expect((await store.claimKey({ scope: "key_a", name: "a" }, claim)).kind).toBe("repeated");
    expect((await store.claimKey({ scope: "key_b", name: "d" }, claim)).kind).toBe("first");
    const later = { ...claim, at: 2_000, expiredAt: 1_001 };
    expect((await store.claimKey({ scope: "key_a", name: "a" }, later)).kind).toBe("first");
    expect(database.query("SELECT count(*) AS rows FROM kept_answers").get()).toEqual({ rows: 1 });
  });
});
