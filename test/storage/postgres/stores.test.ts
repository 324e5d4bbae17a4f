import { beforeEach, describe, expect, test } from "bun:test";
import type { AuditStore } from "../../../src/core/audit/audit-store.ts";
import { verifyAudit } from "../../../src/core/audit/verify-audit.ts";
import { NO_REFRESH } from "../../../src/core/catalog/refresh/catalog-store.ts";
import { PostgresCatalogStore } from "../../../src/storage/postgres/catalog-store.ts";
import type { Postgres } from "../../../src/storage/postgres/connection/client.ts";
import { createPostgresDatabase } from "../../../src/storage/postgres/connection/sql-database.ts";
import { ON_POSTGRES } from "../../support/databases/test-databases.ts";
import { testAccountStore } from "../contracts/account-store.ts";
import { testAuditStore } from "../contracts/audit-store.ts";
import { testCatalogStore } from "../contracts/catalog-store.ts";
import { testConfigStore } from "../contracts/config-store.ts";
import { testConsoleSessionStore } from "../contracts/console-session-store.ts";
import { testDrainStore } from "../contracts/drain-store.ts";
import { testHealthHistoryStore } from "../contracts/health-history-store.ts";
import { testIdentityStore } from "../contracts/identity-store.ts";
import { testInvitationStore } from "../contracts/invitation-store.ts";
import { testKeyStore } from "../contracts/key-store.ts";
import { testNamedRouteStore } from "../contracts/named-route-store.ts";
import { testOidcTrialStore } from "../contracts/oidc-trial-store.ts";
import { testPromptLogStore } from "../contracts/prompt-log-store.ts";
import { testProviderKeyStore } from "../contracts/provider-key-store.ts";
import { testRejectionStore } from "../contracts/rejection-store.ts";
import { testResponseStore } from "../contracts/response-store.ts";
import { auditDraftOf } from "../contracts/samples.ts";
import { testSettingsStore } from "../contracts/settings-store.ts";
import { testStoredResponseStore } from "../contracts/stored-response-store.ts";
import { testTeamStore } from "../contracts/team-store.ts";
import { openResponses, openSqlStores, usePostgres } from "./databases.ts";

