import type { CatalogData, ModelEndpoint, ModelRecord } from "../../core/catalog/records/records.ts";
import { routeNameSchema } from "../../core/named-routes/route-schema.ts";
import type { ImportedDeployment, ImportedLimits, RouteTarget } from "./deployment.ts";
import type { ImportReport, SourcePath } from "./import-report.ts";
import { type ProviderDraft, ProviderPlacer } from "./place-providers.ts";
import type { References } from "./references.ts";

const MAX_TARGETS = 20;
const MAX_MODEL_LIMITS = 100;
const MAX_ROUTES = 500;
/** Weights here are whole numbers; fractions keep three digits. */
const WEIGHT_SCALE = 1_000;

/** A name that clients send as `model`, and its targets. */
interface RouteDraft {
  readonly at: SourcePath;
  readonly name: string;
  readonly targets: readonly RouteTarget[];
  /** Used if all targets fail, in this order. */
  readonly fallbacks: readonly ImportedDeployment[];
}

interface AliasDraft {
  readonly at: SourcePath;
  readonly name: string;
  readonly target: string;
}

interface Served {
  readonly model: ModelRecord;
  readonly endpoint: ModelEndpoint;
}

interface OwnModel {
  readonly deployment: ImportedDeployment;
  readonly slug: string;
  readonly id: string;
}

type Section = Record<string, unknown>;

