import { type Endpoint, serveEndpoint } from "../api/endpoint.ts";
import type { Handler } from "../context/context.ts";
import { postAcceptance, previewInvitation } from "./accounts/accept-invitation.ts";
import { deleteBudget, getBudget, listBudgets, patchBudget, postBudget } from "./accounts/admin-budgets.ts";
import { deleteIdentity, listIdentities, postIdentity } from "./accounts/admin-identities.ts";
import { deleteInvitation, listInvitations, postInvitation } from "./accounts/admin-invitations.ts";
import { deleteKey, getManagedKey, listKeys, patchKey, postKey, rotateKeyOf } from "./accounts/admin-keys.ts";
import { deleteMember, getMember, listMembers, putOrganizationMember } from "./accounts/admin-members.ts";
import {
  getOrganization,
  listOrganizations,
  patchOrganization,
  postOrganization,
} from "./accounts/admin-organizations.ts";
import { dryRunOfPolicy } from "./accounts/admin-policy.ts";
import {
  deleteProviderKey,
  listAllProviderKeys,
  listProviderKeys,
  patchProviderKey,
  postProviderKey,
  testProviderKey,
} from "./accounts/admin-provider-keys.ts";
import { deleteAdminSession, listSessions } from "./accounts/admin-sessions.ts";
import {
  deleteMemberOfTeam,
  deleteTeam,
  getTeam,
  listAllTeams,
  listTeamCandidates,
  listTeamMembers,
  listTeams,
  patchTeam,
  postTeam,
  putMemberOfTeam,
} from "./accounts/admin-teams.ts";
import { getUser, listUsers, patchUser, postUser } from "./accounts/admin-users.ts";
import { deleteSession, getSession, postSession } from "./accounts/console-session.ts";
import { getMe } from "./accounts/me.ts";
import { getOidcTrial, postOidcTrial } from "./accounts/oidc-trials.ts";
import { postPlaygroundKey } from "./accounts/playground-key.ts";
import { getActivity, getCredits, getKey } from "./accounts/self-service.ts";
import {
  approveCatalogChange,
  getCatalog,
  listCatalogChanges,
  postCatalogRefresh,
  rejectCatalogChange,
} from "./models/admin-catalog.ts";
import { getCatalogModel, listCatalogModels } from "./models/admin-models.ts";
import { listBalances } from "./money/admin-balances.ts";
import { postCorrection, postCredits, postPurchase, postRefund } from "./money/admin-credits.ts";
import { getBalance, getLedgerCheck, listHolds, listLedger } from "./money/admin-ledger.ts";
import { postPayment } from "./money/payments.ts";
import { getAuditVerdict, listAudit } from "./platform/admin-audit.ts";
import {
  deleteConfigSecret,
  exportConfig,
  getConfig,
  getConfigRevision,
  getConfigSchema,
  listConfigRevisions,
  listConfigSecrets,
  patchConfig,
  putConfig,
  putConfigSecret,
  restoreConfig,
} from "./platform/admin-config.ts";
import { listGateways } from "./platform/admin-gateways.ts";
import { listSettings, reloadSettings } from "./platform/admin-settings.ts";
import { listWebhooks, testWebhooks } from "./platform/admin-webhooks.ts";
import { listConfigProviders } from "./platform/config-providers.ts";
import { listProviderModels, tryGuardrail, tryProviderSettings } from "./platform/try-config.ts";
import {
  cancelKeptResponse,
  deleteKeptResponse,
  getKeptItems,
  getKeptResponse,
  getKeptUsage,
  listKeptResponses,
} from "./response-objects/admin-responses.ts";
import { explainRouteOf } from "./routing/admin-explain.ts";
import {
  clearProviderHealth,
  drainProvider,
  getHealth,
  testProvider,
  undrainProvider,
} from "./routing/admin-health.ts";
import { getHealthHistory, listIncidents } from "./routing/admin-health-history.ts";
import {
  deleteNamedRoute,
  getNamedRoute,
  listNamedRoutes,
  listNamedRouteVersions,
  putNamedRoute,
  restoreNamedRoute,
} from "./routing/admin-named-routes.ts";
import { deleteTier, getTier, listTiers, putTier } from "./routing/admin-tiers.ts";
import { getGenerationDetails } from "./traffic/admin-generation.ts";
import { listGenerations } from "./traffic/admin-generations.ts";
import { getPromptLogEntry } from "./traffic/admin-prompt-log.ts";
import { getRejection, listRejections } from "./traffic/admin-rejections.ts";
import { getUsage } from "./traffic/admin-usage.ts";
import { getGenerationHistogram } from "./traffic/generation-histogram.ts";
import { streamGenerations } from "./traffic/generation-stream.ts";

/** The endpoints of the management and self-service APIs. Routes and documentation derive from this list. */
export const ENDPOINTS: readonly Endpoint[] = [
  getMe,
  listUsers,
  postUser,
  getUser,
  patchUser,
  listOrganizations,
  postOrganization,
  getOrganization,
  patchOrganization,
  listMembers,
  getMember,
  putOrganizationMember,
  listInvitations,
  postInvitation,
  deleteInvitation,
  listAllTeams,
  listTeams,
  postTeam,
  getTeam,
  patchTeam,
  listTeamCandidates,
  listTeamMembers,
  putMemberOfTeam,
  deleteMemberOfTeam,
  deleteTeam,
  deleteMember,
  listKeys,
  postKey,
  getManagedKey,
  patchKey,
  rotateKeyOf,
  deleteKey,
  listGenerations,
  getGenerationHistogram,
  streamGenerations,
  listRejections,
  getRejection,
  getGenerationDetails,
  getPromptLogEntry,
  listKeptResponses,
  getKeptUsage,
  getKeptResponse,
  getKeptItems,
  cancelKeptResponse,
  deleteKeptResponse,
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
  getHealthHistory,
  listIncidents,
  testProvider,
  clearProviderHealth,
  drainProvider,
  undrainProvider,
  previewInvitation,
  postAcceptance,
  postSession,
  getSession,
  postOidcTrial,
  getOidcTrial,
  deleteSession,
  listSessions,
  deleteAdminSession,
  listIdentities,
  postIdentity,
  deleteIdentity,
  listSettings,
  reloadSettings,
  getConfig,
  getConfigSchema,
  exportConfig,
  patchConfig,
  putConfig,
  listConfigRevisions,
  getConfigRevision,
  restoreConfig,
  listConfigSecrets,
  putConfigSecret,
  deleteConfigSecret,
  listConfigProviders,
  tryProviderSettings,
  listProviderModels,
  tryGuardrail,
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