describe.skipIf(!ON_POSTGRES)("PostgreSQL", () => {
  const connect = usePostgres();
  testAccountStore(() => openSqlStores(connect()).accounts);
  testKeyStore(() => openSqlStores(connect()).keys);
  testInvitationStore(() => openSqlStores(connect()));
  testTeamStore(() => openSqlStores(connect()));
  testProviderKeyStore(() => openSqlStores(connect()).providerKeys);
  testPromptLogStore(() => openSqlStores(connect()).promptLog);
  testRejectionStore(() => openSqlStores(connect()).rejections);
  testResponseStore(() => openResponses(connect()));
  testSettingsStore(() => openSqlStores(connect()).settings);
  testConfigStore(() => openSqlStores(connect()).config);
  testDrainStore(() => openSqlStores(connect()).drains);
  testHealthHistoryStore(() => openSqlStores(connect()).healthHistory);
  testNamedRouteStore(() => openSqlStores(connect()).namedRoutes);
  testAuditStore(() => openSqlStores(connect()).audit);
  testConsoleSessionStore(() => {
    const database = connect();
    return {
      sessions: openSqlStores(database).consoleSessions,
      keys: openSqlStores(database).keys,
    };
  });
  testIdentityStore(() => openSqlStores(connect()).identities);
  testOidcTrialStore(() => openSqlStores(connect()).oidcTrials);
  testStoredResponseStore(() => openSqlStores(connect()).answers);
  testCatalogStore(() => new PostgresCatalogStore(createPostgresDatabase(connect())));

  describe("the audit log in PostgreSQL", () => {
    let database: Postgres;
    let store: AuditStore;
    beforeEach(() => {
      database = connect();
      store = openSqlStores(database).audit;
    });

    test.each(["UPDATE audit_log SET at = 2", "DELETE FROM audit_log", "TRUNCATE audit_log"])(
      "rejects %s",
      async (statement) => {
        await store.appendAudit(auditDraftOf("user_1"));
        await expect(database.run(statement)).rejects.toThrow("rows of audit_log are never changed");
        expect(await verifyAudit(store)).toMatchObject({ entries: 1, flaw: null });
      },
    );

    test("does not verify after an entry was changed by a role that can disable its trigger", async () => {
      for (let i = 1; i <= 3; i++) await store.appendAudit(auditDraftOf(`user_${i}`));
      await database.run("ALTER TABLE audit_log DISABLE TRIGGER audit_log_stays");
      await database.run("UPDATE audit_log SET target = 'x' WHERE place = 2");
      expect((await verifyAudit(store)).flaw).toMatchObject({ place: 2 });
    });

    test("a gateway that starts settles its own changes and not those of other gateways", async () => {
      await store.beginChange(auditDraftOf("mine"), "gateway_a");
      await store.beginChange(auditDraftOf("in progress"), "gateway_b");
      expect(await store.settleChanges("gateway_a")).toBe(1);
      const [entry, ...others] = await store.readAudit(0, 10);
      expect([entry?.target, others]).toEqual(["mine", []]);
    });

    test("a change that began more than an hour ago is settled, whichever gateway began it", async () => {
      await store.beginChange(auditDraftOf("left"), "gateway_gone");
      await database.run("UPDATE begun_changes SET begun_at = begun_at - interval '61 minutes'");
      expect(await store.settleChanges("gateway_a")).toBe(1);
      expect((await store.readAudit(0, 10))[0]?.target).toBe("left");
    });

    test("two gateways that settle the same old change at the same time write one entry", async () => {
      await store.beginChange(auditDraftOf("left"), "gateway_gone");
      await database.run("UPDATE begun_changes SET begun_at = begun_at - interval '61 minutes'");
      const other = openSqlStores(connect()).audit;
      const settled = await Promise.all([store.settleChanges("gateway_a"), other.settleChanges("gateway_b")]);
      expect(settled.sort()).toEqual([0, 1]);
      expect(await verifyAudit(store)).toMatchObject({ entries: 1, flaw: null });
    });
  });

  test("expired idempotency keys are deleted from PostgreSQL when the next one is claimed", async () => {
    const database = connect();
    const store = openSqlStores(database).answers;
    const claim = { fingerprint: "f", at: 1_000, expiredAt: 0, maxNames: 3 };
    for (const name of ["a", "b", "c"]) await store.claimKey({ scope: "key_a", name }, claim);
    await store.claimKey({ scope: "key_a", name: "a" }, { ...claim, at: 2_000, expiredAt: 1_001 });
    expect(await database.run("SELECT FROM stored_responses")).toHaveLength(1);
  });

  describe("the catalog store in PostgreSQL", () => {
    test("reports a damaged catalog, and reads a damaged refresh state as none", async () => {
      const database = connect();
      await database.run(
        "INSERT INTO catalog_documents VALUES ('catalog', '{'), ('refresh', '{\"attemptedAt\": \"yesterday\"}')",
      );
      const store = new PostgresCatalogStore(createPostgresDatabase(database));
      const { value, problems } = (await store.readCatalog()) ?? {};
      expect(value).toBeNull();
      expect(problems?.join("\n")).toContain("the catalog in the database");
      expect(await store.readRefreshState()).toEqual(NO_REFRESH);
    });

    test("keeps its version while the database is unavailable, and says that the catalog cannot be read", async () => {
      const database = connect();
      const store = new PostgresCatalogStore(createPostgresDatabase(database));
      const before = await store.readVersion();
      await database.run("ALTER TABLE revisions RENAME TO away");
      await database.run("ALTER TABLE catalog_documents RENAME TO gone");
      expect(await store.readVersion()).toBe(before);
      expect((await store.readCatalog())?.problems.join("\n")).toContain("cannot be read");
    });
  });
});
