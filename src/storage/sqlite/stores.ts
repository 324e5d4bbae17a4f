import type { Database } from "bun:sqlite";
import type { AccountStore } from "../../core/accounts/stores/account-store.ts";
import type { BudgetStore } from "../../core/accounts/stores/budget-store.ts";
import type { InvitationStore } from "../../core/accounts/stores/invitation-store.ts";
import type { KeyStore } from "../../core/accounts/stores/key-store.ts";
import type { TeamStore } from "../../core/accounts/stores/team-store.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { FormerTierStore } from "../../core/catalog/tiers/former-tiers.ts";
import type { ConsoleSessionStore } from "../../core/console/console-session-store.ts";
import type { IdentityStore } from "../../core/console/identity-store.ts";
import type { OidcTrialStore } from "../../core/console/oidc-trial-store.ts";
import type { PromptLogStore } from "../../core/extensions/prompt-log/prompt-log-store.ts";
import type { StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";
import type { LedgerStore } from "../../core/ledger/records/ledger-store.ts";
import type { NamedRouteStore } from "../../core/named-routes/named-route-store.ts";
import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type { ResponseStore } from "../../core/response-objects/records/response-store.ts";
import type { DrainStore } from "../../core/routing/health/drain-store.ts";
import type { HealthHistoryStore } from "../../core/routing/history/health-history-store.ts";
import type { SettingsStore } from "../../core/settings/settings-store.ts";
import type { ConfigStore } from "../../core/stored-config/config-store.ts";
import type { GenerationList } from "../../core/usage/generations/generation-list.ts";
import type { UsageRetention, UsageRollUp } from "../../core/usage/records/retention.ts";
import type { RejectionStore } from "../../core/usage/rejections/rejection-store.ts";
import type { UsageReports, UsageStore, UsageTimeStore } from "../../core/usage/reports/usage-store.ts";
import { createSqlStores } from "../sql/stores.ts";
import { SqliteBudgetStore } from "./budget-store.ts";
import { createSqliteDatabase } from "./connection/sql-database.ts";
import { SqliteKeyStore } from "./key-store.ts";
import { SqliteLedgerStore } from "./ledger/ledger-store.ts";
import { SqliteRetention } from "./usage/retention.ts";
import { SqliteRollUp } from "./usage/roll-up.ts";
import { SqliteUsageStore } from "./usage/usage-store.ts";

/** The stores that are in the main database of a data directory. */
export interface MainStores {
  readonly accounts: AccountStore;
  readonly answers: StoredResponseStore;
  readonly audit: AuditStore;
  readonly budgets: BudgetStore;
  readonly config: ConfigStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly drains: DrainStore;
  readonly formerTiers: FormerTierStore;
  readonly healthHistory: HealthHistoryStore;
  readonly identities: IdentityStore;
  readonly invitations: InvitationStore;
  readonly keys: KeyStore;
  readonly ledger: LedgerStore;
  readonly namedRoutes: NamedRouteStore;
  readonly oidcTrials: OidcTrialStore;
  readonly promptLog: PromptLogStore;
  readonly providerKeys: ProviderKeyStore;
  readonly rejections: RejectionStore;
  readonly retention: UsageRetention;
  readonly rollUp: UsageRollUp;
  readonly settings: SettingsStore;
  readonly teams: TeamStore;
  readonly usage: UsageStore & UsageReports & UsageTimeStore & GenerationList;
}

/** The stores that are in the databases of a data directory. */
export interface SqliteStores extends MainStores {
  readonly responses: ResponseStore;
}

/** Creates all stores of the main database over one connection. */
export function createSqliteStores(connection: Database): MainStores {
  const database = createSqliteDatabase(connection);
  return {
    ...createSqlStores(database),
    budgets: new SqliteBudgetStore(database),
    keys: new SqliteKeyStore(database),
    ledger: new SqliteLedgerStore(connection),
    retention: new SqliteRetention(connection),
    rollUp: new SqliteRollUp(connection),
    usage: new SqliteUsageStore(connection),
  };
}
