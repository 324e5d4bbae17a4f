import { SqlAccountStore } from "./account-store.ts";
import { SqlAuditStore } from "./audit-store.ts";
import { SqlBudgetStore } from "./budget-store.ts";
import { SqlConfigStore } from "./config-store.ts";
import { SqlConsoleSessionStore } from "./console-session-store.ts";
import { SqlDrainStore } from "./drain-store.ts";
import { SqlFormerTierStore } from "./former-tier-store.ts";
import { SqlHealthHistoryStore } from "./health-history-store.ts";
import { SqlIdentityStore } from "./identity-store.ts";
import { SqlInvitationStore } from "./invitation-store.ts";
import { SqlKeyStore } from "./key-store.ts";
import { SqlNamedRouteStore } from "./named-route-store.ts";
import { SqlOidcTrialStore } from "./oidc-trial-store.ts";
import { SqlPromptLogStore } from "./prompt-log-store.ts";
import { SqlProviderKeyStore } from "./provider-key-store.ts";
import { SqlRejectionStore } from "./rejection-store.ts";
import { SqlSettingsStore } from "./settings-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { SqlStoredResponseStore } from "./stored-response-store.ts";
import { SqlTeamStore } from "./team-store.ts";

/** Creates the stores that are written once for all databases. */
export function createSqlStores(database: SqlDatabase) {
  return {
    accounts: new SqlAccountStore(database),
    answers: new SqlStoredResponseStore(database),
    audit: new SqlAuditStore(database),
    budgets: new SqlBudgetStore(database),
    config: new SqlConfigStore(database),
    consoleSessions: new SqlConsoleSessionStore(database),
    drains: new SqlDrainStore(database),
    healthHistory: new SqlHealthHistoryStore(database),
    identities: new SqlIdentityStore(database),
    invitations: new SqlInvitationStore(database),
    keys: new SqlKeyStore(database),
    namedRoutes: new SqlNamedRouteStore(database),
    oidcTrials: new SqlOidcTrialStore(database),
    promptLog: new SqlPromptLogStore(database),
    providerKeys: new SqlProviderKeyStore(database),
    rejections: new SqlRejectionStore(database),
    settings: new SqlSettingsStore(database),
    formerTiers: new SqlFormerTierStore(database),
    teams: new SqlTeamStore(database),
  };
}
