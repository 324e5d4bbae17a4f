import { isFreeId } from "../../core/catalog/records/is-free-id.ts";
import type { CatalogData, ModelEndpoint, ModelRecord } from "../../core/catalog/records/records.ts";
import { TIER_PREFIX } from "../../core/catalog/tiers/tier-name.ts";
import { isPattern } from "../../core/named-routes/named-routes.ts";
import { routeNameSchema } from "../../core/named-routes/route-schema.ts";
import { spellPrices } from "../config/override-schema.ts";
import { lacksPrice } from "../serving/configured-hosts.ts";
import type { ImportedDeployment, ImportedLimits, RouteTarget } from "./deployment.ts";
import type { ImportReport, SourcePath } from "./import-report.ts";
import { type ProviderDraft, ProviderPlacer } from "./place-providers.ts";
import type { References } from "./references.ts";

const MAX_TARGETS = 20;
const MAX_MODEL_LIMITS = 100;
const MAX_ROUTES = 500;
const MAX_WEIGHT = 1_000_000;
/** Weights here are whole numbers; fractions keep three digits. */
const WEIGHT_SCALE = 1_000;

/** A name that clients send as `model`, and its targets. */
interface RouteDraft {
  readonly at: SourcePath;
  readonly name: string;
  readonly targets: readonly RouteTarget[];
  /** Used if all targets fail, in this order: deployments, and names that a pattern stands for. */
  readonly fallbacks: readonly (ImportedDeployment | string)[];
}

interface AliasDraft {
  readonly at: SourcePath;
  readonly name: string;
  readonly target: string;
  /** The only provider that may answer. The report has no line for such an alias. */
  readonly provider?: string;
}

interface Served {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
}

/** What a route leads to: a model, at one provider if others serve it too. */
interface Target {
  readonly model: string;
  readonly provider?: string;
}

type Section = Record<string, unknown>;

/** A configuration under construction. */
export class ConfigDraft {
  /** Sections that each importer writes itself: `limits`, `timers`, `admin_key`. */
  readonly settings: Section = {};
  private readonly providers: ProviderPlacer;
  private readonly served = new Map<string, Served>();
  /** The same by names without a region, date and version, which may have another price. */
  private readonly similar = new Map<string, Served>();
  /** The ids of models: those of the catalog, and those that are written. */
  private readonly ids: Set<string>;
  private readonly slugs = new Map<ImportedDeployment, string | null>();
  private readonly targets = new Map<ImportedDeployment, Target>();
  private readonly routes: RouteDraft[] = [];
  private readonly aliases: AliasDraft[] = [];
  private readonly namedRoutes: Record<string, Section> = {};
  /** The names that clients may send. */
  private readonly names = new Set<string>();
  private readonly limits: Record<string, Record<string, number>> = {};
  private readonly overrides: Record<string, { endpoints: Record<string, Section> }> = {};

  constructor(
    catalog: CatalogData,
    private readonly report: ImportReport,
    private readonly references: References,
  ) {
    const rows = new Map(catalog.providers.map((row) => [row.slug, row]));
    this.providers = new ProviderPlacer(rows, report, references);
    this.ids = new Set(catalog.models.map(({ id }) => id));
    for (const model of catalog.models)
      for (const endpoint of model.endpoints) {
        const { provider, name } = endpoint;
        this.served.set(`${provider} ${name.toLowerCase()}`, { model, endpoint });
        this.similar.set(`${provider} ${toBaseName(name)}`, { model, endpoint });
      }
  }

  /** Adds a deployment's provider and key. Returns whether it can be called. */
  addDeployment(deployment: ImportedDeployment): boolean {
    return this.slugOf(deployment) !== null;
  }

  /** Returns the slug of a deployment's provider; null if it has none. */
  slugOf(deployment: ImportedDeployment): string | null {
    const known = this.slugs.get(deployment);
    if (known !== undefined) return known;
    const slug = this.providers.place(deployment);
    this.slugs.set(deployment, slug);
    return slug;
  }

  /** Whether a deployment is at a provider of the catalog, whose models are known. */
  isOfCatalog(deployment: ImportedDeployment): boolean {
    return this.providers.isOfCatalog(this.slugOf(deployment) ?? "");
  }

  /** Adds a name that clients send. */
  addRoute(route: RouteDraft): void {
    this.routes.push(route);
  }

  /** Adds a further name of a model or route. */
  addAlias(alias: AliasDraft): void {
    this.aliases.push(alias);
  }

  /** Sets a part of the address of an imported provider. Returns whether the provider was imported. */
  addPart(slug: string, name: string, value: string): boolean {
    return this.providers.addPart(slug, name, value);
  }

