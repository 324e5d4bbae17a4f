import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { IdInput, SearchInput } from "../../../core/accounts/fields/resource-fields.ts";
import { changeBudget, createBudget } from "../../../core/accounts/manage/manage-budgets.ts";
import {
  BudgetChangeInput,
  BudgetInput,
  type BudgetStatus,
  BudgetView,
  presentBudget,
  readBudgetChange,
} from "../../../core/accounts/records/budget-fields.ts";
import { type BudgetRecord, concernsMember } from "../../../core/accounts/records/budget-records.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import { hashEndUser } from "../../../core/generation/memory/identity-hash.ts";
import { readBudgetStatuses } from "../../../core/ledger/limits/budget-status.ts";
import {
  isInTeam,
  listedAccountOf,
  managedAccountOf,
  needs,
  readScopeOf,
  requireOwnAccount,
} from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const TAG = "Budgets";
const PATH = "/api/admin/budgets";
const OneParams = z.object({ id: IdInput.describe("Id of the budget.") });

const ListedBudget = BudgetView.extend({
  account_name: z.string().nullable().describe("Display name of the account."),
  subject_name: z
    .string()
    .nullable()
    .describe("Name of the key, member or team that the budget limits. `null` for other budgets."),
}).meta({ id: "ListedBudget", description: "A budget as lists show it." });

/** `POST /api/admin/budgets`: creates a budget. */
export const postBudget = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Create a budget: a limit on what an account, or a part of it, spends in each period",
  access: needs("manage"),
  body: BudgetInput,
  response: z.object({ data: BudgetView }),
  status: 201,
  async handle({ principal, body, deps, audit }) {
    const { account_id, ...budget } = body;
    const own = managedAccountOf(principal) ?? DEFAULT_ACCOUNT_ID;
    const accountId = requireOwnAccount(principal, account_id ?? own);
    await deps.generation.recorder.drain();
    const created = await createBudget(
      { ...deps.resources.keyStores, budgets: deps.resources.budgets },
      {
        accountId,
        budget,
        setBy: principal.kind === "operator" ? "operator" : "account",
        hashEndUser: (name) => hashEndUser(deps.generation.accounts.hashIdentity, accountId, name),
      },
    );
    deps.callers.accountCache.changed(accountId);
    audit({ accountId, target: created.id, changes: { ...body, account_id: accountId } });
    return { data: await present(deps, created) };
  },
});

/** `GET /api/admin/budgets`: budgets in the order of their creation. Without the right to read the account, those that concern the caller. */
export const listBudgets = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary:
    "List budgets with the amount spent, oldest first; members without the right to read the account see those of the whole account, of themselves and of their teams",
  access: needs("own"),
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the budgets of this account."),
    team_id: IdInput.optional().describe("Only the budgets of this team."),
    search: SearchInput.optional().describe("Only budgets whose name contains this text (case-insensitive)."),
  }),
  response: pageView(ListedBudget),
  async handle({ principal, query, deps }) {
    const { search, team_id: teamId, after = "" } = query;
    if (teamId !== undefined) requireTeamOfBudgets(principal, teamId);
    const accountId = listedAccountOf(principal, query.account_id) ?? (await findPayer(deps, teamId));
    const isFound = (budget: BudgetRecord) =>
      budget.name.toLowerCase().includes(search?.toLowerCase() ?? "") &&
      (teamId === undefined || (budget.subject === "team" && budget.subjectId === teamId)) &&
      maySee(principal, budget);
    await deps.generation.recorder.drain();
    return makePage({
      limit: query.limit,
      load: async (limit) => {
        if (accountId === null)
          return deps.resources.budgets.listAllBudgets({ search, afterId: after, limit });
        const own = await deps.resources.budgets.listBudgets(accountId);
        return own.filter((budget) => budget.id > after && isFound(budget)).slice(0, limit);
      },
      present: (budgets) => presentNamed(deps, budgets),
      cursorOf: ({ id }) => id,
    });
  },
});

/** `GET /api/admin/budgets/{id}`: a budget. */
export const getBudget = defineEndpoint({
  method: "GET",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Retrieve a budget with the amount spent",
  access: needs("own"),
  params: OneParams,
  response: z.object({ data: BudgetView }),
  async handle({ principal, params, deps }) {
    const budget = await findOwn(deps, principal, params.id);
    await deps.generation.recorder.drain();
    return { data: await present(deps, budget) };
  },
});

