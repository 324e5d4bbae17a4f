import { z } from "zod";
import { fail, rejectField } from "../../../base/failures/errors.ts";
import { IdInput, mergeChange, PatternsInput } from "../../../core/accounts/fields/resource-fields.ts";
import { listPolicyNames } from "../../../core/accounts/manage/manage-accounts.ts";
import { USER_SETTINGS } from "../../../core/accounts/records/account-fields.ts";
import { type EffectivePolicy, mergePolicies } from "../../../core/accounts/records/merge-policies.ts";
import type { ManagementPrincipal } from "../../../core/accounts/records/principal.ts";
import {
  type AccountRecord,
  DEFAULT_ACCOUNT_ID,
  type Policy,
} from "../../../core/accounts/records/records.ts";
import { findNames } from "../../../core/accounts/stores/find-names.ts";
import { requireKnownNames } from "../../../core/catalog/served/known-names.ts";
import { dryRunPolicy } from "../../../core/questions/dry-run-policy.ts";
import { ANY_GENERATION } from "../../../core/usage/generations/generation-list.ts";
import { presentGenerationLine } from "../../../core/usage/generations/present-generation.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { ACCOUNT_MANAGERS, requireOwnAccount } from "../../api/access.ts";
import { defineEndpoint } from "../../api/endpoint.ts";
import { requireAccount } from "../../api/fields.ts";
import { GenerationLine } from "../../api/generation-view.ts";
import type { StoreDeps } from "../../context/store-deps.ts";

const MAX_GENERATIONS = 1_000;

const DryRunBody = z.strictObject({
  account_id: IdInput.optional().describe(
    "The account whose policy is to change. Defaults to that of `key_id`, or the caller's own.",
  ),
  key_id: IdInput.optional().describe("Only generations of this API key."),
  policy: USER_SETTINGS.policy.input
    .optional()
    .describe("The changed fields of the account's policy. Omitted fields keep their value."),
  models: PatternsInput.optional().describe(
    "Models that the API key may call, in addition to the account's policy. Needs `key_id`.",
  ),
  last: z
    .int()
    .min(1)
    .max(MAX_GENERATIONS)
    .default(100)
    .describe("Number of the newest generations to check."),
});

/** `POST /api/admin/policy/dry-run`: lists recorded generations that a changed policy would have rejected. */
export const dryRunOfPolicy = defineEndpoint({
  method: "POST",
  path: "/api/admin/policy/dry-run",
  tag: "Accounts",
  summary: "Check which of an account's recorded generations a changed policy would have rejected",
  access: ACCOUNT_MANAGERS,
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
    const account = await findAccount(deps, principal, body);
    const policy = changePolicy(deps, account, body);
    const records = await readNewest(deps, account.id, body);
    const tried = {
      policy: mergeWithOperator(deps, policy, body.models),
      ownKeysOnly: policy.ownKeysOnly,
      byokKeys: await deps.generation.accounts.byokKeys.of(account.id),
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

/** @throws GatewayError `not_found`; `invalid_request` for `models` without a key. */
async function findAccount(
  deps: StoreDeps,
  principal: ManagementPrincipal,
  { account_id, key_id, models }: Body,
): Promise<AccountRecord> {
  if (models !== undefined && key_id === undefined) rejectField("models", "needs key_id");
  const key = key_id === undefined ? null : await deps.resources.keyStores.keys.findKey(key_id);
  const own = principal.kind === "operator" ? undefined : principal.account.id;
  if (key_id !== undefined && (key === null || (own !== undefined && key.accountId !== own)))
    return fail("not_found", "There is no key with that id.");
  const id = account_id ?? key?.accountId ?? own ?? DEFAULT_ACCOUNT_ID;
  return requireAccount(deps, requireOwnAccount(principal, id));
}

/** @throws GatewayError `invalid_request` for a name that the catalog does not have, as the change of the policy would. */
function changePolicy({ generation }: StoreDeps, { policy }: AccountRecord, body: Body): Policy {
  const change = body.policy === undefined ? {} : USER_SETTINGS.policy.read(body.policy);
  const known = () => generation.serving();
  requireKnownNames(known, [
    ...listPolicyNames({ policy: change }, policy),
    { field: "models", kind: "model", names: body.models, use: "allow" },
  ]);
  return mergeChange(policy, change);
}

function mergeWithOperator(
  { generation }: StoreDeps,
  policy: Policy,
  models: readonly string[] | undefined,
): EffectivePolicy {
  const merged = mergePolicies([
    { level: "gateway", policy: generation.settings.policy },
    { level: "account", policy },
  ]);
  if (models === undefined) return merged;
  return { ...merged, rules: [...merged.rules, { level: "key", list: "allowed_models", patterns: models }] };
}

/** Reads pages up to the number asked for: a page may be short although more follow. */
async function readNewest(
  { generation, reports: { usage } }: StoreDeps,
  accountId: string,
  { key_id, last }: Body,
): Promise<readonly UsageRecord[]> {
  await generation.recorder.drain();
  const filter = { ...ANY_GENERATION, accountId, keyId: key_id ?? null };
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