  /** Adds a member of a section such as `limits`. */
  set(section: string, key: string, value: unknown): void {
    const existing = (this.settings[section] ?? {}) as Section;
    this.settings[section] = { ...existing, [key]: value };
  }

  /** Adds an item to a list such as `webhooks`. */
  push(section: string, item: Section): void {
    const existing = (this.settings[section] ?? []) as Section[];
    this.settings[section] = [...existing, item];
  }

  /**
   * Returns the configuration in the form of the file. Only the names that were added may be called; `isOpen` allows all models of the
   * imported providers.
   */
  finish({ isOpen = false }: { readonly isOpen?: boolean } = {}): Readonly<Section> {
    for (const { targets } of this.routes)
      for (const { deployment } of targets) this.assignTarget(deployment);
    for (const route of this.routes) this.writeRoute(route);
    for (const alias of this.aliases) this.writeAlias(alias);
    if (Object.keys(this.limits).length > 0) this.set("limits", "models", this.limits);
    // Free models can be called without a key here, and nothing can elsewhere.
    if ([...this.names, ...[...this.targets.values()].map(({ model }) => model)].some(isFreeId))
      this.set("limits", "anonymous_requests_per_hour", 0);
    const providers = [...this.providers.drafts].filter(([, draft]) => draft.models?.length !== 0);
    if (isOpen)
      this.set(
        "policy",
        "allowed_providers",
        providers.map(([slug]) => slug),
      );
    else if (this.names.size > 0) {
      this.set("policy", "allowed_models", [...this.names]);
      // Tiers would choose among models whose ids are also names here.
      this.set("policy", "denied_models", [`${TIER_PREFIX}*`]);
    }
    const { policy, limits, timers, webhooks, ...rest } = this.settings;
    return this.references.write({
      ...rest,
      ...(policy === undefined ? {} : { policy }),
      ...(limits === undefined ? {} : { limits }),
      ...(timers === undefined ? {} : { timers }),
      ...(webhooks === undefined ? {} : { webhooks }),
      ...(Object.keys(this.overrides).length === 0 ? {} : { catalog: { overrides: this.overrides } }),
      ...(Object.keys(this.namedRoutes).length === 0 ? {} : { named_routes: this.namedRoutes }),
      providers: Object.fromEntries(providers),
    });
  }

  private writeRoute({ at, name, targets, fallbacks }: RouteDraft): void {
    const all = [
      ...targets.map(({ deployment, weight }) => ({ to: deployment, weight })),
      ...fallbacks.map((to) => ({ to, weight: 0 })),
    ];
    const weights = new Map<string, { readonly target: Target; weight: number }>();
    for (const { to, weight } of all) {
      const target = typeof to === "string" ? { model: to.toLowerCase() } : this.targets.get(to);
      if (target === undefined) continue;
      const key = JSON.stringify(target);
      const known = weights.get(key) ?? { target, weight: 0 };
      known.weight += weight;
      weights.set(key, known);
    }
    if (weights.size === 0) return;
    const taken = [...weights.values()].slice(0, MAX_TARGETS);
    if (weights.size > MAX_TARGETS)
      this.report.missing(at, {
        text: `A group has at most ${MAX_TARGETS} targets; only the first were taken over.`,
      });
    const [first] = taken as [(typeof taken)[number]];
    const isOwnId = taken.length === 1 && first.target.provider === undefined;
    if (isOwnId && first.target.model === name.toLowerCase()) {
      this.names.add(first.target.model);
      this.report.taken(at, { text: `${name} is the id of the model here, too.` });
      return;
    }
    const definition =
      taken.length === 1
        ? { kind: "alias", target: first.target.model, ...pinOf(first.target) }
        : { kind: "group", sticky: "request", targets: toWholeWeights(taken) };
    this.writeNamed(at, name, definition);
  }

  private writeAlias({ at, name, target, provider }: AliasDraft): void {
    if (provider === undefined) this.writeNamed(at, name, { kind: "alias", target: target.toLowerCase() });
    else if (this.findNameFault(name) === null) this.writeName(name, { kind: "alias", target, provider });
  }

  private writeNamed(at: SourcePath, name: string, definition: Section): void {
    const lower = name.toLowerCase();
    if (isFreeId(lower) && this.writeFree(lower, definition)) {
      this.report.taken(at, { text: `${name} is the id of a free model here, too.` });
      return;
    }
    const fault = this.findNameFault(lower);
    if (fault !== null) {
      this.report.missing(at, { text: `The name ${JSON.stringify(name)} ${fault}.` });
      return;
    }
    this.writeName(lower, definition);
    const targets = definition["kind"] === "group" ? (definition["targets"] as Target[]) : null;
    const described = targets ?? [{ model: String(definition["target"]), ...pinOf(definition) }];
    this.report.taken(at, {
      target: `named_routes.${lower}`,
      text: `Answered by ${described.map(describeTarget).join(", ")}.`,
    });
  }

