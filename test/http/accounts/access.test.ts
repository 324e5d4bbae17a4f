import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENDPOINTS } from "../../../src/http/routes/endpoints.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";

/** The kinds of callers: without a key, with an invalid key, with an inference key, and with management keys. */
const CALLERS = [
  "anonymous",
  "invalid",
  "inference",
  "member",
  "lead",
  "billing",
  "auditor",
  "admin",
  "owner",
  "service",
  "removed",
  "stranger",
  "person",
  "operator",
] as const;
type CallerName = (typeof CALLERS)[number];

/** The resources that exist before each call: an organization with a member of each role, and a user of no organization. */
interface Scene {
  readonly organization: string;
  readonly person: string;
  /** A user of no organization. */
  readonly newcomer: string;
  /** An inference key of the organization. */
  readonly keyId: string;
  /** A budget of the organization that it has set itself. */
  readonly budgetId: string;
  /** A team with a lead and the newcomer. */
  readonly teamId: string;
  /** An open invitation of the operator. */
  readonly invitationId: string;
}

interface Row {
  /** The path relative to `/api/admin`. */
  readonly path: (scene: Scene) => string;
  readonly body?: (scene: Scene) => unknown;
  readonly status: Readonly<Record<CallerName, number>>;
}

const NO_KEY = { anonymous: 401, invalid: 401, inference: 403 };
const REMOVED = { removed: 401 };

const operatorOnly = (status: number): Row["status"] => ({
  ...NO_KEY,
  ...REMOVED,
  member: 403,
  lead: 403,
  billing: 403,
  auditor: 403,
  admin: 403,
  owner: 403,
  service: 403,
  stranger: 403,
  person: 403,
  operator: status,
});

/**
 * Endpoints of one organization: `billing` and `auditor` may read and not change; callers outside of it get a 404. `auditor` also reads what
 * `billing` does not see.
 */
const organizationOnly = (status: number, billing: number, auditor = billing): Row["status"] => ({
  ...NO_KEY,
  ...REMOVED,
  member: 403,
  lead: 403,
  billing,
  auditor,
  admin: status,
  owner: status,
  service: status,
  stranger: 404,
  person: 404,
  operator: status,
});

/** Endpoints of the user who is in no organization: the keys of organizations get a 404. */
const personOnly = (billing: number): Row["status"] => ({
  ...NO_KEY,
  ...REMOVED,
  member: 403,
  lead: 403,
  billing,
  auditor: billing,
  admin: 404,
  owner: 404,
  service: 404,
  stranger: 404,
  person: 200,
  operator: 200,
});

/** Endpoints that act on the caller's own account. */
const callerAccount = (status: number, billing: number, auditor = billing): Row["status"] => ({
  ...organizationOnly(status, billing, auditor),
  stranger: status,
  person: status,
});

/** Endpoints for management keys of every role. */
const managementOnly = (status: number): Row["status"] => ({
  ...callerAccount(status, status),
  member: status,
  lead: status,
});

/** Endpoints of a team of the organization for those who may read it, and for its members. */
const teamReaders = (status: number): Row["status"] => ({
  ...organizationOnly(status, status),
  member: 404,
  lead: status,
});

/** Endpoints that change a team: `lead` is the status for its lead. */
const teamManagers = (status: number, lead: number): Row["status"] => ({
  ...organizationOnly(status, 403),
  lead,
});

const everyCaller = (status: number): Row["status"] =>
  Object.fromEntries(CALLERS.map((principal) => [principal, status])) as Row["status"];

/** Endpoints that describe the inference key that calls them. */
const inferenceOnly: Row["status"] = { ...everyCaller(403), ...NO_KEY, ...REMOVED, inference: 200 };

const accountPath =
  (of: string) =>
  ({ organization }: Scene) =>
    `/accounts/${organization}/${of}`;
const organizationPath = ({ organization }: Scene) => `/organizations/${organization}`;
const newcomerPath = ({ organization, newcomer }: Scene) =>
  `/organizations/${organization}/members/${newcomer}`;
const teamPath =
  (of: string) =>
  ({ organization, teamId }: Scene) =>
    `/organizations/${organization}/teams/${teamId}${of}`;
const rename = () => ({ name: "New name" });

