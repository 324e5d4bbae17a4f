import type { EffectivePolicy } from "../../core/accounts/merge-policies.ts";
import { presentModel } from "../../core/catalog/present-model.ts";
import { presentTier, type TierView } from "../../core/catalog/present-tier.ts";
import type { ModelEndpoint, ModelRecord } from "../../core/catalog/records.ts";
import type { TierRecord } from "../../core/catalog/tier-records.ts";
import type { Deployment } from "../../core/deployments/served-models.ts";
import type { Serving } from "../../core/generation/call.ts";
import { findForbidding } from "../../core/generation/find-tier-deployments.ts";
import { createPolicyFilter } from "../../core/routing/select-deployments.ts";
import { type PreparedList, prepareTexts } from "../context/prepared-list.ts";
import { viewCatalog, viewServed } from "./tier-views.ts";

/** The lists of models as they are sent, each made once for what is served and the day: prices change with the day. */
export interface ModelLists {
  /** The whole catalog. */
  all(): Promise<PreparedList>;
  /** What a policy leaves of what is served. */
  allowed(policy: EffectivePolicy): Promise<PreparedList>;
  /** Has ready what is asked for most, before somebody asks. */
  prepare(policy: EffectivePolicy): Promise<void>;
}

interface DaysLists extends ModelLists {
  readonly day: number;
}

const DAY_MS = 86_400_000;
/** What lists for policies take together; the one that was asked for longest ago goes. */
const KEPT_BYTES = 64 * 1024 * 1024;
/** Models that are described in one go; about a millisecond. */
const SLICE = 100;

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
  const { catalog, servedModels, tiers } = serving;
  const servedTexts = new Map<ModelRecord, string | null>();
  const policies = createListCache();
  let whole: Promise<PreparedList> | null = null;
  let prepared: Promise<void> | null = null;

  const textFor = (isAllowed: (deployment: Deployment) => boolean) => (model: ModelRecord) => {
    const deployments = servedModels.deploymentsOf(model.id);
    const allowed = deployments.filter(isAllowed);
    const make = () => describe(model, allowed.map(endpointOf), now);
    return allowed.length === deployments.length ? remember(servedTexts, model, make) : make();
  };
  const self: ModelLists = {
    all() {
      whole ??= makeList(describeTiers(tiers.list, viewCatalog(serving), now), catalog.models, (model) =>
        describe(model, model.endpoints, now),
      );
      return whole;
    },
    allowed: (policy) =>
      policies.find(JSON.stringify(policy), () => {
        const isAllowed = createPolicyFilter(policy);
        const allowed = tiers.list.filter((tier) => findForbidding(policy, tier) === undefined);
        const first = describeTiers(allowed, viewServed(serving, isAllowed), now);
        return makeList(first, servedModels.models, textFor(isAllowed));
      }),
    prepare(policy) {
      prepared ??= Promise.all([self.allowed(policy), self.all()]).then(() => {});
      return prepared;
    },
  };
  return self;
}

interface ListCache {
  find(key: string, make: () => Promise<PreparedList>): Promise<PreparedList>;
}

function createListCache(): ListCache {
  const lists = new Map<string, { readonly list: Promise<PreparedList>; bytes: number }>();
  let total = 0;
  const dropOldest = (): void => {
    for (const [key, { bytes }] of lists) {
      if (total <= KEPT_BYTES || lists.size === 1) return;
      lists.delete(key);
      total -= bytes;
    }
  };
  return {
    find(key, make) {
      const known = lists.get(key);
      lists.delete(key);
      const entry = known ?? { list: make(), bytes: 0 };
      lists.set(key, entry);
      if (known === undefined)
        void entry.list.then(({ bytes }) => {
          if (lists.get(key) !== entry) return;
          entry.bytes = bytes;
          total += bytes;
          dropOldest();
        });
      return entry.list;
    },
  };
}

/** Those of which something is to be had. */
function describeTiers(tiers: readonly TierRecord[], view: TierView, now: number): string[] {
  return tiers.flatMap((tier) => {
    const record = presentTier(tier, view, now);
    return record === null ? [] : JSON.stringify(record);
  });
}

/** In slices, so that requests have their turn in between. `first` stands before the models. */
async function makeList(
  first: readonly string[],
  models: readonly ModelRecord[],
  textOf: (model: ModelRecord) => string | null,
): Promise<PreparedList> {
  const texts = [...first];
  for (let at = 0; at < models.length; at += SLICE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    for (const model of models.slice(at, at + SLICE)) {
      const text = textOf(model);
      if (text !== null) texts.push(text);
    }
  }
  return prepareTexts(texts);
}

function remember(
  texts: Map<ModelRecord, string | null>,
  model: ModelRecord,
  make: () => string | null,
): string | null {
  const known = texts.get(model);
  if (known !== undefined) return known;
  const text = make();
  texts.set(model, text);
  return text;
}

function describe(model: ModelRecord, endpoints: readonly ModelEndpoint[], now: number): string | null {
  const record = presentModel(model, endpoints, now);
  return record === null ? null : JSON.stringify(record);
}

function endpointOf({ endpoint }: Deployment): ModelEndpoint {
  return endpoint;
}
