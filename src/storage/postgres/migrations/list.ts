import { accounts } from "./0001-accounts.ts";
import { usageAndLedger } from "./0002-usage-and-ledger.ts";
import { gateways } from "./0003-gateways.ts";
import { moneyLeases } from "./0004-money-leases.ts";
import { consoleSessions } from "./0005-console-sessions.ts";
import { identities } from "./0006-identities.ts";
import { plans } from "./0007-plans.ts";
import { answerCache } from "./0008-answer-cache.ts";
import { generationFilters } from "./0009-generation-filters.ts";
import { keyUses } from "./0010-key-uses.ts";
import { usageSums } from "./0011-usage-sums.ts";
import { sessionAuthentication } from "./0012-session-authentication.ts";
import { namedRoutes } from "./0013-named-routes.ts";
import { accountAliases } from "./0014-account-aliases.ts";
import { tags } from "./0015-tags.ts";
import { spendLimitPeriods } from "./0016-spend-limit-periods.ts";
import { margins } from "./0017-margins.ts";
import { budgets } from "./0018-budgets.ts";
import { redisIds } from "./0019-redis-ids.ts";
import { leaseFunctions } from "./0020-lease-functions.ts";
import { changedRows } from "./0021-changed-rows.ts";
import { cacheSavings } from "./0022-cache-savings.ts";
import { storedConfig } from "./0023-stored-config.ts";
import { healthHistory } from "./0024-health-history.ts";
import { oidcTrials } from "./0025-oidc-trials.ts";
import { rejections } from "./0026-rejections.ts";
import { auditFilters } from "./0027-audit-filters.ts";
import { waysToEnd } from "./0028-ways-to-end.ts";
import { teams } from "./0029-teams.ts";
import { responseObjects } from "./0030-response-objects.ts";
import type { Migration } from "./migration.ts";

/** The steps that create and change the tables, in order. The version of a schema is the number of its steps. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  usageAndLedger,
  gateways,
  moneyLeases,
  consoleSessions,
  identities,
  plans,
  answerCache,
  generationFilters,
  keyUses,
  usageSums,
  sessionAuthentication,
  namedRoutes,
  accountAliases,
  tags,
  spendLimitPeriods,
  margins,
  budgets,
  redisIds,
  leaseFunctions,
  changedRows,
  cacheSavings,
  storedConfig,
  healthHistory,
  oidcTrials,
  rejections,
  auditFilters,
  waysToEnd,
  teams,
  responseObjects,
];