/** The call of each endpoint, and the status for each kind of caller. */
const ROWS: Readonly<Record<string, Row>> = {
  "GET /api/admin/me": { path: () => "/me", status: managementOnly(200) },
  "GET /api/admin/users": { path: () => "/users", status: operatorOnly(200) },
  "POST /api/admin/users": { path: () => "/users", body: rename, status: operatorOnly(201) },
  "GET /api/admin/users/:id": { path: ({ person }) => `/users/${person}`, status: personOnly(404) },
  "PATCH /api/admin/users/:id": {
    path: ({ person }) => `/users/${person}`,
    body: rename,
    status: personOnly(403),
  },
  "GET /api/admin/organizations": { path: () => "/organizations", status: operatorOnly(200) },
  "POST /api/admin/organizations": {
    path: () => "/organizations",
    body: rename,
    status: operatorOnly(201),
  },
  "GET /api/admin/organizations/:id": { path: organizationPath, status: organizationOnly(200, 200) },
  "PATCH /api/admin/organizations/:id": {
    path: organizationPath,
    body: rename,
    status: organizationOnly(200, 403),
  },
  "GET /api/admin/organizations/:id/members": {
    path: ({ organization }) => `/organizations/${organization}/members`,
    status: organizationOnly(200, 200),
  },
  "GET /api/admin/organizations/:id/members/:user_id": {
    path: newcomerPath,
    status: { ...organizationOnly(200, 200), member: 404, lead: 404 },
  },
  "PUT /api/admin/organizations/:id/members/:user_id": {
    path: newcomerPath,
    body: () => ({ role: "member" }),
    status: organizationOnly(200, 403),
  },
  "DELETE /api/admin/organizations/:id/members/:user_id": {
    path: newcomerPath,
    status: organizationOnly(200, 403),
  },
  "GET /api/admin/keys": {
    path: ({ organization }) => `/keys?account_id=${organization}`,
    status: { ...organizationOnly(200, 200), member: 200, lead: 200 },
  },
  // Members and leads make keys of their own.
  "POST /api/admin/keys": {
    path: () => "/keys",
    body: ({ organization }) => ({ name: "k", account_id: organization }),
    status: { ...organizationOnly(201, 403), member: 201, lead: 201 },
  },
  "GET /api/admin/keys/:id": {
    path: ({ keyId }) => `/keys/${keyId}`,
    status: { ...organizationOnly(200, 200), member: 404, lead: 404 },
  },
  "PATCH /api/admin/keys/:id": {
    path: ({ keyId }) => `/keys/${keyId}`,
    body: rename,
    status: { ...organizationOnly(200, 403), member: 404, lead: 404 },
  },
  "POST /api/admin/keys/:id/rotate": {
    path: ({ keyId }) => `/keys/${keyId}/rotate`,
    body: () => ({}),
    status: { ...organizationOnly(200, 403), member: 404, lead: 404 },
  },
  "DELETE /api/admin/keys/:id": {
    path: ({ keyId }) => `/keys/${keyId}`,
    status: { ...organizationOnly(200, 403), member: 404, lead: 404 },
  },
  "GET /api/admin/organizations/:id/invitations": {
    path: ({ organization }) => `/organizations/${organization}/invitations`,
    status: { ...organizationOnly(200, 403, 200), lead: 200 },
  },
  "POST /api/admin/organizations/:id/invitations": {
    path: ({ organization }) => `/organizations/${organization}/invitations`,
    body: ({ teamId }) => ({ teams: [{ id: teamId }] }),
    status: { ...organizationOnly(201, 403), lead: 201 },
  },
  // Made by the operator, so that leads may not withdraw it.
  "DELETE /api/admin/organizations/:id/invitations/:invitation_id": {
    path: ({ organization, invitationId }) => `/organizations/${organization}/invitations/${invitationId}`,
    status: organizationOnly(200, 403),
  },
  "GET /api/admin/teams": { path: () => "/teams", status: managementOnly(200) },
  "GET /api/admin/organizations/:id/teams": {
    path: ({ organization }) => `/organizations/${organization}/teams`,
    status: { ...organizationOnly(200, 200), member: 200, lead: 200 },
  },
  "POST /api/admin/organizations/:id/teams": {
    path: ({ organization }) => `/organizations/${organization}/teams`,
    body: () => ({ name: crypto.randomUUID() }),
    status: organizationOnly(201, 403),
  },
  "GET /api/admin/organizations/:id/teams/:team_id": { path: teamPath(""), status: teamReaders(200) },
  "PATCH /api/admin/organizations/:id/teams/:team_id": {
    path: teamPath(""),
    body: () => ({ tags: ["team:x"] }),
    status: teamManagers(200, 403),
  },
  "DELETE /api/admin/organizations/:id/teams/:team_id": {
    path: teamPath(""),
    status: teamManagers(200, 403),
  },
  "GET /api/admin/organizations/:id/teams/:team_id/members": {
    path: teamPath("/members"),
    status: teamReaders(200),
  },
  "GET /api/admin/organizations/:id/teams/:team_id/candidates": {
    path: teamPath("/candidates"),
    status: { ...teamManagers(200, 200), member: 404 },
  },
  "PUT /api/admin/organizations/:id/teams/:team_id/members/:user_id": {
    path: (scene) => teamPath(`/members/${scene.newcomer}`)(scene),
    body: () => ({}),
    status: { ...teamManagers(200, 200), member: 404 },
  },
  "DELETE /api/admin/organizations/:id/teams/:team_id/members/:user_id": {
    path: (scene) => teamPath(`/members/${scene.newcomer}`)(scene),
    status: { ...teamManagers(200, 200), member: 404 },
  },
  "GET /api/admin/accounts/:id/provider-keys": {
    path: accountPath("provider-keys"),
    status: organizationOnly(200, 403, 200),
  },
  "POST /api/admin/accounts/:id/provider-keys": {
    path: accountPath("provider-keys"),
    body: () => ({ provider: "openai", key: "sk-test-of-access" }),
    status: organizationOnly(201, 403),
  },
  "PATCH /api/admin/accounts/:id/provider-keys/:key_id": {
    path: accountPath("provider-keys/pkey_none"),
    body: rename,
    status: organizationOnly(404, 403),
  },
  "DELETE /api/admin/accounts/:id/provider-keys/:key_id": {
    path: accountPath("provider-keys/pkey_none"),
    status: organizationOnly(404, 403),
  },
  "POST /api/admin/accounts/:id/provider-keys/:key_id/test": {
    path: accountPath("provider-keys/pkey_none/test"),
    body: () => ({}),
    status: organizationOnly(404, 403),
  },
  "POST /api/admin/accounts/:id/credits": {
    path: accountPath("credits"),
    body: () => ({ amount: "1" }),
    status: operatorOnly(201),
  },
  "POST /api/admin/accounts/:id/purchases": {
    path: accountPath("purchases"),
    body: () => ({ id: crypto.randomUUID(), amount: "1" }),
    status: operatorOnly(201),
  },
  "POST /api/admin/accounts/:id/corrections": {
    path: accountPath("corrections"),
    body: () => ({ amount: "1", note: "by hand" }),
    status: operatorOnly(201),
  },
  "GET /api/admin/generations/:id/bodies": {
    path: () => "/generations/gen_none/bodies",
    status: callerAccount(404, 403, 404),
  },
  "GET /api/admin/responses": {
    path: ({ organization }) => `/responses?account_id=${organization}`,
    status: { ...organizationOnly(200, 200), member: 200, lead: 200 },
  },
  "GET /api/admin/responses/usage": {
    path: ({ organization }) => `/responses/usage?account_id=${organization}`,
    status: organizationOnly(200, 200),
  },
  // Tested with responses of several people in response-objects/manage.test.ts.
  "GET /api/admin/responses/:id": { path: () => "/responses/gen_none", status: managementOnly(404) },
  "GET /api/admin/responses/:id/items": {
    path: () => "/responses/gen_none/items",
    status: callerAccount(404, 403, 404),
  },
  "POST /api/admin/responses/:id/cancel": {
    path: () => "/responses/gen_none/cancel",
    body: () => ({}),
    status: managementOnly(404),
  },
  "DELETE /api/admin/responses/:id": { path: () => "/responses/gen_none", status: managementOnly(404) },
  "POST /api/admin/generations/:id/refund": {
    path: () => "/generations/gen_none/refund",
    body: () => ({}),
    status: operatorOnly(404),
  },
  "GET /api/admin/accounts/:id/balance": { path: accountPath("balance"), status: organizationOnly(200, 200) },
  "GET /api/admin/accounts/:id/ledger": { path: accountPath("ledger"), status: organizationOnly(200, 200) },
  "GET /api/admin/balances": { path: () => "/balances", status: operatorOnly(200) },
  "GET /api/admin/holds": { path: () => "/holds", status: operatorOnly(200) },
  "GET /api/admin/ledger/check": { path: () => "/ledger/check", status: operatorOnly(200) },
  "GET /api/admin/generations": { path: () => "/generations", status: managementOnly(200) },
  "GET /api/admin/generations/histogram": {
    path: () => "/generations/histogram",
    status: managementOnly(200),
  },
  "GET /api/admin/generations/stream": {
    path: () => "/generations/stream",
    status: managementOnly(200),
  },
  "GET /api/admin/generations/:id": {
    path: () => "/generations/gen_none",
    status: managementOnly(404),
  },
  "GET /api/admin/usage": {
    path: () => "/usage?from=2026-01-01&to=2026-01-31",
    status: managementOnly(200),
  },
  // Signed requests need no key. No signing secret is configured here, so that the endpoint does not exist.
  "POST /api/payments/webhook": {
    path: () => "/../payments/webhook",
    body: () => ({}),
    status: everyCaller(404),
  },
  "GET /key": { path: () => "/../gateway/key", status: inferenceOnly },
  "GET /credits": { path: () => "/../gateway/credits", status: inferenceOnly },
  "GET /activity": { path: () => "/../gateway/activity", status: inferenceOnly },
  "GET /api/admin/audit": { path: () => "/audit", status: callerAccount(200, 403, 200) },
  "GET /api/admin/audit/verify": { path: () => "/audit/verify", status: operatorOnly(200) },
  "GET /api/admin/gateways": { path: () => "/gateways", status: operatorOnly(200) },
  "GET /api/admin/health": { path: () => "/health", status: operatorOnly(200) },
  "GET /api/admin/health/history": { path: () => "/health/history", status: operatorOnly(200) },
  "GET /api/admin/incidents": { path: () => "/incidents", status: operatorOnly(200) },
  "POST /api/admin/health/:provider/test": { path: () => "/health/sandbox/test", status: operatorOnly(200) },
  "POST /api/admin/health/:provider/clear": {
    path: () => "/health/sandbox/clear",
    status: operatorOnly(200),
  },
  "GET /api/admin/webhooks": { path: () => "/webhooks", status: operatorOnly(200) },
  // None is configured.
  "POST /api/admin/webhooks/test": {
    path: () => "/webhooks/test",
    body: () => ({}),
    status: operatorOnly(404),
  },
  // Of a provider that no other row calls.
  "POST /api/admin/health/:provider/drain": {
    path: () => "/health/anthropic/drain",
    body: () => ({}),
    status: operatorOnly(200),
  },
  // It has no drain.
  "DELETE /api/admin/health/:provider/drain": {
    path: () => "/health/openai/drain",
    status: operatorOnly(404),
  },
  // Without a key or a code in the body.
  "POST /api/console/invitations/preview": {
    path: () => "/../console/invitations/preview",
    body: () => ({}),
    status: everyCaller(400),
  },
  "POST /api/console/invitations/accept": {
    path: () => "/../console/invitations/accept",
    body: () => ({}),
    status: everyCaller(400),
  },
  "POST /api/console/session": {
    path: () => "/../console/session",
    body: () => ({}),
    status: everyCaller(400),
  },
  // A key is no session.
  "GET /api/console/session": { path: () => "/../console/session", status: everyCaller(401) },
  "DELETE /api/console/session": { path: () => "/../console/session", status: everyCaller(401) },
  // A key is no session, in which alone a trial begins.
  "POST /api/console/oidc/trials": {
    path: () => "/../console/oidc/trials",
    body: () => ({ issuer: "https://id.example.com", client_id: "x", client_secret: "x" }),
    status: everyCaller(401),
  },
  "GET /api/console/oidc/trials/:id": {
    path: () => "/../console/oidc/trials/trial_none",
    status: operatorOnly(404),
  },
  "POST /api/console/playground-key": {
    path: () => "/../console/playground-key",
    body: () => ({}),
    status: { ...managementOnly(201), auditor: 403 },
  },
  "GET /api/admin/provider-keys": { path: () => "/provider-keys", status: operatorOnly(200) },
  "GET /api/admin/identities": { path: () => "/identities", status: operatorOnly(200) },
  "POST /api/admin/users/:id/identities": {
    path: () => "/users/user_none/identities",
    body: () => ({ issuer: "https://id.example.com", subject: "x" }),
    status: operatorOnly(400),
  },
  "DELETE /api/admin/users/:id/identities/:subject": {
    path: () => "/users/user_none/identities/x",
    status: operatorOnly(404),
  },
  "GET /api/admin/sessions": { path: () => "/sessions", status: managementOnly(200) },
  "DELETE /api/admin/sessions/:id": { path: () => "/sessions/sess_none", status: managementOnly(404) },
  "GET /api/admin/tiers": { path: () => "/tiers", status: operatorOnly(200) },
  "PUT /api/admin/tiers/:id": {
    path: () => "/tiers/fast",
    body: () => ({ name: "Fast", rule: { by: "free" } }),
    status: operatorOnly(200),
  },
  "GET /api/admin/tiers/:id": { path: () => "/tiers/free", status: operatorOnly(200) },
  // No tier with this id is stored.
  "DELETE /api/admin/tiers/:id": { path: () => "/tiers/none", status: operatorOnly(404) },
  "GET /api/admin/budgets": {
    path: ({ organization }) => `/budgets?account_id=${organization}`,
    status: { ...organizationOnly(200, 200), member: 200, lead: 200 },
  },
  "POST /api/admin/budgets": {
    path: () => "/budgets",
    body: ({ organization }) => ({ limit: 5, account_id: organization }),
    status: organizationOnly(201, 403),
  },
  "GET /api/admin/budgets/:id": {
    path: ({ budgetId }) => `/budgets/${budgetId}`,
    status: { ...organizationOnly(200, 200), member: 200, lead: 200 },
  },
  "PATCH /api/admin/budgets/:id": {
    path: ({ budgetId }) => `/budgets/${budgetId}`,
    body: () => ({ limit: 7 }),
    status: organizationOnly(200, 403),
  },
  "DELETE /api/admin/budgets/:id": {
    path: ({ budgetId }) => `/budgets/${budgetId}`,
    status: organizationOnly(200, 403),
  },
  "GET /api/admin/named-routes": {
    path: ({ organization }) => `/named-routes?account_id=${organization}`,
    status: organizationOnly(200, 200),
  },
  "PUT /api/admin/named-routes/:name": {
    path: ({ organization }) => `/named-routes/fast?account_id=${organization}`,
    body: () => ({ kind: "alias", target: "sandbox/echo" }),
    status: organizationOnly(200, 403),
  },
  // No named route with this name is stored.
  "GET /api/admin/named-routes/:name": {
    path: ({ organization }) => `/named-routes/none?account_id=${organization}`,
    status: organizationOnly(404, 404),
  },
  "GET /api/admin/named-routes/:name/versions": {
    path: ({ organization }) => `/named-routes/none/versions?account_id=${organization}`,
    status: organizationOnly(200, 200),
  },
  "POST /api/admin/named-routes/:name/restore": {
    path: ({ organization }) => `/named-routes/none/restore?account_id=${organization}`,
    body: () => ({ version: 1 }),
    status: organizationOnly(404, 403),
  },
  "DELETE /api/admin/named-routes/:name": {
    path: ({ organization }) => `/named-routes/none?account_id=${organization}`,
    status: organizationOnly(404, 403),
  },
  "POST /api/admin/route/explain": {
    path: () => "/route/explain",
    body: () => ({ request: { model: "sandbox/echo", messages: [{ role: "user", content: "Hi" }] } }),
    status: callerAccount(200, 200),
  },
  "POST /api/admin/policy/dry-run": {
    path: () => "/policy/dry-run",
    body: ({ organization }) => ({ account_id: organization }),
    status: organizationOnly(200, 403, 200),
  },
  "GET /api/admin/rejections": { path: () => "/rejections", status: managementOnly(200) },
  "GET /api/admin/rejections/:id": {
    path: () => "/rejections/req_01h455vb4pex5vsknk084sn02q",
    status: managementOnly(404),
  },
  "GET /api/admin/config": { path: () => "/config", status: operatorOnly(200) },
  "GET /api/admin/config/schema": { path: () => "/config/schema", status: operatorOnly(200) },
  "GET /api/admin/config/providers": { path: () => "/config/providers", status: operatorOnly(200) },
  "GET /api/admin/config/export": { path: () => "/config/export", status: operatorOnly(200) },
  "PATCH /api/admin/config": {
    path: () => "/config?dry_run=true",
    body: () => ({}),
    status: operatorOnly(200),
  },
  "PUT /api/admin/config": {
    path: () => "/config?dry_run=true",
    body: () => ({ document: {} }),
    status: operatorOnly(200),
  },
  "GET /api/admin/config/revisions": { path: () => "/config/revisions", status: operatorOnly(200) },
  "GET /api/admin/config/revisions/:revision": {
    path: () => "/config/revisions/999999",
    status: operatorOnly(404),
  },
  "POST /api/admin/config/revisions/:revision/restore": {
    path: () => "/config/revisions/999999/restore",
    body: () => ({}),
    status: operatorOnly(404),
  },
  "GET /api/admin/config/secrets": { path: () => "/config/secrets", status: operatorOnly(200) },
  "PUT /api/admin/config/secrets/:id": {
    path: () => "/config/secrets/spare",
    body: () => ({ value: "a-secret-value" }),
    status: operatorOnly(200),
  },
  "DELETE /api/admin/config/secrets/:id": {
    path: () => "/config/secrets/none",
    status: operatorOnly(404),
  },
  "POST /api/admin/config/providers/:provider/test": {
    path: () => "/config/providers/none/test",
    body: () => ({}),
    status: operatorOnly(400),
  },
  "POST /api/admin/config/providers/:provider/models": {
    path: () => "/config/providers/none/models",
    body: () => ({}),
    status: operatorOnly(400),
  },
  "POST /api/admin/config/guardrails/try": {
    path: () => "/config/guardrails/try",
    body: () => ({ guardrail: { name: "mails", kind: "pii", types: ["email"], action: "mask" }, text: "x" }),
    status: operatorOnly(200),
  },
  "GET /api/admin/settings": { path: () => "/settings", status: operatorOnly(200) },
  "POST /api/admin/settings/reload": {
    path: () => "/settings/reload?dry_run=true",
    body: () => ({}),
    status: operatorOnly(200),
  },
  "GET /api/admin/models": { path: () => "/models", status: managementOnly(200) },
  "GET /api/admin/models/:author/:model": {
    path: () => "/models/openai/gpt-5",
    status: managementOnly(200),
  },
  "GET /api/admin/catalog": { path: () => "/catalog", status: operatorOnly(200) },
  // The configured source does not exist.
  "POST /api/admin/catalog/refresh": {
    path: () => "/catalog/refresh",
    body: () => ({ dry_run: true }),
    status: operatorOnly(502),
  },
  "GET /api/admin/catalog/changes": { path: () => "/catalog/changes", status: operatorOnly(200) },
  "POST /api/admin/catalog/changes/:id/approve": {
    path: () => "/catalog/changes/all/approve",
    status: operatorOnly(200),
  },
  "POST /api/admin/catalog/changes/:id/reject": {
    path: () => "/catalog/changes/change_none/reject",
    status: operatorOnly(404),
  },
};