  /** Lists a model of a provider under a name that no route can have, because it ends as the ids of free models do. */
  private writeFree(name: string, { provider, target }: Section): boolean {
    const draft = this.providers.drafts.get(String(provider));
    const served = [...this.served.values()].find(
      ({ model, endpoint }) => model.id === target && endpoint.provider === provider,
    );
    if (draft === undefined || served === undefined || !name.includes("/")) return false;
    draft.models ??= [];
    draft.models.push({ id: name, name: served.endpoint.name, ...spellEndpointPrices(served.endpoint) });
    this.names.add(name);
    return true;
  }

  private writeName(name: string, definition: Section): void {
    const mayBeId = this.ids.has(name) || (isPattern(name) && /^\*|\/.*\*/.test(name));
    this.namedRoutes[name] = { ...definition, ...(mayBeId ? { replaces_model: true } : {}) };
    this.names.add(name);
  }

  private findNameFault(lower: string): string | null {
    const fault = routeNameSchema.safeParse(lower).error?.issues[0]?.message;
    if (fault !== undefined) return fault;
    if (Object.hasOwn(this.namedRoutes, lower))
      return "differs from another one only in letter case, which does not matter here";
    const isFull = Object.keys(this.namedRoutes).length >= MAX_ROUTES;
    return isFull ? `is one too many: there are at most ${MAX_ROUTES} named routes` : null;
  }

  /** Sets what the routes to a deployment lead to, and writes its model if the catalog does not have it at that provider. */
  private assignTarget(deployment: ImportedDeployment): void {
    const slug = this.slugOf(deployment);
    if (slug === null || this.targets.has(deployment)) return;
    if (isPattern(deployment.upstream)) {
      this.targets.set(deployment, { model: deployment.upstream, provider: slug });
      return;
    }
    const exact = this.served.get(`${slug} ${deployment.upstream.toLowerCase()}`);
    const target =
      exact === undefined
        ? { model: this.ownId(slug, deployment) }
        : { model: exact.model.id, provider: slug };
    if (exact === undefined) this.writeModel(deployment, slug, target.model);
    else this.writePrices(deployment, slug, exact);
    this.writeLimits(deployment, target.model);
    this.targets.set(deployment, target);
  }

  /** Returns the id of a model that is not in the catalog at this provider. */
  private ownId(slug: string, { upstream }: ImportedDeployment): string {
    const id = `${slug}/${toPrintable(upstream.toLowerCase())}`;
    const isOwn = this.providers.drafts.get(slug)?.models?.some((model) => model["id"] === id) === true;
    return this.ids.has(id) && !isOwn ? `${id}-at-${slug}` : id;
  }

  private writeModel(deployment: ImportedDeployment, slug: string, id: string): void {
    const draft = this.providers.drafts.get(slug) as ProviderDraft;
    draft.models ??= [];
    const existing = draft.models.find((model) => model["id"] === id);
    if (existing !== undefined) {
      this.requireSamePrices(deployment, existing);
      return;
    }
    const similar = this.findSimilar(deployment, slug);
    const { prices: written, output = "text", facts = {}, upstream, at } = deployment;
    const prices = written === undefined ? spellEndpointPrices(similar?.endpoint) : spellImported(written);
    const model: Section = {
      id,
      name: upstream,
      ...(output === "text" ? {} : { output }),
      ...(similar === undefined ? {} : { context_length: similar.endpoint.contextLength }),
      ...facts,
      ...prices,
    };
    draft.models.push(model);
    this.ids.add(id);
    const reason = `The catalog has no ${upstream} at ${slug}: it is listed as ${id}`;
    const target = `providers.${slug}.models`;
    if (isFreeId(id)) this.report.differs(at, { target, text: `${reason}. It is free by its id.` });
    else if (lacksPrice({ id, output, prices: model["prices"] as never })) {
      const text = `${reason}, and its answers are not charged until it has prices, 0 if it is free.`;
      this.report.unpriced(at, { target, text });
    } else {
      const from =
        written === undefined
          ? `today's prices of ${similar?.model.id} (${similar?.endpoint.name})`
          : "the prices of the file";
      this.report.differs(at, { target, text: `${reason}, with ${from}, and without reasoning settings.` });
    }
  }

