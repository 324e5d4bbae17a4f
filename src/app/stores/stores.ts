import { join } from "node:path";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Leases } from "../../base/time/lease.ts";
import type { KeyStores } from "../../core/accounts/manage/manage-keys.ts";
import type { AccountStore } from "../../core/accounts/stores/account-store.ts";
import type { BudgetStore } from "../../core/accounts/stores/budget-store.ts";
import type { InvitationStore } from "../../core/accounts/stores/invitation-store.ts";
import type { TeamStore } from "../../core/accounts/stores/team-store.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { CatalogStore } from "../../core/catalog/refresh/catalog-store.ts";
import type { FormerTierStore } from "../../core/catalog/tiers/former-tiers.ts";
import type { ConsoleSessionStore } from "../../core/console/console-session-store.ts";
import type { IdentityStore } from "../../core/console/identity-store.ts";
import type { OidcTrialStore } from "../../core/console/oidc-trial-store.ts";
import type { PromptLogStore } from "../../core/extensions/prompt-log/prompt-log-store.ts";
import type { ChangeSource } from "../../core/gateways/change-source.ts";
import type { GatewayIdentity } from "../../core/gateways/gateway-identity.ts";
import type { GatewayRegistry } from "../../core/gateways/gateway-registry.ts";
import type { StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";
import type { MoneyLeases } from "../../core/ledger/leases/money-leases.ts";
import type { LedgerStore } from "../../core/ledger/records/ledger-store.ts";
import type { NamedRouteStore } from "../../core/named-routes/named-route-store.ts";
import type { ProviderKeyStore } from "../../core/provider-keys/provider-key-store.ts";
import type { ResponseStore } from "../../core/response-objects/records/response-store.ts";
import type { DrainStore } from "../../core/routing/health/drain-store.ts";
import type { HealthHistoryStore } from "../../core/routing/history/health-history-store.ts";
import type { SettingsStore } from "../../core/settings/settings-store.ts";
import type { ConfigStore } from "../../core/stored-config/config-store.ts";
import type { GenerationList } from "../../core/usage/generations/generation-list.ts";
import type { DamagedLines } from "../../core/usage/journal/journal.ts";
import type { UsageRetention, UsageRollUp } from "../../core/usage/records/retention.ts";
import type { RejectionStore } from "../../core/usage/rejections/rejection-store.ts";
import type { UsageReports, UsageStore, UsageTimeStore } from "../../core/usage/reports/usage-store.ts";
import type { StartStoreThread } from "../../storage/sqlite/threads/store-thread.ts";

/** The stores behind the ports. */
export interface Stores extends KeyStores {
  readonly accounts: AccountStore;
  readonly answers: StoredResponseStore;
  readonly audit: AuditStore;
  readonly budgets: BudgetStore;
  readonly catalog: CatalogStore;
  /** The settings that the management API has stored. */
  readonly config: ConfigStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly formerTiers: FormerTierStore;
  readonly identities: IdentityStore;
  readonly invitations: InvitationStore;
  readonly leases: Leases;
  readonly ledger: LedgerStore;
  /** The leases of money of this gateway, usable after `actAs`; null if no other gateway spends from the stores. */
  readonly moneyLeases: MoneyLeases | null;
  readonly namedRoutes: NamedRouteStore;
  readonly oidcTrials: OidcTrialStore;
  readonly promptLog: PromptLogStore;
  readonly providerKeys: ProviderKeyStore;
  readonly rejections: RejectionStore;
  /** Response objects and conversations. */
  readonly responses: ResponseStore;
  readonly settings: SettingsStore;
  readonly teams: TeamStore;
  readonly drains: DrainStore;
  readonly healthHistory: HealthHistoryStore;
  readonly retention: UsageRetention;
  readonly rollUp: UsageRollUp;
  readonly usage: UsageStore & UsageReports & UsageTimeStore & GenerationList;
  readonly gateways: GatewayRegistry;
  readonly changes: ChangeSource;
  /** Whether several gateways may use the stores at the same time. */
  readonly isShared: boolean;
  /** Makes every save of records and every borrow of money name a gateway. Call it when the gateway has registered. */
  actAs(identity: GatewayIdentity): void;
  /** Returns the usage store for records of a gateway that this process has taken over. */
  usageOf(identity: GatewayIdentity): UsageStore;
  /** Lists the damaged lines of the journal, which are kept in files of their own. */
  listDamagedLines(): readonly DamagedLines[];
  /** Returns whether a gateway runs on these stores. */
  isGatewayRunning(): Promise<boolean>;
  /** Names the stores in messages. */
  readonly location: string;
  /** The schema of a database that has several; null for SQLite. */
  readonly schema: string | null;
  close(): Promise<void>;
}

/** What stores use from outside the process. */
export interface StorePlatform {
  readonly clock: Clock;
  readonly random: Random;
  /** Measures the time of database calls, for tests that control `clock`. Defaults to `clock`. */
  readonly databaseClock?: Clock;
  /** Starts the threads of SQLite. Absent: its statements run in the thread of the caller, as in commands, which serve no requests. */
  readonly startStoreThread?: StartStoreThread;
}

/** The folder of the journal in a data directory. */
export function journalDirOf(dataDir: string): string {
  return join(dataDir, "journal");
}