/** The roles of callers that are not named by them. */
const GIVEN: Readonly<Record<string, string>> = { removed: "owner", lead: "member" };
const ROLE_CALLERS = ["owner", "admin", "billing", "auditor", "member", "lead", "removed"] as const;

let lead: string;
let gateway: TestGateway;
let create: AccountTools;
let scene: Scene;
let secrets: Readonly<Record<CallerName, string | null>>;

beforeAll(async () => {
  gateway = await startTestGateway({ yaml: "catalog: { source: /no/such/list.json }" });
  create = createAccountTools(gateway);
  const users: Record<string, string> = {};
  for (const name of [...ROLE_CALLERS, "stranger", "person", "newcomer"])
    users[name] = await create.user(name);
  const organization = await create.organization(users["owner"]);
  const elsewhere = await create.organization(users["stranger"]);
  const secret: Record<string, string> = {};
  for (const role of ROLE_CALLERS) {
    const user_id = users[role] as string;
    if (role !== "owner") await create.member(organization, user_id, GIVEN[role] ?? role);
    secret[role] = await create.key(organization, { kind: "management", user_id });
  }
  const path = `/organizations/${organization}/members/${users["removed"]}`;
  expect((await callAdmin(gateway, gateway.adminKey, "DELETE", path)).status).toBe(200);
  scene = {
    organization,
    person: users["person"] as string,
    newcomer: users["newcomer"] as string,
    keyId: "",
    budgetId: "",
    teamId: "",
    invitationId: "",
  };
  lead = users["lead"] as string;
  secrets = {
    ...(secret as Record<(typeof ROLE_CALLERS)[number], string>),
    anonymous: null,
    invalid: "gw_invalid",
    inference: await create.key(organization, { user_id: users["owner"] }),
    service: await create.key(organization, { kind: "management" }),
    stranger: await create.key(elsewhere, { kind: "management", user_id: users["stranger"] }),
    person: await create.key(users["person"] as string, { kind: "management" }),
    operator: gateway.adminKey,
  };
});
afterAll(() => gateway.stop());

