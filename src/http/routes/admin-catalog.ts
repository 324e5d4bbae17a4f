import { z } from "zod";
import { fail } from "../../base/errors.ts";
import type { Verdict } from "../../core/catalog/catalog-keeper.ts";
import type { HeldChange } from "../../core/catalog/merge-refresh.ts";
import { presentHeldChange } from "../../core/catalog/present-held-change.ts";
import { presentStatus } from "../../core/catalog/present-status.ts";
import { OPERATOR } from "../api/access.ts";
import { defineEndpoint, NOTHING } from "../api/endpoint.ts";
import type { ChangeNote } from "../api/write-audit.ts";
import type { HttpDeps } from "../context/context.ts";

const TAG = "Catalog";
const PATH = "/api/admin/catalog";
const CHANGE_PATH = `${PATH}/changes/:id`;

const day = z.iso.date();
const time = z.iso.datetime().nullable();
const PricesView = z.record(z.string(), z.string());
const TierView = z.looseObject({ min_prompt_tokens: z.int() });
const TermsView = z
  .object({
    prices: PricesView.nullable().describe("US dollars, decimal strings; null: no known price"),
    price_tiers: z.array(TierView).describe("Prices from a length of the prompt on"),
    price_changes: z
      .array(z.object({ from: day, prices: PricesView, price_tiers: z.array(TierView) }))
      .describe("Announced, by the day"),
  })
  .meta({ id: "PriceTerms", description: "A model's prices at a provider" });

const ChangeView = z
  .object({
    id: z.string(),
    model: z.string(),
    provider: z.string(),
    model_name: z.string().describe("The model's name at the provider"),
    jumps: z
      .array(
        z.object({
          kind: z.string(),
          before: z.string().nullable().describe("US dollars; null: no known price"),
          after: z.string().nullable(),
          min_prompt_tokens: z.int().nullable().describe("Of the tier that begins there"),
          from: day.nullable().describe("For an announced change, the day"),
        }),
      )
      .describe("The prices that change by more than the factor"),
    before: TermsView.describe("In force"),
    after: TermsView.describe("What the source says"),
    seen_at: z.iso.datetime().describe("When the source first said so"),
  })
  .meta({ id: "CatalogChange", description: "A change of prices that is not in force" });

const StatusView = z
  .object({
    source: z.string().describe("Where models and prices are read"),
    models: z.int().describe("How many models the catalog has"),
    refresh_hours: z.number().describe("Hours from one refresh to the next"),
    price_factor: z.number().describe("A price that changes by more than this factor waits"),
    grace_days: z.int().describe("Days that a model is served which the source does not list any more"),
    attempted_at: time,
    refreshed_at: time,
    problem: z.string().nullable().describe("Why the last attempt changed nothing"),
    waiting: z.int().describe("Changes of prices that wait for the operator"),
    rejected: z.int().describe("Those that were rejected"),
    missing: z
      .array(z.object({ model: z.string(), since: day, expiration_date: day.nullable() }))
      .describe("Models that the source does not list any more"),
    difference: z.array(z.string()).describe("What the last refresh changed, a line each"),
  })
  .meta({ id: "CatalogStatus", description: "How the catalog stands to its source" });

const OfChange = z.object({ id: z.string().describe('Of a change; "all" for all that wait') });

/** `GET /api/admin/catalog`: how the catalog stands to its source. */
export const getCatalog = defineEndpoint({
  method: "GET",
  path: PATH,
  tag: TAG,
  summary: "How the catalog stands to its source",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: StatusView }),
  handle: ({ deps }) => ({
    data: presentStatus(deps.catalogKeeper.status(), deps.generation.serving().catalog.models),
  }),
});

/** `POST /api/admin/catalog/refresh`: reads the source now. */
export const postCatalogRefresh = defineEndpoint({
  method: "POST",
  path: `${PATH}/refresh`,
  tag: TAG,
  summary: "Read the catalog's source now, or with dry_run see what that would change",
  access: OPERATOR,
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject({
    dry_run: z.boolean().default(false).describe("true: only see what it would change"),
  }),
  response: z.object({
    data: z.object({
      written: z.boolean().describe("The catalog was changed"),
      added: z.int().describe("Models that are new"),
      changed: z.int().describe("Models that changed"),
      difference: z.array(z.string()).describe("What changed, a line each"),
      waiting: z.array(ChangeView).describe("Changes of prices that wait for the operator"),
    }),
  }),
  errors: ["upstream_error"],
  async handle({ body, deps, note }) {
    const report = await deps.catalogKeeper.refresh({ dryRun: body.dry_run });
    if (!report.ok) return fail("upstream_error", `The catalog is as it was: ${report.problem}.`);
    const { written, added, changed, lines: difference } = report;
    note({ target: "catalog", changes: { dry_run: body.dry_run, added, changed } });
    return { data: { written, added, changed, difference, waiting: report.waiting.map(presentHeldChange) } };
  },
});

/** `GET /api/admin/catalog/changes`: changes of prices that are not in force. */
export const listCatalogChanges = defineEndpoint({
  method: "GET",
  path: `${PATH}/changes`,
  tag: TAG,
  summary: "Changes of prices that wait for the operator, or with status=rejected those that were rejected",
  access: OPERATOR,
  params: NOTHING,
  query: z.strictObject({
    status: z.enum(["waiting", "rejected"]).default("waiting").describe("Which of them"),
  }),
  body: NOTHING,
  response: z.object({ data: z.array(ChangeView) }),
  handle: ({ query, deps }) => ({ data: deps.catalogKeeper.listHeld()[query.status].map(presentHeldChange) }),
});

/** `POST /api/admin/catalog/changes/{id}/approve`: puts it in force. */
export const approveCatalogChange = defineEndpoint({
  method: "POST",
  path: `${CHANGE_PATH}/approve`,
  tag: TAG,
  summary: 'Put a change of prices in force, or all that wait with the id "all"',
  access: OPERATOR,
  params: OfChange,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.array(ChangeView) }),
  handle: ({ params, deps, note }) => decide(params.id, "approve", deps, note),
});

/** `POST /api/admin/catalog/changes/{id}/reject`: keeps the price that is in force, until the source says something else. */
export const rejectCatalogChange = defineEndpoint({
  method: "POST",
  path: `${CHANGE_PATH}/reject`,
  tag: TAG,
  summary:
    'Keep the prices in force until the source has others, for one change or all that wait with the id "all"',
  access: OPERATOR,
  params: OfChange,
  query: NOTHING,
  body: NOTHING,
  response: z.object({ data: z.array(ChangeView) }),
  handle: ({ params, deps, note }) => decide(params.id, "reject", deps, note),
});

async function decide(id: string, verdict: Verdict, deps: HttpDeps, note: (change: ChangeNote) => void) {
  const decided = await deps.catalogKeeper.decide(id, verdict);
  for (const change of decided) note({ target: change.id, changes: summarize(change) });
  return { data: decided.map(presentHeldChange) };
}

/** What the audit log keeps of a decision. */
function summarize(change: HeldChange): Record<string, unknown> {
  const { model, provider, before, after } = presentHeldChange(change);
  return { model, provider, before, after };
}
