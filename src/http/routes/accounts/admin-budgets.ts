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
import type { BudgetRecord } from "../../../core/accounts/records/budget-records.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import { DEFAULT_ACCOUNT_ID } from "../../../core/accounts/records/records.ts";
import { hashEndUser } from "../../../core/generation/memory/identity-hash.ts";
import { readBudgetStatuses } from "../../../core/ledger/limits/budget-status.ts";
import {
  ACCOUNT_MANAGERS,
  ACCOUNT_READERS,
  listedAccountOf,
  managedAccountOf,
  requireOwnAccount,
} from "../../api/access.ts";
import { describeChange } from "../../api/describe-change.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { makePage, PAGE_QUERY, pageView } from "../../api/pages.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const TAG = "Budgets";
const PATH = "/api/admin/budgets";
const OneParams = z.object({ id: IdInput.describe("Id of the budget.") });

/** `POST /api/admin/budgets`: creates a budget. */
export const postBudget = defineEndpoint({
  method: "POST",
  path: PATH,
  tag: TAG,
  summary: "Create a budget: a limit on what an account, or a part of it, spends in each period",
  access: ACCOUNT_MANAGERS,
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

/** `GET /api/admin/budgets`: budgets in the order of their creation. */
export const listBudgets = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "List budgets with the amount spent, oldest first",
  access: ACCOUNT_READERS,
  query: z.strictObject({
    ...PAGE_QUERY,
    account_id: IdInput.optional().describe("Only the budgets of this account."),
    search: SearchInput.optional().describe("Only budgets whose name contains this text (case-insensitive)."),
  }),
  response: pageView(BudgetView),
  async handle({ principal, query, deps }) {
    const accountId = listedAccountOf(principal, query.account_id);
    const { search, after = "" } = query;
    const isFound = ({ name }: BudgetRecord) => name.toLowerCase().includes(search?.toLowerCase() ?? "");
    await deps.generation.recorder.drain();
    return makePage({
      limit: query.limit,
      load: async (limit) => {
        if (accountId === null)
          return deps.resources.budgets.listAllBudgets({ search, afterId: after, limit });
        const own = await deps.resources.budgets.listBudgets(accountId);
        return own.filter((budget) => budget.id > after && isFound(budget)).slice(0, limit);
      },
      present: (budgets) => presentAll(deps, budgets),
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
  access: ACCOUNT_READERS,
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
  access: ACCOUNT_MANAGERS,
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
  access: ACCOUNT_MANAGERS,
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

/** @throws GatewayError `not_found`, also for a budget of an account that the principal may not manage. */
async function findOwn(
  { resources: { budgets } }: StoreDeps,
  principal: ManagementPrincipal,
  id: string,
): Promise<BudgetRecord> {
  const budget = await budgets.findBudget(id);
  const own = managedAccountOf(principal);
  if (budget !== null && (own === null || budget.accountId === own)) return budget;
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