/** A configuration under construction. */
export class ConfigDraft {
  /** Sections that each importer writes itself: `limits`, `timers`, `admin_key`. */
  readonly settings: Section = {};
  private readonly providers: ProviderPlacer;
  private readonly served = new Map<string, Served>();
  private readonly ids: ReadonlySet<string>;
  private readonly slugs = new Map<ImportedDeployment, string | null>();
  private readonly modelIds = new Map<ImportedDeployment, string>();
  private readonly routes: RouteDraft[] = [];
  private readonly aliases: AliasDraft[] = [];
  private readonly namedRoutes: Record<string, Section> = {};
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
      for (const endpoint of model.endpoints)
        this.served.set(`${endpoint.provider} ${endpoint.name.toLowerCase()}`, { model, endpoint });
  }

  /** Adds a deployment's provider and key. Returns whether it can be called. */
  addDeployment(deployment: ImportedDeployment): boolean {
    if (!this.slugs.has(deployment)) this.slugs.set(deployment, this.providers.place(deployment));
    return this.slugs.get(deployment) !== null;
  }

  /** Adds a name that clients send. */
  addRoute(route: RouteDraft): void {
    this.routes.push(route);
  }

  /** Adds a further name of a model or route. */
  addAlias(alias: AliasDraft): void {
    this.aliases.push(alias);
  }

  /** Adds a member of a section such as `limits`. */
  set(section: string, key: string, value: unknown): void {
    const existing = (this.settings[section] ?? {}) as Section;
    this.settings[section] = { ...existing, [key]: value };
  }

  /** Returns the configuration in the form of the file. */
  finish(): Readonly<Section> {
    // Whether a model needs an id of its own depends on all providers.
    for (const { targets } of this.routes)
      for (const { deployment } of targets) this.addDeployment(deployment);
    for (const { targets } of this.routes) this.assignIds(targets.map(({ deployment }) => deployment));
    for (const route of this.routes) this.writeRoute(route);
    for (const { at, name, target } of this.aliases)
      this.writeNamed(at, name, { kind: "alias", target: target.toLowerCase() });
    if (Object.keys(this.limits).length > 0) this.set("limits", "models", this.limits);
    const { limits, timers, ...rest } = this.settings;
    return this.references.write({
      ...rest,
      ...(limits === undefined ? {} : { limits }),
      ...(timers === undefined ? {} : { timers }),
      ...(Object.keys(this.overrides).length === 0 ? {} : { catalog: { overrides: this.overrides } }),
      ...(Object.keys(this.namedRoutes).length === 0 ? {} : { named_routes: this.namedRoutes }),
      providers: Object.fromEntries(
        [...this.providers.drafts].filter(([, draft]) => draft.models?.length !== 0),
      ),
    });
  }

  private writeRoute({ at, name, targets, fallbacks }: RouteDraft): void {
    const weights = new Map<string, number>();
    const all = [...targets, ...fallbacks.map((deployment) => ({ deployment, weight: 0 }))];
    for (const { deployment, weight } of all) {
      const id = this.modelIds.get(deployment);
      if (id !== undefined) weights.set(id, (weights.get(id) ?? 0) + weight);
    }
    if (weights.size === 0) return;
    const models = toWholeWeights([...weights].slice(0, MAX_TARGETS));
    if (weights.size > MAX_TARGETS)
      this.report.differs(at, {
        text: `A group has at most ${MAX_TARGETS} targets; the first were taken over.`,
      });
    const [first] = models;
    if (models.length === 1 && first?.model === name.toLowerCase()) {
      this.report.taken(at, { text: `${name} is the id of the model here, too.` });
      return;
    }
    const definition =
      models.length === 1
        ? { kind: "alias", target: first?.model }
        : { kind: "group", sticky: "request", targets: models };
    this.writeNamed(at, name, definition);
  }

  private writeNamed(at: SourcePath, name: string, definition: Section): void {
    const lower = name.toLowerCase();
    const fault = routeNameSchema.safeParse(lower).error?.issues[0]?.message;
    const isFull = Object.keys(this.namedRoutes).length >= MAX_ROUTES;
    if (fault !== undefined || isFull) {
      const reason = fault ?? `is one too many: there are at most ${MAX_ROUTES} named routes`;
      this.report.missing(at, { text: `The name ${JSON.stringify(name)} ${reason}.` });
      return;
    }
    this.namedRoutes[lower] = { ...definition, ...(this.ids.has(lower) ? { replaces_model: true } : {}) };
    const targets =
      definition["kind"] === "group"
        ? (definition["targets"] as { model: string }[]).map(({ model }) => model)
        : [definition["target"]];
    this.report.taken(at, { target: `named_routes.${lower}`, text: `Answered by ${targets.join(", ")}.` });
  }

  /** Sets the model id of each deployment of a route, and writes models that the catalog does not have at that provider. */
  private assignIds(together: readonly ImportedDeployment[]): void {
    const companions = new Set(together.map((deployment) => this.slugs.get(deployment)));
    for (const deployment of together) {
      const slug = this.slugs.get(deployment);
      if (slug === null || slug === undefined || this.modelIds.has(deployment)) continue;
      const exact = this.served.get(`${slug} ${deployment.upstream.toLowerCase()}`);
      const isShared = exact?.model.endpoints.some(
        ({ provider }) => this.providers.drafts.has(provider) && !companions.has(provider),
      );
      const id = exact === undefined || isShared ? this.ownId(slug, deployment) : exact.model.id;
      if (id !== exact?.model.id) this.writeModel({ deployment, slug, id }, exact);
      else if (deployment.prices !== undefined) this.writePrices(deployment, slug, id);
      this.writeLimits(deployment, id);
      this.modelIds.set(deployment, id);
    }
  }

  /** Returns the id of a model that is not in the catalog at this provider. */
  private ownId(slug: string, { upstream }: ImportedDeployment): string {
    const id = `${slug}/${toPrintable(upstream.toLowerCase())}`;
    return this.ids.has(id) ? `${id}-at-${slug}` : id;
  }

  private writeModel({ deployment, slug, id }: OwnModel, exact: Served | undefined): void {
    const draft = this.providers.drafts.get(slug) as ProviderDraft;
    draft.models ??= [];
    if (draft.models.some((model) => model["id"] === id)) return;
    const similar = exact ?? this.served.get(`${slug} ${similarName(deployment)}`);
    const { prompt, completion } = deployment.prices ?? similar?.endpoint.prices ?? {};
    const hasPrices = prompt !== undefined && completion !== undefined;
    draft.models.push({
      id,
      name: deployment.upstream,
      ...(deployment.output === "embedding" ? { output: "embedding" } : {}),
      ...(similar === undefined ? {} : { context_length: similar.endpoint.contextLength }),
      ...(hasPrices ? { prices: { prompt, completion } } : {}),
    });
    const reason =
      exact === undefined
        ? `The catalog has no ${deployment.upstream} at ${slug}`
        : `Other imported providers serve ${exact.model.id}, too`;
    const prices = !hasPrices
      ? "costs nothing until it has prices"
      : deployment.prices !== undefined
        ? "has the prices of the file"
        : `has the prices of ${similar?.model.id} of today`;
    const text = `${reason}: it is listed as ${id}, ${prices}, and has no reasoning settings.`;
    this.report.differs(deployment.at, { target: `providers.${slug}.models`, text });
  }

  private writePrices({ prices, at }: ImportedDeployment, slug: string, id: string): void {
    this.overrides[id] ??= { endpoints: {} };
    this.overrides[id].endpoints[slug] = { prices };
    this.report.taken(at, { target: `catalog.overrides.${id}`, text: "These prices replace the catalog's." });
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
      text: "The limits of a model's deployments are added, and count all requests for the model, also under other names.",
    });
  }
}

/** Returns the name under which the catalog may have the same model: without a region, or in the spelling of the source. */
function similarName({ upstream, similarTo }: ImportedDeployment): string {
  return (similarTo ?? upstream.replace(/^(us|eu|apac|jp|au|ca|global)\./i, "")).toLowerCase();
}

function toWholeWeights(weights: readonly (readonly [string, number])[]) {
  const isWhole = weights.every(([, weight]) => Number.isInteger(weight));
  const whole = weights.map(([model, weight]) => ({
    model,
    weight: Math.min(isWhole ? weight : Math.round(weight * WEIGHT_SCALE), 1_000_000),
  }));
  // All may be fallbacks of something that was not taken over.
  return whole.some(({ weight }) => weight > 0) ? whole : whole.map(({ model }) => ({ model, weight: 1 }));
}

/** Returns the name of a model at a host as a part of an id, which consists of printable ASCII characters. */
function toPrintable(name: string): string {
  const printable = name.replace(/[^!-~]+/g, "-");
  // Other names must not become the same id.
  return printable === name ? name : `${printable}-${Bun.hash.crc32(name).toString(36)}`;
}
