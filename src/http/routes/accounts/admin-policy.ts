import { z } from "zod";
import { fail, rejectField } from "../../../base/failures/errors.ts";
import { IdInput, mergeChange, PatternsInput } from "../../../core/accounts/fields/resource-fields.ts";
import { listPolicyNames } from "../../../core/accounts/manage/manage-accounts.ts";
import { USER_SETTINGS } from "../../../core/accounts/records/account-fields.ts";
import { type LevelPolicy, mergePolicies } from "../../../core/accounts/records/merge-policies.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import {
  type AccountRecord,
  DEFAULT_ACCOUNT_ID,
  type Policy,
  type TeamRecord,
} from "../../../core/accounts/records/records.ts";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import { requireKnownNames } from "../../../core/catalog/served/known-names.ts";
import { dryRunPolicy, type TriedPolicy } from "../../../core/questions/dry-run-policy.ts";
import { ANY_GENERATION } from "../../../core/usage/generations/generation-list.ts";
import { presentGenerationLine } from "../../../core/usage/generations/present-generation.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { managedAccountOf, needs, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { requireAccount } from "../../api/fields.ts";
import { GenerationLine } from "../../api/generation-view.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const MAX_GENERATIONS = 1_000;

const DryRunBody = z.strictObject({
  account_id: IdInput.optional().describe(
    "The account whose policy is to change. Defaults to that of `key_id` or `team_id`, or the caller's own.",
  ),
  key_id: IdInput.optional().describe("Only generations of this API key."),
  team_id: IdInput.optional().describe(
    "Only generations of this team of the organization, whose policy is to change instead of that of the account.",
  ),
  policy: USER_SETTINGS.policy.input
    .optional()
    .describe(
      "The changed fields of the account's policy, or with `team_id` of the team's. Omitted fields keep their value.",
    ),
  models: PatternsInput.optional().describe(
    "Models that the API key may call, in addition to the policies of the account and of the key's team. Needs `key_id`.",
  ),
  last: z
    .int()
    .min(1)
    .max(MAX_GENERATIONS)
    .default(100)
    .describe("Number of the newest generations to check."),
});

/**
 * `POST /api/admin/policy/dry-run`: lists recorded generations that a changed policy would have rejected. Generations of a team's keys also
 * pass the policy of the team.
 */
export const dryRunOfPolicy = defineEndpoint({
  method: "POST",
  path: "/api/admin/policy/dry-run",
  tag: "Accounts",
  summary: "Check which recorded generations of an account or team a changed policy would have rejected",
  access: needs("inspect"),
  body: DryRunBody.meta({ examples: [{ policy: { denied_models: ["openai/*"] }, last: 100 }] }),
  response: z.object({
    checked: z
      .int()
      .describe(
        "Number of generations that were checked. It does not include those that were rejected before routing.",
      ),
    rerouted: z
      .int()
      .describe("Number of generations that would have been answered by another provider or model."),
    refused: z
      .array(
        GenerationLine.extend({
          rule: z.string().meta({
            description: "The rule that would have rejected the generation.",
            examples: ["account.denied_models"],
          }),
          reason: z.string(),
        }).meta({ id: "RefusedGeneration" }),
      )
      .describe("The generations that would have been rejected, newest first."),
  }),
  changesNothing: true,
  async handle({ principal, body, deps }) {
    const subject = await findSubject(deps, principal, body);
    const policy = changePolicy(deps, subject, body);
    const records = await readNewest(deps, subject.account.id, body);
    const tried = {
      policyOf: await mergeByTeam(deps, { ...subject, policy, models: body.models }),
      byokKeys: await deps.generation.accounts.byokKeys.of(subject.account.id),
    };
    const { checked, rerouted, refused } = dryRunPolicy(deps.generation.serving(), records, tried);
    const names = await findNames(
      deps.resources.keyStores,
      refused.map(({ record }) => record),
    );
    const present = ({ record, rule, reason }: (typeof refused)[number]) => ({
      ...presentGenerationLine(record, names),
      rule,
      reason,
    });
    return { checked, rerouted, refused: refused.map(present) };
  },
});

type Body = z.infer<typeof DryRunBody>;

/** Whose policy is to change: that of a team, otherwise that of the account. */
interface Subject {
  readonly account: AccountRecord;
  readonly team: TeamRecord | null;
}

