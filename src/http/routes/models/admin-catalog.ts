import { z } from "zod";
import { fail } from "../../../base/failures/errors.ts";
import { formatTime } from "../../../base/time/time.ts";
import type { PriceTerms } from "../../../core/catalog/prices/price-row.ts";
import { missingSince } from "../../../core/catalog/records/expiry.ts";
import type { ModelRecord, PriceTier } from "../../../core/catalog/records/records.ts";
import type { CatalogStatus, Verdict } from "../../../core/catalog/refresh/catalog-manager.ts";
import type { HeldChange } from "../../../core/catalog/refresh/merge-refresh.ts";
import { OPERATOR } from "../../api/access.ts";
import { defineEndpoint, type StoreInput } from "../../api/endpoint.ts";

const TAG = "Catalog";
const PATH = "/api/admin/catalog";
const CHANGE_PATH = `${PATH}/changes/:id`;

const day = z.iso.date();
const time = z.iso.datetime().nullable();
const PricesView = z.record(z.string(), z.string());
const TierView = z.looseObject({ min_prompt_tokens: z.int() });
const TermsView = z
  .object({
    prices: PricesView.nullable().describe(
      "US dollars as decimal strings. `null` means the price is unknown.",
    ),
    price_tiers: z.array(TierView).describe("Prices that apply from a prompt length on."),
    price_changes: z
      .array(z.object({ from: day, prices: PricesView, price_tiers: z.array(TierView) }))
      .describe("Announced price changes by date."),
  })
  .meta({ id: "PriceTerms", description: "Prices of a model at a provider." });

const ChangeView = z
  .object({
    id: z.string(),
    model: z.string(),
    provider: z.string(),
    model_name: z.string().describe("Name of the model at the provider."),
    jumps: z
      .array(
        z.object({
          kind: z.string(),
          before: z.string().nullable().describe("US dollars. `null` means the price is unknown."),
          after: z.string().nullable(),
          min_prompt_tokens: z
            .int()
            .nullable()
            .describe("Prompt length from which the price applies, for a tiered price."),
          from: day.nullable().describe("Date of the change, for an announced price."),
        }),
      )
      .describe("The prices that change by more than `price_factor`."),
    before: TermsView.describe("The prices in force."),
    after: TermsView.describe("The prices at the source."),
    seen_at: z.iso.datetime().describe("Time at which the source first had the new prices (RFC 3339)."),
  })
  .meta({
    id: "CatalogChange",
    description: "A price change that is not in force: it awaits approval or was rejected.",
  });

const StatusView = z
  .object({
    source: z.string().describe("Source of models and prices."),
    models: z.int().describe("Number of models in the catalog."),
    refresh_hours: z.number().describe("Hours between refreshes."),
    price_factor: z.number().describe("A price that changes by more than this factor awaits approval."),
    grace_days: z
      .int()
      .describe("Days for which a model is still served after the source no longer lists it."),
    attempted_at: time,
    refreshed_at: time,
    problem: z.string().nullable().describe("Why the last refresh failed. `null` means it did not."),
    waiting: z.int().describe("Number of price changes that await approval."),
    rejected: z.int().describe("Number of rejected price changes."),
    missing: z
      .array(z.object({ model: z.string(), since: day, expiration_date: day.nullable() }))
      .describe("Models that the source no longer lists."),
    difference: z.array(z.string()).describe("The changes of the last refresh, one line each."),
  })
  .meta({ id: "CatalogStatus", description: "State of the catalog and of its refreshes." });

const OfChange = z.object({
  id: z.string().describe('Id of a price change, or "all" for all changes that await approval.'),
});

/** `GET /api/admin/catalog`: the state of the catalog and of its refreshes. */
export const getCatalog = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "Retrieve the state of the catalog and of its refreshes",
  access: OPERATOR,
  response: z.object({ data: StatusView }),
  async handle({ deps }) {
    const { models } = deps.generation.serving().catalog;
    return { data: presentStatus(await deps.resources.catalogManager.status(), models) };
  },
});

/** `POST /api/admin/catalog/refresh`: refreshes the catalog from its source now. */
export const postCatalogRefresh = defineEndpoint({
  method: "POST",
  path: `${PATH}/refresh`,
  tag: TAG,
  summary: "Refresh the catalog from its source now, or preview the refresh with `dry_run`",
  access: OPERATOR,
  body: z.strictObject({
    dry_run: z
      .boolean()
      .default(false)
      .describe("`true` returns what the refresh would change, without changing it."),
  }),
  response: z.object({
    data: z.object({
      written: z.boolean().describe("Whether the catalog was changed."),
      added: z.int().describe("Number of new models."),
      changed: z.int().describe("Number of changed models."),
      difference: z.array(z.string()).describe("The changes, one line each."),
      waiting: z.array(ChangeView).describe("Price changes that await approval."),
    }),
  }),
  errors: ["upstream_error"],
  async handle({ body, deps, audit }) {
    const report = await deps.resources.catalogManager.refresh({ dryRun: body.dry_run });
    if (!report.ok) return fail("upstream_error", `The catalog was not refreshed: ${report.problem}.`);
    const { written, added, changed, lines: difference } = report;
    audit({ target: "catalog", changes: { dry_run: body.dry_run, added, changed } });
    return { data: { written, added, changed, difference, waiting: report.waiting.map(presentHeldChange) } };
  },
});

