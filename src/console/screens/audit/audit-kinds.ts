/** The kinds of changes in the audit log, by the requests and commands that make them. Pure functions. */
import type { AuditEntry } from "../../api/schema.ts";
import type { auditKinds } from "../../text/audit-sentences.ts";

export type AuditKind = keyof typeof auditKinds;

const ADMIN = "/api/admin";
const ACCOUNTS = `${ADMIN}/accounts/:id`;
const MEMBER = `${ADMIN}/organizations/:id/members/:user_id`;
const INVITATIONS = `${ADMIN}/organizations/:id/invitations`;
const TEAMS = `${ADMIN}/organizations/:id/teams`;
const RESPONSE = `${ADMIN}/responses/:id`;
const CONFIG = `${ADMIN}/config`;
const OF_ACCOUNT = `${ACCOUNTS}/provider-keys`;

/** The requests and commands of each kind, as entries name them. */
export const ACTIONS: Readonly<Partial<Record<AuditKind, readonly string[]>>> = {
  keyCreated: [`POST ${ADMIN}/keys`, "gateway keys create"],
  keyChanged: [`PATCH ${ADMIN}/keys/:id`, "gateway keys update"],
  keyRotated: [`POST ${ADMIN}/keys/:id/rotate`, "gateway keys rotate"],
  keyRevoked: [`DELETE ${ADMIN}/keys/:id`, "gateway keys revoke"],
  userCreated: [`POST ${ADMIN}/users`, "gateway users create"],
  userChanged: [
    `PATCH ${ADMIN}/users/:id`,
    "gateway users update",
    "gateway users close",
    "gateway users reopen",
  ],
  organizationCreated: [`POST ${ADMIN}/organizations`, "gateway orgs create"],
  organizationChanged: [
    `PATCH ${ADMIN}/organizations/:id`,
    "gateway orgs update",
    "gateway orgs close",
    "gateway orgs reopen",
  ],
  memberSet: [`PUT ${MEMBER}`, "gateway members set"],
  memberRemoved: [`DELETE ${MEMBER}`, "gateway members remove"],
  invitationMade: [`POST ${INVITATIONS}`, "gateway invitations create"],
  invitationWithdrawn: [`DELETE ${INVITATIONS}/:invitation_id`, "gateway invitations withdraw"],
  invitationAccepted: ["POST /api/console/invitations/accept"],
  teamCreated: [`POST ${TEAMS}`, "gateway teams create"],
  teamChanged: [`PATCH ${TEAMS}/:team_id`, "gateway teams update"],
  teamDeleted: [`DELETE ${TEAMS}/:team_id`, "gateway teams delete"],
  teamMemberSet: [`PUT ${TEAMS}/:team_id/members/:user_id`, "gateway teams add"],
  teamMemberRemoved: [`DELETE ${TEAMS}/:team_id/members/:user_id`, "gateway teams remove"],
  budgetCreated: [`POST ${ADMIN}/budgets`, "gateway budgets create"],
  budgetChanged: [`PATCH ${ADMIN}/budgets/:id`, "gateway budgets update"],
  budgetDeleted: [`DELETE ${ADMIN}/budgets/:id`, "gateway budgets delete"],
  creditsGranted: [`POST ${ACCOUNTS}/credits`, "gateway credits grant"],
  creditsPurchased: [`POST ${ACCOUNTS}/purchases`, "POST /api/payments/webhook", "gateway credits purchase"],
  creditsCorrected: [`POST ${ACCOUNTS}/corrections`, "gateway credits correct"],
  refunded: [`POST ${ADMIN}/generations/:id/refund`, "gateway credits refund"],
  providerKeyAdded: [`POST ${OF_ACCOUNT}`, "gateway provider-keys add"],
  providerKeyChanged: [`PATCH ${OF_ACCOUNT}/:key_id`, "gateway provider-keys update"],
  providerKeyRemoved: [`DELETE ${OF_ACCOUNT}/:key_id`, "gateway provider-keys remove"],
  providerKeyTested: [`POST ${OF_ACCOUNT}/:key_id/test`, "gateway provider-keys test"],
  bodiesRead: [`GET ${ADMIN}/generations/:id/bodies`, "gateway prompt-log"],
  responseRead: [`GET ${RESPONSE}/items`, "gateway responses items"],
  responseCancelled: [`POST ${RESPONSE}/cancel`, "gateway responses cancel"],
  responseDeleted: [`DELETE ${RESPONSE}`, "gateway responses delete"],
  catalogRefreshed: [`POST ${ADMIN}/catalog/refresh`, "gateway catalog refresh"],
  pricesApproved: [`POST ${ADMIN}/catalog/changes/:id/approve`, "gateway catalog approve"],
  pricesRejected: [`POST ${ADMIN}/catalog/changes/:id/reject`, "gateway catalog reject"],
  providerTested: [`POST ${ADMIN}/health/:provider/test`, "gateway health test"],
  healthCleared: [`POST ${ADMIN}/health/:provider/clear`, "gateway health clear"],
  drained: [`POST ${ADMIN}/health/:provider/drain`, "gateway providers drain"],
  undrained: [`DELETE ${ADMIN}/health/:provider/drain`, "gateway providers undrain"],
  signedIn: ["POST /api/console/session", "GET /api/console/oidc/callback"],
  signInTried: ["POST /api/console/oidc/trials"],
  signedOut: ["DELETE /api/console/session"],
  sessionEnded: [`DELETE ${ADMIN}/sessions/:id`, "gateway sessions end"],
  identityLinked: [`POST ${ADMIN}/users/:id/identities`, "gateway identities add"],
  identityRemoved: [`DELETE ${ADMIN}/users/:id/identities/:subject`, "gateway identities remove"],
  reloaded: [`POST ${ADMIN}/settings/reload`, "gateway reload", "SIGHUP"],
  configChanged: [
    `PATCH ${CONFIG}`,
    `PUT ${CONFIG}`,
    "gateway config set",
    "gateway config unset",
    "gateway config apply",
  ],
  configRestored: [`POST ${CONFIG}/revisions/:revision/restore`, "gateway config restore"],
  secretSet: [`PUT ${CONFIG}/secrets/:id`, "gateway secrets set"],
  secretDeleted: [`DELETE ${CONFIG}/secrets/:id`, "gateway secrets delete"],
  playgroundKey: ["POST /api/console/playground-key"],
  tierSet: [`PUT ${ADMIN}/tiers/:id`, "gateway tiers set"],
  tierDeleted: [`DELETE ${ADMIN}/tiers/:id`, "gateway tiers delete"],
  routeSet: [`PUT ${ADMIN}/named-routes/:name`, "gateway named-routes set"],
  routeDeleted: [`DELETE ${ADMIN}/named-routes/:name`, "gateway named-routes delete"],
  routeRestored: [`POST ${ADMIN}/named-routes/:name/restore`, "gateway named-routes restore"],
  webhookTested: [`POST ${ADMIN}/webhooks/test`, "gateway webhooks test"],
  consoleLink: ["gateway console"],
};

