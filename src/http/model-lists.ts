import type { JoinedPolicy } from "../core/accounts/join-policies.ts";
import { describeModel } from "../core/catalog/describe-model.ts";
import type { ModelEndpoint, ModelRecord } from "../core/catalog/records.ts";
import type { Serving } from "../core/generation/call.ts";
import type { Offer } from "../core/routing/roster.ts";
import { createPolicyFilter } from "../core/routing/select-offers.ts";
import { type PreparedList, prepareTexts } from "./prepared-list.ts";

/** The lists of models as they are sent, each made once for what is served and the day: prices change with the day. */
export interface ModelLists {
  /** The whole catalog. */
  all(): PreparedList;
  /** What a policy leaves of what is served. */
  allowed(policy: JoinedPolicy): PreparedList;
  /** Does the work before somebody asks, in slices, so that requests have their turn in between. */
  prepare(policy: JoinedPolicy): Promise<void>;
}

interface DaysLists extends ModelLists {
  readonly day: number;
}

const DAY_MS = 86_400_000;
/** Lists that are kept for policies; the one that was asked for longest ago goes. */
const KEPT_POLICIES = 16;
/** Models that are described in one go; some two milliseconds. */
const SLICE = 200;

const lists = new WeakMap<Serving, DaysLists>();

/** The lists of what is served, at a time in milliseconds since the epoch. */
export function modelListsOf(serving: Serving, now: number): ModelLists {
  const day = Math.floor(now / DAY_MS);
  const known = lists.get(serving);
  if (known?.day === day) return known;
  const made = { ...createLists(serving, now), day };
  lists.set(serving, made);
  return made;
}

function createLists(serving: Serving, now: number): ModelLists {
  const { catalog, roster } = serving;
  const wholeTexts = new Map<ModelRecord, string | null>();
  const servedTexts = new Map<ModelRecord, string | null>();
  const byPolicy = new Map<string, PreparedList>();
  let whole: PreparedList | null = null;
  let prepared: Promise<void> | null = null;
  const wholeText = (model: ModelRecord) => remember(wholeTexts, model, model.endpoints, now);
  const servedText = (model: ModelRecord, offers: readonly Offer[]) =>
    remember(servedTexts, model, offers.map(endpointOf), now);

  const listAllowed = (policy: JoinedPolicy): PreparedList => {
    const isAllowed = createPolicyFilter(policy);
    const texts = roster.models.map((model) => {
      const offers = roster.offersFor(model.id);
      const allowed = offers.filter(isAllowed);
      if (allowed.length === offers.length) return servedText(model, offers);
      return describe(model, allowed.map(endpointOf), now);
    });
    return prepareTexts(texts.filter(isThere));
  };
  const self: ModelLists = {
    all() {
      whole ??= prepareTexts(catalog.models.map(wholeText).filter(isThere));
      return whole;
    },
    allowed(policy) {
      const key = JSON.stringify(policy);
      const list = byPolicy.get(key) ?? listAllowed(policy);
      byPolicy.delete(key);
      byPolicy.set(key, list);
      if (byPolicy.size > KEPT_POLICIES) byPolicy.delete(byPolicy.keys().next().value as string);
      return list;
    },
    prepare(policy) {
      prepared ??= prepareAll(policy);
      return prepared;
    },
  };
  const prepareAll = async (policy: JoinedPolicy): Promise<void> => {
    await inSlices(roster.models, (model) => servedText(model, roster.offersFor(model.id)));
    self.allowed(policy);
    await inSlices(catalog.models, wholeText);
    self.all();
  };
  return self;
}

function remember(
  texts: Map<ModelRecord, string | null>,
  model: ModelRecord,
  endpoints: readonly ModelEndpoint[],
  now: number,
): string | null {
  const known = texts.get(model);
  if (known !== undefined) return known;
  const text = describe(model, endpoints, now);
  texts.set(model, text);
  return text;
}

function describe(model: ModelRecord, endpoints: readonly ModelEndpoint[], now: number): string | null {
  const record = describeModel(model, endpoints, now);
  return record === null ? null : JSON.stringify(record);
}

async function inSlices<T>(items: readonly T[], work: (item: T) => unknown): Promise<void> {
  for (let at = 0; at < items.length; at += SLICE) {
    for (const item of items.slice(at, at + SLICE)) work(item);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function endpointOf({ endpoint }: Offer): ModelEndpoint {
  return endpoint;
}

function isThere(text: string | null): text is string {
  return text !== null;
}
