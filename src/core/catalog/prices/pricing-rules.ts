import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import { matchPattern } from "../../../base/text/match-pattern.ts";
import { dateOf } from "../../../base/time/time.ts";
import { isFreeId } from "../records/is-free-id.ts";
import type { ModelEndpoint } from "../records/records.ts";
import type { PriceRow } from "./price-row.ts";
import { scaleEndpoint } from "./scale-prices.ts";

/** The effect of a rule on prices: scales the list price, or replaces it. */
export type PricingEffect =
  /** `factor` in millionths: 1,125,000 adds 12.5 per cent. */
  { readonly kind: "scale"; readonly factor: bigint } | { readonly kind: "replace"; readonly row: PriceRow };

/** A rule of the operator for what accounts pay. Null conditions match everything. */
export interface PricingRule {
  /** The first and the last day (UTC) on which it applies, `YYYY-MM-DD`. */
  readonly from: string | null;
  readonly until: string | null;
  /** Ids of users and organizations. */
  readonly accounts: readonly string[] | null;
  readonly plans: readonly string[] | null;
  /** Slugs. */
  readonly providers: readonly string[] | null;
  /** Model ids, or patterns with `*`. */
  readonly models: readonly string[] | null;
  /** For requests with platform keys; null: the rule does not apply to them. */
  readonly platform: PricingEffect | null;
  /** For requests with BYOK keys, whose account pays the provider directly: the fee as a share of the list price. */
  readonly byok: PricingEffect | null;
}

/** The paying account, as far as pricing rules depend on it. */
interface Buyer {
  readonly accountId: string;
  readonly plan: string | null;
}

/** A model endpoint for which an account does not pay the list price. */
export interface Tariff {
  /** With the provider's prices. */
  readonly listed: ModelEndpoint;
  /** With the prices that the account pays to the gateway; with a BYOK key the fee. */
  readonly charged: ModelEndpoint;
  /** The factor of the list price that the account pays, in millionths; null if other prices replace the list's. */
  readonly factor: bigint | null;
  /** Returns another model of the provider, such as an advisor, with the prices that the account pays. */
  readonly priceOther: (endpoint: ModelEndpoint, modelId: string) => ModelEndpoint;
}

/** A model endpoint, and which kind of key it is called with. */
interface PricedEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly modelId: string;
  readonly isByok: boolean;
}

/** The prices that an account pays, by the rules that apply to it. */
export interface Tariffs {
  /** The same for all accounts with the same prices. */
  readonly id: string;
  /** Returns the tariff of an endpoint; null if the account pays the list price, or nothing (with a BYOK key, or for a free model). */
  find(this: void, priced: PricedEndpoint): Tariff | null;
}

/** Buyers whose rules are remembered. */
const REMEMBERED_BUYERS = 10_000;

/** Sets of rules whose tariffs are remembered. */
const REMEMBERED_SETS = 1_000;

/** The operator's rules for what accounts pay. The first rule that matches applies alone. */
export class PricingRules {
  /** By day and buyer; null: always list prices. */
  private readonly byBuyer = new BoundedMap<string, Tariffs | null>({ max: REMEMBERED_BUYERS });
  private readonly bySet = new BoundedMap<string, Tariffs>({ max: REMEMBERED_SETS });

  constructor(private readonly rules: readonly PricingRule[]) {}

  /** Whether any account may pay other prices than the providers'. */
  get areInForce(): boolean {
    return this.rules.length > 0;
  }

  /** Returns what a buyer pays at a time, milliseconds since the epoch; null if that is always the list price. */
  tariffsFor(buyer: Buyer, at: number): Tariffs | null {
    if (this.rules.length === 0) return null;
    const day = dateOf(at);
    const name = `${day} ${buyer.accountId} ${buyer.plan ?? ""}`;
    let found = this.byBuyer.get(name);
    if (found === undefined) {
      found = this.tariffsOf(buyer, day);
      this.byBuyer.set(name, found, 1);
    }
    return found;
  }

  private tariffsOf(buyer: Buyer, day: string): Tariffs | null {
    const places = this.rules.flatMap((rule, at) => (concerns(rule, buyer, day) ? [at] : []));
    if (places.length === 0) return null;
    const id = places.join();
    let tariffs = this.bySet.get(id);
    if (tariffs === undefined) {
      const rules = this.rules.filter((_, at) => places.includes(at));
      tariffs = createTariffs(id, rules);
      this.bySet.set(id, tariffs, 1);
    }
    return tariffs;
  }
}

function concerns({ from, until, accounts, plans }: PricingRule, buyer: Buyer, day: string): boolean {
  if ((from !== null && day < from) || (until !== null && day > until)) return false;
  if (accounts !== null && !accounts.includes(buyer.accountId)) return false;
  return plans === null || (buyer.plan !== null && plans.includes(buyer.plan));
}

/** Creates tariffs. They are memoized as long as their endpoints exist. */
function createTariffs(id: string, rules: readonly PricingRule[]): Tariffs {
  const known = { platform: createMemory(), byok: createMemory() };
  const tariffs: Tariffs = {
    id,
    find(priced) {
      const memory = priced.isByok ? known.byok : known.platform;
      let tariff = memory.get(priced.endpoint);
      if (tariff === undefined) {
        tariff = createTariff(rules, priced, tariffs);
        memory.set(priced.endpoint, tariff);
      }
      return tariff;
    },
  };
  return tariffs;
}

function createMemory(): WeakMap<ModelEndpoint, Tariff | null> {
  return new WeakMap();
}

function createTariff(
  rules: readonly PricingRule[],
  { endpoint, modelId, isByok }: PricedEndpoint,
  tariffs: Tariffs,
): Tariff | null {
  if (isFreeId(modelId)) return null;
  const rule = rules.find((one) => effectOf(one, isByok) !== null && appliesTo(one, endpoint, modelId));
  const effect = rule === undefined ? null : effectOf(rule, isByok);
  if (effect === null) return null;
  const charged = applyEffect(endpoint, effect);
  const priceOther: Tariff["priceOther"] = (other, id) =>
    tariffs.find({ endpoint: other, modelId: id, isByok })?.charged ??
    (isByok ? scaleEndpoint(other, 0n) : other);
  const factor = effect.kind === "scale" ? effect.factor : null;
  return { listed: endpoint, charged, factor, priceOther };
}

function effectOf({ platform, byok }: PricingRule, isByok: boolean): PricingEffect | null {
  return isByok ? byok : platform;
}

function appliesTo(
  { providers, models }: PricingRule,
  { provider }: ModelEndpoint,
  modelId: string,
): boolean {
  if (providers !== null && !providers.includes(provider)) return false;
  return models?.some((pattern) => matchPattern(pattern, modelId)) ?? true;
}

/** Own prices replace tiers and announced changes, too. */
function applyEffect(endpoint: ModelEndpoint, effect: PricingEffect): ModelEndpoint {
  if (effect.kind === "scale") return scaleEndpoint(endpoint, effect.factor);
  const { prices: _, priceTiers: __, priceChanges: ___, ...facts } = endpoint;
  return { ...facts, ...effect.row };
}
