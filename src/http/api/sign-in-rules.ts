import { type BudgetChangeBody, readBudgetChange } from "../../core/accounts/records/budget-fields.ts";
import type { StoreDeps } from "../context/store-deps.ts";

/** The parts of a validated request that a rule reads. */
export interface RuledRequest {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly deps: Pick<StoreDeps, "resources">;
}

/**
 * Whether a change needs a recent sign-in: always, never, or depending on its content. A change that grants money or rights needs one. A
 * change that only takes them away does not, so that an operator who contains an incident is not delayed.
 */
export type SignInRule = "always" | "never" | ((request: RuledRequest) => boolean | Promise<boolean>);

/** Fields that are no rights: they only name an account. */
const NAMES: readonly string[] = ["name", "email", "external_id"];

/** The rules of all endpoints that change something, by method and path. A change without a rule needs a recent sign-in. */
const RULES: Readonly<Record<string, SignInRule>> = {
  // Money.
  "POST /api/admin/accounts/:id/credits": "always",
  "POST /api/admin/accounts/:id/corrections": "always",
  "POST /api/admin/accounts/:id/purchases": "always",
  "POST /api/admin/generations/:id/refund": "always",
  // Overdraft, plan, policy, limits, a first owner.
  "POST /api/admin/users": hasOther(NAMES),
  "POST /api/admin/organizations": hasOther(NAMES),
  "PATCH /api/admin/users/:id": changesAccount,
  "PATCH /api/admin/organizations/:id": changesAccount,
  // Roles.
  "PUT /api/admin/organizations/:id/members/:user_id": "always",
  "DELETE /api/admin/organizations/:id/members/:user_id": "never",
  // An invitation gives a role to the person who accepts it.
  "POST /api/admin/organizations/:id/invitations": "always",
  "DELETE /api/admin/organizations/:id/invitations/:invitation_id": "never",
  // A team restricts what its keys may do, and gives none of them. Its leads manage its keys.
  "POST /api/admin/organizations/:id/teams": "never",
  "PATCH /api/admin/organizations/:id/teams/:team_id": hasOther(["name", "tags"]),
  "DELETE /api/admin/organizations/:id/teams/:team_id": "never",
  "PUT /api/admin/organizations/:id/teams/:team_id/members/:user_id": ({ body }) => body["is_lead"] === true,
  "DELETE /api/admin/organizations/:id/teams/:team_id/members/:user_id": "never",
  // A management key acts without a session. An inference key spends within the limits of its account.
  "POST /api/admin/keys": ({ body }) => body["kind"] === "management",
  "PATCH /api/admin/keys/:id": changesManagementKey,
  "POST /api/admin/keys/:id/rotate": changesManagementKey,
  "DELETE /api/admin/keys/:id": "never",
  "POST /api/console/playground-key": "never",
  // A new budget limits spending. A higher one, one that only warns, and a deletion allow more spending.
  "POST /api/admin/budgets": "never",
  "PATCH /api/admin/budgets/:id": raisesBudget,
  "DELETE /api/admin/budgets/:id": "always",
  // Where prompts are sent, and who pays for them.
  "POST /api/admin/accounts/:id/provider-keys": "always",
  "PATCH /api/admin/accounts/:id/provider-keys/:key_id": "always",
  "DELETE /api/admin/accounts/:id/provider-keys/:key_id": "always",
  "POST /api/admin/accounts/:id/provider-keys/:key_id/test": "never",
  // The models that all accounts may use, and their prices.
  "PUT /api/admin/tiers/:id": "always",
  "DELETE /api/admin/tiers/:id": "always",
  "POST /api/admin/settings/reload": isRealRun,
  // Everything that the configuration decides.
  "PATCH /api/admin/config": isRealRun,
  "PUT /api/admin/config": isRealRun,
  "POST /api/admin/config/revisions/:revision/restore": isRealRun,
  "PUT /api/admin/config/secrets/:id": "always",
  "DELETE /api/admin/config/secrets/:id": "always",
  "POST /api/admin/catalog/refresh": isRealRun,
  "POST /api/admin/catalog/changes/:id/approve": "always",
  "POST /api/admin/catalog/changes/:id/reject": "never",
  // A named route leads to models that policies allow anyway.
  "PUT /api/admin/named-routes/:name": "never",
  "DELETE /api/admin/named-routes/:name": "never",
  "POST /api/admin/named-routes/:name/restore": "never",
  // Ends work that costs money, and takes away what was kept.
  "POST /api/admin/responses/:id/cancel": "never",
  "DELETE /api/admin/responses/:id": "never",
  // Operation.
  "POST /api/admin/health/:provider/test": "never",
  "POST /api/admin/health/:provider/clear": "never",
  "POST /api/admin/health/:provider/drain": "never",
  "DELETE /api/admin/health/:provider/drain": "never",
  "POST /api/admin/webhooks/test": "never",
  "DELETE /api/console/session": "never",
  // A trial sends the secret of a client to the address that the request names.
  "POST /api/console/oidc/trials": "always",
  "DELETE /api/admin/sessions/:id": "never",
  // The link between a person and a user, and so the rights of that person.
  "POST /api/admin/users/:id/identities": "always",
  "DELETE /api/admin/users/:id/identities/:subject": "always",
};

/** Returns the rule of an endpoint that changes something; undefined if the list has none. */
export function findSignInRule(method: string, path: string): SignInRule | undefined {
  return RULES[`${method} ${path}`];
}

/** Returns the endpoints that have a rule, for the test that compares them with all endpoints. */
export function listRuledEndpoints(): readonly string[] {
  return Object.keys(RULES);
}

function hasOther(harmless: readonly string[]): SignInRule {
  return ({ body }) =>
    Object.entries(body).some(([field, value]) => value !== undefined && !harmless.includes(field));
}

/**
 * Whether a change grants rights or money. A name does not, and closing an account only takes rights away. E-mail and external id decide
 * which account others give credits to.
 */
function changesAccount({ body }: RuledRequest): boolean {
  return Object.entries(body).some(
    ([field, value]) => value !== undefined && field !== "name" && !(field === "closed" && value === true),
  );
}

async function changesManagementKey({ params, deps }: RuledRequest): Promise<boolean> {
  const key = await deps.resources.keyStores.keys.findKey(String(params["id"]));
  return key?.kind === "management";
}

async function raisesBudget({ params, body, deps }: RuledRequest): Promise<boolean> {
  const budget = await deps.resources.budgets.findBudget(String(params["id"]));
  if (budget === null) return false;
  const change = readBudgetChange(body as BudgetChangeBody);
  return (change.limit ?? 0) > budget.limit || (change.action === "warn" && budget.action === "block");
}

function isRealRun({ query, body }: RuledRequest): boolean {
  return query["dry_run"] !== "true" && body["dry_run"] !== true;
}