/** @throws GatewayError `not_found`; `invalid_request` for `models` without a key, and for a key of another team. */
async function findSubject(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  { account_id, key_id, team_id, models }: Body,
): Promise<Subject> {
  if (models !== undefined && key_id === undefined) rejectField("models", "needs key_id");
  const { keys, teams } = deps.resources.keyStores;
  const own = managedAccountOf(principal);
  const key = key_id === undefined ? null : await keys.findKey(key_id);
  if (key_id !== undefined && (key === null || (own !== null && key.accountId !== own)))
    return fail("not_found", "There is no key with that id.");
  const team = team_id === undefined ? null : await teams.findTeam(team_id);
  const id = account_id ?? key?.accountId ?? team?.organizationId ?? own ?? DEFAULT_ACCOUNT_ID;
  if (
    team_id !== undefined &&
    (team === null || team.deletedAt !== null || team.organizationId !== (own ?? id))
  )
    return fail("not_found", "There is no team with that id.");
  if (team !== null && key !== null && key.teamId !== team.id)
    rejectField("key_id", "must be a key of the team");
  return { account: await requireAccount(deps, requireOwnAccount(principal, id)), team };
}

/** @throws GatewayError `invalid_request` for a name that the catalog does not have, as the change of the policy would. */
function changePolicy({ generation }: StoreDeps, { account, team }: Subject, body: Body): Policy {
  const { policy } = team ?? account;
  const change = body.policy === undefined ? {} : USER_SETTINGS.policy.read(body.policy);
  const known = () => generation.serving();
  requireKnownNames(known, [
    ...listPolicyNames({ policy: change }, policy),
    { field: "models", kind: "model", names: body.models, use: "allow" },
  ]);
  return mergeChange(policy, change);
}

/** A changed policy, and the models of a key. */
interface Changed extends Subject {
  readonly policy: Policy;
  readonly models: readonly string[] | undefined;
}

/** Returns the merged policies for generations by the teams of their keys, each made once. */
async function mergeByTeam(
  deps: StoreDeps,
  { account, team: changed, policy, models }: Changed,
): Promise<(teamId: string | null) => TriedPolicy> {
  const ofAccount = changed === null ? policy : account.policy;
  const teams = new Map<string, Policy>();
  if (account.kind === "organization")
    for (const team of await deps.resources.keyStores.teams.listTeams(account.id))
      teams.set(team.id, team.id === changed?.id ? policy : team.policy);
  const known = new Map<string | null, TriedPolicy>();
  return (teamId) => {
    // A deleted team has no policy any more.
    const ofTeam = teamId === null ? undefined : teams.get(teamId);
    const name = ofTeam === undefined ? null : teamId;
    const tried = known.get(name) ?? mergeWithOperator(deps, { ofAccount, ofTeam, models });
    known.set(name, tried);
    return tried;
  };
}

/** The policies below that of the gateway. */
interface OwnPolicies extends Pick<Changed, "models"> {
  readonly ofAccount: Policy;
  readonly ofTeam: Policy | undefined;
}

function mergeWithOperator(
  { generation }: StoreDeps,
  { ofAccount, ofTeam, models }: OwnPolicies,
): TriedPolicy {
  const own: readonly LevelPolicy[] = [
    { level: "account", policy: ofAccount },
    ...(ofTeam === undefined ? [] : [{ level: "team" as const, policy: ofTeam }]),
  ];
  const merged = mergePolicies([{ level: "gateway", policy: generation.settings.policy }, ...own]);
  const ownKeysOnly = own.find(({ policy }) => policy.ownKeysOnly)?.level ?? null;
  if (models === undefined) return { policy: merged, ownKeysOnly };
  const rule = { level: "key", list: "allowed_models", patterns: models } as const;
  return { policy: { ...merged, rules: [...merged.rules, rule] }, ownKeysOnly };
}

/** Reads pages up to the number asked for: a page may be short although more follow. */
async function readNewest(
  { generation, reports: { usage } }: StoreDeps,
  accountId: string,
  { key_id, team_id, last }: Body,
): Promise<readonly UsageRecord[]> {
  await generation.recorder.drain();
  const filter = { ...ANY_GENERATION, accountId, keyId: key_id ?? null, teamId: team_id ?? null };
  const records: UsageRecord[] = [];
  let before: string | null = null;
  for (let pages = 0; pages < MAX_PAGES && records.length < last; pages++) {
    const page = await usage.listGenerations({ ...filter, before, limit: last - records.length });
    records.push(...page.records);
    before = page.next;
    if (before === null) break;
  }
  return records;
}

/** The maximum number of pages that are read. Each reads a bounded number of records. */
const MAX_PAGES = 10;