/** Creates again what the previous call may have deleted. */
async function restore(): Promise<Scene> {
  await create.member(scene.organization, scene.newcomer, "member");
  const body = { name: "k", account_id: scene.organization };
  const made = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", body);
  // An account has a limited number of them.
  await callAdmin(gateway, gateway.adminKey, "DELETE", `/budgets/${scene.budgetId || "none"}`);
  const budget = { limit: 1, account_id: scene.organization };
  const set = await callAdmin(gateway, secrets.service ?? "", "POST", "/budgets", budget);
  const [teamId, invitationId] = [await restoreTeam(), await restoreInvitation()];
  scene = { ...scene, keyId: made.data.id, budgetId: set.data.id, teamId, invitationId };
  return scene;
}

/** Invites again if the invitation has ended. Returns its id. */
async function restoreInvitation(): Promise<string> {
  const path = `/organizations/${scene.organization}/invitations`;
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `${path}?limit=100`);
  const open = rows.find(({ id, state }) => id === scene.invitationId && state === "open");
  return open?.id ?? (await callAdmin(gateway, gateway.adminKey, "POST", path, {})).data.id;
}

/** Creates the team again if it was deleted, with its lead and the newcomer. Returns its id. */
async function restoreTeam(): Promise<string> {
  const teams = `/organizations/${scene.organization}/teams`;
  const call = (method: string, path: string, body?: unknown) =>
    callAdmin(gateway, gateway.adminKey, method, teams + path, body);
  const found = await call("GET", `/${scene.teamId || "none"}`);
  const id =
    found.status === 200 ? scene.teamId : (await call("POST", "", { name: crypto.randomUUID() })).data.id;
  await call("PUT", `/${id}/members/${lead}`, { is_lead: true });
  await call("PUT", `/${id}/members/${scene.newcomer}`, {});
  return id;
}

