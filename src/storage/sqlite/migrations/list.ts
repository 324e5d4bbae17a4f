import { accountsAndLedger } from "./0001-accounts-and-ledger.ts";
import { auditLogAndResponses } from "./0002-audit-log-and-responses.ts";
import { grantsAndUsageDays } from "./0003-grants-and-usage-days.ts";
import { providerKeys } from "./0004-provider-keys.ts";
import { begunChanges } from "./0005-begun-changes.ts";
import { grantsByWriter } from "./0006-grants-by-writer.ts";
import { freeRequests } from "./0007-free-requests.ts";
import { quarantine } from "./0008-quarantine.ts";
import { openGenerations } from "./0009-open-generations.ts";
import { platformBalance } from "./0010-platform-balance.ts";
import { promptLog } from "./0011-prompt-log.ts";
import { credits } from "./0012-credits.ts";
import { retention } from "./0013-retention.ts";
import { consoleSessions } from "./0014-console-sessions.ts";
import { endedEarly } from "./0015-ended-early.ts";
import { identities } from "./0016-identities.ts";
import { notCompleted } from "./0017-not-completed.ts";
import { plans } from "./0018-plans.ts";
import { answerCache } from "./0019-answer-cache.ts";
import { generationFilters } from "./0020-generation-filters.ts";
import { keyUses } from "./0021-key-uses.ts";
import { generationSessions } from "./0022-generation-sessions.ts";
import { usageSums } from "./0023-usage-sums.ts";
import { sessionAuthentication } from "./0024-session-authentication.ts";
import { namedRoutes } from "./0025-named-routes.ts";
import { accountAliases } from "./0026-account-aliases.ts";
import { tags } from "./0027-tags.ts";
import { spendLimitPeriods } from "./0028-spend-limit-periods.ts";
import { margins } from "./0029-margins.ts";
import { budgets } from "./0030-budgets.ts";
import { listIndexes } from "./0031-list-indexes.ts";
import { cacheSavings } from "./0032-cache-savings.ts";
import { storedConfig } from "./0033-stored-config.ts";
import { healthHistory } from "./0034-health-history.ts";
import { oidcTrials } from "./0035-oidc-trials.ts";
import { rejections } from "./0036-rejections.ts";
import { auditFilters } from "./0037-audit-filters.ts";
import { waysToEnd } from "./0038-ways-to-end.ts";
import { teams } from "./0039-teams.ts";
import type { SqliteMigration } from "./migration.ts";

/** The steps that create and change the tables, in order. The version of a schema is the number of its steps. */
export const MIGRATIONS: readonly SqliteMigration[] = [
  accountsAndLedger,
  auditLogAndResponses,
  grantsAndUsageDays,
  providerKeys,
  begunChanges,
  grantsByWriter,
  freeRequests,
  quarantine,
  openGenerations,
  platformBalance,
  promptLog,
  credits,
  retention,
  consoleSessions,
  endedEarly,
  identities,
  notCompleted,
  plans,
  answerCache,
  generationFilters,
  keyUses,
  generationSessions,
  usageSums,
  sessionAuthentication,
  namedRoutes,
  accountAliases,
  tags,
  spendLimitPeriods,
  margins,
  budgets,
  listIndexes,
  cacheSavings,
  storedConfig,
  healthHistory,
  oidcTrials,
  rejections,
  auditFilters,
  waysToEnd,
  teams,
];