/** The kinds that change fields of something. */
export const CHANGING: ReadonlySet<AuditKind> = new Set<AuditKind>([
  "keyChanged",
  "userChanged",
  "organizationChanged",
  "memberSet",
  "teamChanged",
  "budgetChanged",
  "providerKeyChanged",
]);

/** The kinds that can be tried without a change. */
const CONFIGURING: ReadonlySet<AuditKind> = new Set<AuditKind>([
  "reloaded",
  "configChanged",
  "configRestored",
]);

const KINDS = new Map(
  Object.entries(ACTIONS).flatMap(([kind, actions]) =>
    actions.map((action) => [action, kind as AuditKind] as const),
  ),
);

/** Returns the kind of a change. A kind of account changes is told by its fields, too. */
export function kindOf({ action, changes }: Pick<AuditEntry, "action" | "changes">): AuditKind {
  const kind = KINDS.get(action) ?? "other";
  if (CONFIGURING.has(kind) && changes["dry_run"] === true) return "configTried";
  if (kind === "memberSet" && changes["before"] === null) return "memberAdded";
  if (kind !== "userChanged" && kind !== "organizationChanged") return kind;
  const after = (changes["after"] ?? changes) as Readonly<Record<string, unknown>>;
  if (Object.keys(after).length !== 1 || typeof after["closed"] !== "boolean") return kind;
  return after["closed"] ? "accountClosed" : "accountReopened";
}