/** `PATCH /api/admin/budgets/{id}`: changes a budget. */
export const patchBudget = defineEndpoint({
  method: "PATCH",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Update a budget. Its subject and period cannot be changed",
  access: needs("manage"),
  params: OneParams,
  body: BudgetChangeInput,
  response: z.object({ data: BudgetView }),
  async handle({ principal, params, body, deps, audit }) {
    const found = await findChangeable(deps, principal, params.id);
    const { id, accountId } = found;
    const before = await present(deps, found);
    const budget = await changeBudget(deps.resources, id, readBudgetChange(body));
    deps.callers.accountCache.changed(accountId);
    const data = await present(deps, budget);
    audit({ accountId, target: id, changes: describeChange(body, before, data) });
    return { data };
  },
});

/** `DELETE /api/admin/budgets/{id}`: deletes a budget. */
export const deleteBudget = defineEndpoint({
  method: "DELETE",
  path: `${PATH}/:id`,
  tag: TAG,
  summary: "Delete a budget and its counts",
  access: needs("manage"),
  params: OneParams,
  response: z.object({ data: z.object({ id: z.string(), deleted: z.literal(true) }) }),
  async handle({ principal, params, deps, audit }) {
    const budget = await findChangeable(deps, principal, params.id);
    const { id, accountId } = budget;
    await deps.resources.budgets.deleteBudget(id);
    deps.callers.accountCache.changed(accountId);
    audit({ accountId, target: id, changes: { before: budget, after: null } });
    return { data: { id, deleted: true } };
  },
});

/** Returns whether a principal may see a budget of its account: any with the right to read it, otherwise those that concern the principal. */
function maySee(principal: ManagementPrincipal, budget: BudgetRecord): boolean {
  const scope = readScopeOf(principal);
  return (
    scope === null ||
    concernsMember(budget, { userId: scope.userId, isInTeam: (id) => isInTeam(principal, id) })
  );
}

/** Returns the organization of a team, whose budgets are those of its account; null without a team. */
async function findPayer({ resources }: StoreDeps, teamId: string | undefined): Promise<string | null> {
  if (teamId === undefined) return null;
  return (await resources.keyStores.teams.findTeam(teamId))?.organizationId ?? "";
}

/** @throws GatewayError `not_found` for a team of others, which does not reveal whether it exists. */
function requireTeamOfBudgets(principal: ManagementPrincipal, teamId: string): void {
  if (readScopeOf(principal) === null || isInTeam(principal, teamId)) return;
  fail("not_found", "Of teams, you can list only the budgets of those that you are in. Omit team_id.", {
    metadata: { field: "team_id" },
  });
}

/** @throws GatewayError `not_found`, also for a budget that the principal may not see. */
async function findOwn(
  { resources: { budgets } }: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<BudgetRecord> {
  const budget = await budgets.findBudget(id);
  const own = managedAccountOf(principal);
  const isOwn = budget !== null && (own === null || budget.accountId === own);
  if (isOwn && maySee(principal, budget)) return budget;
  return fail("not_found", "There is no budget with that id.");
}

/** @throws GatewayError `not_found`; `permission_denied` if only the operator may change it. */
async function findChangeable(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<BudgetRecord> {
  const budget = await findOwn(deps, principal, id);
  if (budget.setBy === "account" || principal.kind === "operator") return budget;
  return fail("permission_denied", "The operator has set this budget. Only the operator may change it.");
}

async function present(deps: StoreDeps, budget: BudgetRecord) {
  const [view] = await presentAll(deps, [budget]);
  return view as BudgetOf;
}

type BudgetOf = ReturnType<typeof presentBudget>;

async function presentAll({ resources: { budgets }, clock }: StoreDeps, listed: readonly BudgetRecord[]) {
  const statuses = await readBudgetStatuses(budgets, listed, clock.now());
  return listed.map((budget, at) => presentBudget(budget, statuses[at] as BudgetStatus));
}

/** Returns budgets with the names of their accounts, and of what they limit. */
async function presentNamed(deps: StoreDeps, listed: readonly BudgetRecord[]) {
  const { accounts, keys, teams } = deps.resources.keyStores;
  const idsOf = (subject: BudgetRecord["subject"]) =>
    listed.flatMap((budget) => (budget.subject === subject ? (budget.subjectId ?? []) : []));
  const accountIds = [...listed.map(({ accountId }) => accountId), ...idsOf("member")];
  const [ofAccounts, ofKeys, ofTeams] = await Promise.all([
    accounts.findAccountNames([...new Set(accountIds)]),
    keys.findKeyNames(idsOf("key")),
    teams.findTeamNames(idsOf("team")),
  ]);
  const names = new Map([...ofAccounts, ...ofKeys, ...ofTeams]);
  const views = await presentAll(deps, listed);
  return views.map((view, at) => {
    const { accountId, subjectId } = listed[at] as BudgetRecord;
    return {
      ...view,
      account_name: names.get(accountId) ?? null,
      subject_name: names.get(subjectId ?? "") ?? null,
    };
  });
}