  /** Finds the model whose prices and sizes a deployment has although it has another name or address. */
  private findSimilar(deployment: ImportedDeployment, slug: string): Served | undefined {
    const { provider, upstream, similarTo = upstream } = deployment;
    const known = provider.kind === "catalog" ? provider.slug : slug;
    return (
      this.served.get(`${known} ${similarTo.toLowerCase()}`) ??
      this.similar.get(`${known} ${toBaseName(similarTo)}`)
    );
  }

  /** A model has one price, and deployments of other gateways have one each. */
  private requireSamePrices({ prices, at }: ImportedDeployment, model: Section): void {
    const { prices: before, price_tiers: tiers = [] } = model;
    if (prices === undefined || Bun.deepEquals([before, tiers], [prices.prices, prices.priceTiers])) return;
    this.report.missing(at, {
      text: `Another entry sets other prices for the same model at the same provider. It has the first ones.`,
    });
  }

  private writePrices({ prices, at }: ImportedDeployment, slug: string, { model, endpoint }: Served): void {
    if (prices === undefined) return;
    const { id } = model;
    this.overrides[id] ??= { endpoints: {} };
    const existing = this.overrides[id].endpoints[slug];
    if (existing !== undefined) {
      this.requireSamePrices({ prices, at } as ImportedDeployment, existing);
      return;
    }
    this.overrides[id].endpoints[slug] = spellImported(prices);
    const cached = endpoint.prices?.cacheRead;
    const text =
      cached === undefined || prices.prices["cache_read"] !== undefined
        ? "These prices replace the catalog's."
        : `These prices replace the catalog's. The file names none for cached tokens, which cost as much as others then, as in LiteLLM; the catalog's is ${cached}: add cache_read for a lower one.`;
    this.report[cached === undefined ? "taken" : "differs"](at, {
      target: `catalog.overrides.${id}.endpoints.${slug}`,
      text,
    });
  }

  private writeLimits({ limits = {}, at }: ImportedDeployment, id: string): void {
    const added = Object.entries(limits) as [keyof ImportedLimits, number][];
    if (added.length === 0) return;
    if (this.limits[id] === undefined && Object.keys(this.limits).length >= MAX_MODEL_LIMITS) {
      this.report.missing(at, { text: `There are at most ${MAX_MODEL_LIMITS} limits of models.` });
      return;
    }
    this.limits[id] ??= {};
    const sums = this.limits[id];
    for (const [name, value] of added) sums[name] = (sums[name] ?? 0) + value;
    this.report.differs(at, {
      target: `limits.models.${id}`,
      text: "The limits of a model's deployments are added, and count all requests for the model, also under other names. Requests above them get a 429, or go to another model of their group.",
    });
  }
}

function pinOf({ provider }: { readonly provider?: unknown }): { readonly provider?: string } {
  return typeof provider === "string" ? { provider } : {};
}

function describeTarget({ model, provider }: Target): string {
  if (provider === undefined) return model;
  return model === "*" ? `the models of ${provider}` : `${model} at ${provider}`;
}

function spellImported({ prices, priceTiers }: NonNullable<ImportedDeployment["prices"]>): Section {
  return { prices, ...(priceTiers.length === 0 ? {} : { price_tiers: priceTiers }) };
}

/** Returns all prices of an endpoint of the catalog, in the form of the file. */
function spellEndpointPrices(endpoint: ModelEndpoint | undefined): Section {
  return endpoint === undefined || endpoint.prices === null ? {} : spellPrices(endpoint);
}

/** Returns a name without region, date and version: `anthropic.claude-opus-4-5` for `us.anthropic.claude-opus-4-5-20251101-v1:0`. */
function toBaseName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:us|eu|apac|jp|au|ca|global)\./, "")
    .replace(/@.*$/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/-20\d\d-?\d\d-?\d\d$/, "");
}

function toWholeWeights(weights: readonly { readonly target: Target; readonly weight: number }[]) {
  const isWhole = weights.every(({ weight }) => Number.isInteger(weight));
  const whole = weights.map(({ target, weight }) => ({
    model: target.model,
    ...pinOf(target),
    weight: Math.min(isWhole ? weight : Math.round(weight * WEIGHT_SCALE), MAX_WEIGHT),
  }));
  // All may be fallbacks of something that was not taken over.
  return whole.some(({ weight }) => weight > 0) ? whole : whole.map((target) => ({ ...target, weight: 1 }));
}

/** Returns the name of a model at a host as a part of an id, which consists of printable ASCII characters. */
function toPrintable(name: string): string {
  const printable = name.replace(/[^!-~]+/g, "-");
  // Other names must not become the same id.
  return printable === name ? name : `${printable}-${Bun.hash.crc32(name).toString(36)}`;
}