/** `GET /api/admin/catalog/changes`: price changes that are not in force. */
export const listCatalogChanges = defineEndpoint({
  method: "GET",
  path: `${PATH}/changes`,
  tag: TAG,
  summary: "List the price changes that await approval, or those that were rejected (status=rejected)",
  access: OPERATOR,
  query: z.strictObject({
    status: z.enum(["waiting", "rejected"]).default("waiting").describe("Which price changes to list."),
  }),
  response: z.object({ data: z.array(ChangeView) }),
  async handle({ query, deps }) {
    const held = await deps.resources.catalogManager.listHeld();
    return { data: held[query.status].map(presentHeldChange) };
  },
});

/** `POST /api/admin/catalog/changes/{id}/approve`: puts price changes in force. */
export const approveCatalogChange = defineEndpoint({
  method: "POST",
  path: `${CHANGE_PATH}/approve`,
  tag: TAG,
  summary: 'Approve a price change, or all with the id "all"',
  access: OPERATOR,
  params: OfChange,
  response: z.object({ data: z.array(ChangeView) }),
  handle: (input) => decide(input, "approve"),
});

/** `POST /api/admin/catalog/changes/{id}/reject`: keeps the prices in force until the source has different ones. */
export const rejectCatalogChange = defineEndpoint({
  method: "POST",
  path: `${CHANGE_PATH}/reject`,
  tag: TAG,
  summary:
    'Reject a price change, or all with the id "all". The prices in force remain until the source has different ones',
  access: OPERATOR,
  params: OfChange,
  response: z.object({ data: z.array(ChangeView) }),
  handle: (input) => decide(input, "reject"),
});

type DecisionInput = Pick<
  StoreInput<unknown, z.infer<typeof OfChange>, unknown, unknown>,
  "params" | "deps" | "audit"
>;

async function decide({ params, deps, audit }: DecisionInput, verdict: Verdict) {
  const decided = await deps.resources.catalogManager.decide(params.id, verdict);
  for (const change of decided) audit({ target: change.id, changes: summarize(change) });
  return { data: decided.map(presentHeldChange) };
}

/** Returns what the audit log records of a decision. */
function summarize(change: HeldChange): Record<string, unknown> {
  const { model, provider, before, after } = presentHeldChange(change);
  return { model, provider, before, after };
}

/** Presents the state of the catalog and its refreshes as the management API and the command show it. */
function presentStatus(status: CatalogStatus, models: readonly ModelRecord[]) {
  return {
    source: status.source,
    models: models.length,
    refresh_hours: status.refreshHours,
    price_factor: status.priceFactor,
    grace_days: status.graceDays,
    attempted_at: formatTime(status.attemptedAt),
    refreshed_at: formatTime(status.refreshedAt),
    problem: status.problem,
    waiting: status.waiting,
    rejected: status.rejected,
    missing: models.flatMap((model) => {
      const since = missingSince(model);
      return since === null ? [] : { model: model.id, since, expiration_date: model.expires };
    }),
    difference: status.difference,
  };
}

/** Presents a held change as the management API and the command show it. */
function presentHeldChange({ id, model, provider, name, before, after, jumps, seenAt }: HeldChange) {
  return {
    id,
    model,
    provider,
    model_name: name,
    jumps: jumps.map((jump) => ({
      kind: jump.kind.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`),
      before: jump.before,
      after: jump.after,
      min_prompt_tokens: jump.minPromptTokens ?? null,
      from: jump.from ?? null,
    })),
    before: presentTerms(before),
    after: presentTerms(after),
    seen_at: formatTime(seenAt),
  };
}

function presentTerms({ prices, priceTiers = [], priceChanges = [] }: PriceTerms) {
  return {
    prices,
    price_tiers: priceTiers.map(presentTier),
    price_changes: priceChanges.map((change) => ({
      from: change.from,
      prices: change.prices,
      price_tiers: (change.priceTiers ?? []).map(presentTier),
    })),
  };
}

function presentTier({ minPromptTokens, ...prices }: PriceTier) {
  return { min_prompt_tokens: minPromptTokens, ...prices };
}