test("the access table has exactly one row for each management endpoint", () => {
  const endpoints = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(ROWS).sort()).toEqual(endpoints.sort());
});

describe.each(ENDPOINTS.map(({ method, path }) => [method, path] as const))("%s %s", (method, path) => {
  test("returns the status of the access table to each kind of caller", async () => {
    const row = ROWS[`${method} ${path}`] as Row;
    const answers: Record<string, number> = {};
    let now = await restore();
    for (const principal of CALLERS) {
      const { status } = await callAdmin(gateway, secrets[principal], method, row.path(now), row.body?.(now));
      answers[principal] = status;
      // Calls that read or are rejected have changed nothing.
      if (method !== "GET" && status < 300) now = await restore();
    }
    expect(answers).toEqual({ ...row.status });
  });
});

describe("a management key of another account", () => {
  test("gets the same 404 for a resource of another account as for one that does not exist", async () => {
    for (const [method, there, not] of [
      ["GET", `/organizations/${scene.organization}`, "/organizations/org_none"],
      ["GET", `/organizations/${scene.organization}/members`, "/organizations/org_none/members"],
      ["GET", `/keys?account_id=${scene.organization}`, "/keys?account_id=org_none"],
      ["GET", `/audit?account_id=${scene.organization}`, "/audit?account_id=org_none"],
      ["DELETE", `/keys/${(await restore()).keyId}`, "/keys/key_none"],
    ] as const) {
      const [a, b] = await Promise.all(
        [there, not].map((path) => callAdmin(gateway, secrets.stranger, method, path)),
      );
      expect(a?.status).toBe(404);
      expect(a?.body).toEqual(b?.body);
    }
  });

  test("finds only the resources of its own account in lists", async () => {
    const keys = await callAdmin(gateway, secrets.person, "GET", "/keys");
    expect([...new Set(keys.rows.map((key) => key.account_id))]).toEqual([scene.person]);
    const audit = await callAdmin(gateway, secrets.person, "GET", "/audit?limit=100");
    const accounts = new Set(audit.rows.map((entry) => entry.account_id));
    expect([...accounts]).toEqual([scene.person]);
  });
});

