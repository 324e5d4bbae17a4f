import { type Endpoint, serveEndpoint } from "../api/endpoint.ts";
import type { Handler } from "../context/context.ts";
import { getAuditVerdict, listAudit } from "./admin-audit.ts";
import { listBalances } from "./admin-balances.ts";
import { deleteBudget, getBudget, listBudgets, patchBudget, postBudget } from "./admin-budgets.ts";
import {
  approveCatalogChange,
  getCatalog,
  listCatalogChanges,
  postCatalogRefresh,
  rejectCatalogChange,
} from "./admin-catalog.ts";
import { postCorrection, postCredits, postPurchase, postRefund } from "./admin-credits.ts";
import { explainRouteOf } from "./admin-explain.ts";
import { listGateways } from "./admin-gateways.ts";
import { getGenerationDetails } from "./admin-generation.ts";
import { listGenerations } from "./admin-generations.ts";
import {
  clearProviderHealth,
  drainProvider,
  getHealth,
  testProvider,
  undrainProvider,
} from "./admin-health.ts";
import { deleteIdentity, listIdentities, postIdentity } from "./admin-identities.ts";
import { deleteKey, getManagedKey, listKeys, patchKey, postKey } from "./admin-keys.ts";
import { getBalance, getLedgerCheck, listHolds, listLedger } from "./admin-ledger.ts";
import { deleteMember, listMembers, putOrganizationMember } from "./admin-members.ts";
import { getCatalogModel, listCatalogModels } from "./admin-models.ts";
import {
  deleteNamedRoute,
  getNamedRoute,
  listNamedRoutes,
  listNamedRouteVersions,
  putNamedRoute,
  restoreNamedRoute,
} from "./admin-named-routes.ts";
import {
  getOrganization,
  listOrganizations,
  patchOrganization,
  postOrganization,
} from "./admin-organizations.ts";
import { dryRunOfPolicy } from "./admin-policy.ts";
import { getPromptLogEntry } from "./admin-prompt-log.ts";
import {
  deleteProviderKey,
  listAllProviderKeys,
  listProviderKeys,
  patchProviderKey,
  postProviderKey,
  testProviderKey,
} from "./admin-provider-keys.ts";
import { deleteAdminSession, listSessions } from "./admin-sessions.ts";
import { listSettings, reloadSettings } from "./admin-settings.ts";
import { deleteTier, getTier, listTiers, putTier } from "./admin-tiers.ts";
import { getUsage } from "./admin-usage.ts";
import { getUser, listUsers, patchUser, postUser } from "./admin-users.ts";
import { listWebhooks, testWebhooks } from "./admin-webhooks.ts";
import { deleteSession, getSession, postSession } from "./console-session.ts";
import { getGenerationHistogram } from "./generation-histogram.ts";
import { streamGenerations } from "./generation-stream.ts";
import { postPayment } from "./payments.ts";
import { postPlaygroundKey } from "./playground-key.ts";
import { getActivity, getCredits, getKey } from "./self-service.ts";

/** The endpoints of the management and self-service APIs. Routes and documentation derive from this list. */
export const ENDPOINTS: readonly Endpoint[] = [
  listUsers,
  postUser,
  getUser,
  patchUser,
  listOrganizations,
  postOrganization,
  getOrganization,
  patchOrganization,
  listMembers,
  putOrganizationMember,
  deleteMember,
  listKeys,
  postKey,
  getManagedKey,
  patchKey,
  deleteKey,
  listGenerations,
  getGenerationHistogram,
  streamGenerations,
  getGenerationDetails,
  getPromptLogEntry,
  postBudget,
  listBudgets,
  getBudget,
  patchBudget,
  deleteBudget,
  listAudit,
  getAuditVerdict,
  postCredits,
  postPurchase,
  postCorrection,
  postRefund,
  getBalance,
  listBalances,
  listLedger,
  listHolds,
  getLedgerCheck,
  getUsage,
  postPayment,
  getKey,
  getCredits,
  getActivity,
  listAllProviderKeys,
  listProviderKeys,
  postProviderKey,
  patchProviderKey,
  deleteProviderKey,
  testProviderKey,
  getCatalog,
  postCatalogRefresh,
  listCatalogChanges,
  approveCatalogChange,
  rejectCatalogChange,
  listCatalogModels,
  getCatalogModel,
  listGateways,
  getHealth,
  testProvider,
  clearProviderHealth,
  drainProvider,
  undrainProvider,
  postSession,
  getSession,
  deleteSession,
  listSessions,
  deleteAdminSession,
  listIdentities,
  postIdentity,
  deleteIdentity,
  listSettings,
  reloadSettings,
  postPlaygroundKey,
  listTiers,
  getTier,
  putTier,
  deleteTier,
  listNamedRoutes,
  getNamedRoute,
  putNamedRoute,
  deleteNamedRoute,
  listNamedRouteVersions,
  restoreNamedRoute,
  explainRouteOf,
  dryRunOfPolicy,
  listWebhooks,
  testWebhooks,
];

/** Returns the handlers of endpoints at a fixed path, or of those under every gateway prefix, by path and method. */
export function apiRoutes(where: "fixed" | "every prefix"): Record<string, Record<string, Handler>> {
  const routes: Record<string, Record<string, Handler>> = {};
  for (const endpoint of ENDPOINTS) {
    if ((endpoint.everyPrefix === true) !== (where === "every prefix")) continue;
    routes[endpoint.path] = { ...routes[endpoint.path], [endpoint.method]: serveEndpoint(endpoint) };
  }
  return routes;
}
