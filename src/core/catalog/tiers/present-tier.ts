import type { PublicModel } from "../present/model-view.ts";
import { describeModality, linksOf, presentModel } from "../present/present-model.ts";
import { compareText } from "../records/format-catalog.ts";
import type { ModelEndpoint, ModelRecord } from "../records/records.ts";
import { createdAt } from "../records/release-day.ts";
import type { TierPick, TierRecord, TierRule } from "./tier-records.ts";
import { isFreeChoice, listCases } from "./tiers.ts";

/** A model and the endpoints that may serve it. */
interface ViewedModel {
  readonly model: ModelRecord;
  readonly endpoints: readonly ModelEndpoint[];
}

/** The models with which a tier is presented: those that are served and allowed, or the whole catalog. */
export interface TierView {
  readonly models: readonly ModelRecord[];
  /** Returns null if the model is not available. */
  find(id: string): ViewedModel | null;
}

/**
 * Presents a tier to clients: prices and capabilities of the first model of its default case, and the largest context window
 * of the first models of all cases. Prices are those at `at`, milliseconds since the epoch. Returns null if none of its
 * models is available.
 */
export function presentTier(tier: TierRecord, view: TierView, at: number): PublicModel | null {
  const cases = listViewed(tier.rule, view);
  const records = cases.flatMap(({ leading }) =>
    leading.flatMap(({ model, endpoints }) => presentModel(model, endpoints, at) ?? []),
  );
  const [usual] = records;
  if (usual === undefined) return null;
  const isFree = tier.rule.by === "free";
  const context_length = Math.max(...records.map((record) => record.context_length));
  return {
    ...usual,
    ...(isFree ? joinCapabilities(usual, records) : {}),
    id: tier.id,
    created: createdAt(tier.released),
    owned_by: "gateway",
    name: tier.name,
    description: tier.description,
    canonical_slug: tier.id,
    context_length,
    top_provider: { ...usual.top_provider, context_length },
    isFree,
    expiration_date: null,
    links: linksOf(tier.id),
    resolves_to: cases.map(({ when, models }) => ({ when, models: models.map(({ model }) => model.id) })),
  };
}

/** Lists all models that a tier may choose, each once; the first choices of its cases come first. */
export function listTierModels({ rule }: TierRecord, view: TierView): ViewedModel[] {
  const cases = listViewed(rule, view);
  const all = [...cases.flatMap(({ leading }) => leading), ...cases.flatMap(({ models }) => models)];
  return [...new Map(all.map((viewed) => [viewed.model.id, viewed])).values()];
}

interface ViewedCase {
  readonly when: string;
  readonly models: readonly ViewedModel[];
  /** The models that are the first choice of some request. */
  readonly leading: readonly ViewedModel[];
}

/** Lists the cases that have at least one available model. */
function listViewed(rule: TierRule, view: TierView): ViewedCase[] {
  if (rule.by === "free") return viewFree(rule, view);
  return listCases(rule).flatMap(({ when, pick }) => {
    const models = viewPick(pick, view);
    return models.length > 0 ? [{ when, models, leading: models.slice(0, 1) }] : [];
  });
}

function viewPick({ models }: TierPick, view: TierView): ViewedModel[] {
  return models.flatMap((id) => view.find(id) ?? []);
}

/** Views a tier of free models. Each session orders them differently, so that each of them may be the first. */
function viewFree(rule: Extract<TierRule, { by: "free" }>, view: TierView): ViewedCase[] {
  const choices = view.models
    .flatMap((model) => (isFreeChoice(rule, model) ? (view.find(model.id) ?? []) : []))
    .sort((a, b) => compareText(a.model.id, b.model.id));
  const last = rule.last.flatMap((id) => view.find(id) ?? []);
  const models = [...choices, ...last];
  if (models.length === 0) return [];
  return [{ when: "by session", models, leading: choices.length > 0 ? choices : last.slice(0, 1) }];
}

/** Joins the input modalities and parameters of free models, because a request goes to a model that accepts what it uses. */
function joinCapabilities(
  { architecture }: PublicModel,
  records: readonly PublicModel[],
): Pick<PublicModel, "architecture" | "supported_parameters"> {
  const union = (list: (record: PublicModel) => readonly string[]) => [...new Set(records.flatMap(list))];
  const inputModalities = union((record) => record.architecture.input_modalities);
  return {
    architecture: {
      ...architecture,
      input_modalities: inputModalities,
      tokenizer: "Other",
      modality: describeModality(inputModalities, architecture.output_modalities),
    },
    supported_parameters: union((record) => record.supported_parameters).sort(compareText),
  };
}
