import { accounts } from "./migrations/0001-accounts.ts";
import { usageAndLedger } from "./migrations/0002-usage-and-ledger.ts";
import { gateways } from "./migrations/0003-gateways.ts";
import { moneyLeases } from "./migrations/0004-money-leases.ts";
import { consoleSessions } from "./migrations/0005-console-sessions.ts";
import { identities } from "./migrations/0006-identities.ts";
import { plans } from "./migrations/0007-plans.ts";
import { answerCache } from "./migrations/0008-answer-cache.ts";
import { generationFilters } from "./migrations/0009-generation-filters.ts";
import { keyUses } from "./migrations/0010-key-uses.ts";
import { usageSums } from "./migrations/0011-usage-sums.ts";
import { sessionAuthentication } from "./migrations/0012-session-authentication.ts";
import { namedRoutes } from "./migrations/0013-named-routes.ts";
import { accountAliases } from "./migrations/0014-account-aliases.ts";
import { tags } from "./migrations/0015-tags.ts";
import { spendLimitPeriods } from "./migrations/0016-spend-limit-periods.ts";
import { margins } from "./migrations/0017-margins.ts";
import { budgets } from "./migrations/0018-budgets.ts";
import { redisIds } from "./migrations/0019-redis-ids.ts";
import { leaseFunctions } from "./migrations/0020-lease-functions.ts";
import { changedRows } from "./migrations/0021-changed-rows.ts";
import { cacheSavings } from "./migrations/0022-cache-savings.ts";
import type { Migration } from "./migrations/migration.ts";

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
];
