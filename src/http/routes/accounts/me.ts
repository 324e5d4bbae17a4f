import { z } from "zod";
import { toDollars } from "../../../base/numbers/money.ts";
import { dayOf } from "../../../base/time/time.ts";
import {
  type BudgetStatus,
  BudgetView,
  presentBudget,
} from "../../../core/accounts/records/budget-fields.ts";
import { concernsMember } from "../../../core/accounts/records/budget-records.ts";
import { promptLogOf } from "../../../core/accounts/records/key-defaults.ts";
import { policyOf } from "../../../core/accounts/records/merge-policies.ts";
import type { AccountPrincipal } from "../../../core/accounts/records/principal.ts";
import { RIGHTS, ROLES } from "../../../core/accounts/records/rights.ts";
import { readBudgetStatuses } from "../../../core/ledger/limits/budget-status.ts";
import { isInTeam, needs } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { listOwnTeams, TeamOfMember } from "../../api/member-teams.ts";
import type { StoreDeps } from "../../context/store-deps.ts";
import { hasRight, roleOf } from "../../middleware/authorize.ts";

const Dollars = z.number().nullable();
const OwnBudget = BudgetView.omit({ top: true, created_at: true, set_by: true, warn_at: true });

const MeView = z
  .object({
    role: z.enum(["operator", ...ROLES]),
    rights: z.array(z.enum(RIGHTS)).describe("What the role may do in the account."),
    account: z
      .object({ id: z.string(), name: z.string(), kind: z.enum(["user", "organization"]) })
      .nullable()
      .describe("The account that is managed. `null` for the operator."),
    user: z
      .object({ id: z.string(), name: z.string(), email: z.string().nullable() })
      .nullable()
      .describe("The person. `null` for the operator and for a service key."),
    teams: z.array(TeamOfMember),
    own_keys: z
      .object({
        used: z.int().describe("Inference keys of the person that are valid now."),
        count: z.int().nullable().describe("Keys that the person may have at once. `null` means no bound."),
        days: z.int().nullable().describe("Days after which such a key expires at the latest."),
        spend_limit: Dollars.describe("US dollars that such a key may spend in a calendar month at most."),
      })
      .nullable()
      .describe("The bounds of the keys that a member makes. `null` for others."),
    daily_limit: Dollars.describe(
      "US dollars that the person may spend of the organization's balance in a day (UTC).",
    ),
    spent_today: z
      .number()
      .describe("US dollars that the person has spent of the account's balance today (UTC)."),
    budgets: z
      .array(OwnBudget)
      .describe("The budgets that count for all requests of the person, or of one of their teams."),
    prompt_log: z
      .int()
      .nullable()
      .describe("Seconds for which bodies of a new key's requests are stored. `null`: they are not."),
    zero_retention: z
      .boolean()
      .describe("Whether every request of the account is under zero data retention."),
  })
  .meta({
    id: "Me",
    description: "Who the caller is in the account, what they may do, and what is left for them.",
  });

/** `GET /api/admin/me`: the person of the management key or session. */
export const getMe = defineEndpoint({
  method: "GET",
  path: "/api/admin/me",
  tag: "Accounts",
  summary:
    "Retrieve who you are in the account, what you may do, and what is left of your limits and budgets",
  access: needs("own"),
  response: z.object({ data: MeView }),
  async handle({ principal, deps }) {
    const rights = RIGHTS.filter((right) => hasRight(principal, right));
    if (principal.kind === "operator") return { data: { ...OPERATOR_VIEW, rights } };
    await deps.generation.recorder.drain();
    const { account, member } = principal;
    const [user, spentToday, ownKeys, budgets] = await Promise.all([
      findUser(principal, deps),
      sumToday(principal, deps),
      describeOwnKeys(principal, deps),
      listOwnBudgets(principal, deps),
    ]);
    return {
      data: {
        role: roleOf(principal),
        rights,
        account: { id: account.id, name: account.name, kind: account.kind },
        user,
        teams: [...listOwnTeams(principal)],
        own_keys: ownKeys,
        daily_limit: member?.dailyLimit == null ? null : toDollars(member.dailyLimit),
        spent_today: toDollars(spentToday),
        budgets,
        prompt_log: promptLogOf({ ...principal, team: null, key: { ...principal.key, promptLog: null } }),
        zero_retention:
          policyOf(deps.generation.settings.policy, { ...principal, team: null }).zeroRetention !== null,
      },
    };
  },
});

const OPERATOR_VIEW = {
  role: "operator",
  account: null,
  user: null,
  teams: [],
  own_keys: null,
  daily_limit: null,
  spent_today: 0,
  budgets: [],
  prompt_log: null,
  zero_retention: false,
} as const;

async function findUser({ key: { userId } }: AccountPrincipal, { resources }: StoreDeps) {
  const user = userId === null ? null : await resources.keyStores.accounts.findAccount(userId);
  return user && { id: user.id, name: user.name, email: user.email };
}

/** Sums what the person has spent today; of an account without persons, everything. Nanodollars. */
function sumToday(
  { account, key: { userId } }: AccountPrincipal,
  { resources, clock }: StoreDeps,
): Promise<number> {
  const today = dayOf(clock.now());
  const days = { from: today, to: today };
  return resources.credits.store.sumSpending({
    accountId: account.id,
    ...(userId === null ? {} : { userId }),
    days,
  });
}

async function describeOwnKeys(principal: AccountPrincipal, { resources, clock }: StoreDeps) {
  const { account, key } = principal;
  if (!hasRight(principal, "own_keys") || hasRight(principal, "manage_keys") || key.userId === null)
    return null;
  const { memberKeys } = account;
  const owner = { accountId: account.id, userId: key.userId };
  return {
    used: await resources.keyStores.keys.countValidKeys(owner, clock.now()),
    count: memberKeys === null ? 0 : memberKeys.count,
    days: memberKeys?.days ?? null,
    spend_limit: memberKeys?.spendLimit == null ? null : toDollars(memberKeys.spendLimit),
  };
}

async function listOwnBudgets(principal: AccountPrincipal, { resources, clock }: StoreDeps) {
  const { account, key } = principal;
  const reader = { userId: key.userId, isInTeam: (id: string) => isInTeam(principal, id) };
  const own = (account.budgets ?? []).filter((budget) => concernsMember(budget, reader));
  const statuses = await readBudgetStatuses(resources.budgets, own, clock.now());
  return own.map((budget, at) => OwnBudget.parse(presentBudget(budget, statuses[at] as BudgetStatus)));
}
