import { accountsAndLedger } from "./migrations/0001-accounts-and-ledger.ts";
import { auditLogAndResponses } from "./migrations/0002-audit-log-and-responses.ts";
import { grantsAndUsageDays } from "./migrations/0003-grants-and-usage-days.ts";
import { providerKeys } from "./migrations/0004-provider-keys.ts";
import { begunChanges } from "./migrations/0005-begun-changes.ts";
import { grantsByWriter } from "./migrations/0006-grants-by-writer.ts";
import { freeRequests } from "./migrations/0007-free-requests.ts";
import { quarantine } from "./migrations/0008-quarantine.ts";
import { openGenerations } from "./migrations/0009-open-generations.ts";
import { platformBalance } from "./migrations/0010-platform-balance.ts";
import { promptLog } from "./migrations/0011-prompt-log.ts";
import { credits } from "./migrations/0012-credits.ts";
import { retention } from "./migrations/0013-retention.ts";
import { consoleSessions } from "./migrations/0014-console-sessions.ts";
import { endedEarly } from "./migrations/0015-ended-early.ts";
import { identities } from "./migrations/0016-identities.ts";
import { notCompleted } from "./migrations/0017-not-completed.ts";
import { plans } from "./migrations/0018-plans.ts";
import { answerCache } from "./migrations/0019-answer-cache.ts";
import { generationFilters } from "./migrations/0020-generation-filters.ts";
import { keyUses } from "./migrations/0021-key-uses.ts";
import { generationSessions } from "./migrations/0022-generation-sessions.ts";
import { usageSums } from "./migrations/0023-usage-sums.ts";
import { sessionAuthentication } from "./migrations/0024-session-authentication.ts";
import { namedRoutes } from "./migrations/0025-named-routes.ts";
import { accountAliases } from "./migrations/0026-account-aliases.ts";
import { tags } from "./migrations/0027-tags.ts";
import { spendLimitPeriods } from "./migrations/0028-spend-limit-periods.ts";
import { margins } from "./migrations/0029-margins.ts";
import { budgets } from "./migrations/0030-budgets.ts";
import { listIndexes } from "./migrations/0031-list-indexes.ts";
import { cacheSavings } from "./migrations/0032-cache-savings.ts";
import type { SqliteMigration } from "./migrations/migration.ts";

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
];