describe("privilege escalation", () => {
  const put = (principal: CallerName, user: string, role: string) =>
    callAdmin(gateway, secrets[principal], "PUT", `/organizations/${scene.organization}/members/${user}`, {
      role,
    });

  test("an admin cannot appoint, change or remove an owner", async () => {
    expect((await put("admin", scene.newcomer, "owner")).status).toBe(403);
    expect((await put("admin", scene.newcomer, "admin")).status).toBe(200);
    const owner = (
      await callAdmin(gateway, gateway.adminKey, "GET", `/organizations/${scene.organization}/members`)
    ).rows.find((member) => member.role === "owner")?.user_id as string;
    expect((await put("admin", owner, "member")).status).toBe(403);
    const path = `/organizations/${scene.organization}/members/${owner}`;
    expect((await callAdmin(gateway, secrets.admin, "DELETE", path)).status).toBe(403);
    expect((await put("owner", scene.newcomer, "owner")).status).toBe(200);
    expect((await put("owner", scene.newcomer, "member")).status).toBe(200);
  });

  test("an admin can create management keys only for itself, and cannot change or delete an owner's key", async () => {
    const members = (
      await callAdmin(gateway, gateway.adminKey, "GET", `/organizations/${scene.organization}/members`)
    ).rows;
    const idOf = (role: string) => members.find((member) => member.role === role)?.user_id;
    const post = (principal: CallerName, body: object) =>
      callAdmin(gateway, secrets[principal], "POST", "/keys", { name: "m", kind: "management", ...body });
    expect((await post("admin", { user_id: idOf("admin") })).status).toBe(201);
    expect((await post("admin", {})).status).toBe(403);
    expect((await post("admin", { user_id: idOf("owner") })).status).toBe(403);
    expect((await post("admin", { user_id: idOf("billing") })).status).toBe(403);
    const ownersKey = await post("owner", { user_id: idOf("owner") });
    expect(ownersKey.status).toBe(201);
    const { id } = ownersKey.data;
    expect((await callAdmin(gateway, secrets.admin, "DELETE", `/keys/${id}`)).status).toBe(403);
    expect((await callAdmin(gateway, secrets.admin, "PATCH", `/keys/${id}`, rename())).status).toBe(403);
    expect((await callAdmin(gateway, secrets.owner, "DELETE", `/keys/${id}`)).status).toBe(200);
  });

  test("an admin gets no secret of a management key of another person, but may revoke it", async () => {
    const members = (
      await callAdmin(gateway, gateway.adminKey, "GET", `/organizations/${scene.organization}/members`)
    ).rows;
    const make = async (role: string) => {
      const user_id = members.find((member) => member.role === role)?.user_id;
      const body = { name: "m", kind: "management", account_id: scene.organization, user_id };
      return (await callAdmin(gateway, gateway.adminKey, "POST", "/keys", body)).data.id;
    };
    const [own, others] = [await make("admin"), await make("billing")];
    const rotate = async (principal: CallerName, id: string) =>
      (await callAdmin(gateway, secrets[principal], "POST", `/keys/${id}/rotate`, {})).status;
    expect([await rotate("admin", own), await rotate("admin", others)]).toEqual([200, 403]);
    expect(await rotate("owner", others)).toBe(200);
    for (const id of [own, others])
      expect((await callAdmin(gateway, secrets.admin, "DELETE", `/keys/${id}`)).status).toBe(200);
  });

  test("only the operator sets an overdraft, and only an owner closes an organization", async () => {
    for (const [principal, path] of [
      ["owner", `/organizations/${scene.organization}`],
      ["person", `/users/${scene.person}`],
    ] as const) {
      for (const overdraft of [1, null])
        expect((await callAdmin(gateway, secrets[principal], "PATCH", path, { overdraft })).status).toBe(403);
    }
    const path = `/organizations/${scene.organization}`;
    expect((await callAdmin(gateway, secrets.admin, "PATCH", path, { closed: true })).status).toBe(403);
  });
});
