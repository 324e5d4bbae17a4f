import { BoundedMap } from "../../../base/collections/bounded-map.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Candidate } from "../../routing/plan/plan.ts";

/** Where a parameter was refused: an endpoint of a model in one format, with platform keys or with one BYOK key. */
export interface RefusalScope {
  /** Slug. */
  readonly provider: string;
  readonly model: string;
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  readonly format: ProviderFormat;
  /** The id of the BYOK key; null for platform keys. */
  readonly byokId: string | null;
}

/** A parameter that a vendor refused. */
export interface LearnedRefusal extends RefusalScope {
  /** The parameter's name in the chat API. */
  readonly parameter: string;
  /**
   * Whether requests are sent without it. False while only one account has seen the refusal: a second one must see it before it applies to
   * all.
   */
  readonly isApplied: boolean;
  /** When it was first seen, and when it expires. Milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** One request that a vendor refused because of parameters and accepted without them. */
interface RefusalSighting {
  readonly scope: RefusalScope;
  readonly parameters: ReadonlySet<string>;
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The number of requests that were repeated without a parameter. */
interface RefusalCount {
  readonly provider: string;
  readonly parameter: string;
  readonly count: number;
}

/** Remembers for an hour, in memory, which parameters vendors refuse, so that later requests omit them in the first call. */
export interface LearnedRefusals {
  /** Whether nothing is remembered, which is the usual case. */
  readonly isEmpty: boolean;
  /** Returns the parameters to omit at an endpoint; null for none. Returns the same object until the members change. */
  recall(scope: RefusalScope, now: number): ReadonlySet<string> | null;
  record(sighting: RefusalSighting): void;
  /** Lists the refusals of a provider, or of all providers, oldest first. */
  list(now: number, provider?: string): readonly LearnedRefusal[];
  /** Forgets the refusals of a provider. */
  forget(provider: string): void;
  /** Counts the sightings since the start by provider and parameter. */
  counts(): readonly RefusalCount[];
}

/**
 * How long a refusal is remembered. A vendor's release may change which parameters it accepts; trying again costs one call. Milliseconds.
 */
const REMEMBERED_MS = 3_600_000;
/** Accounts that must see a refusal before it applies to all. With one, a single caller could switch a parameter off for all others. */
const MIN_ACCOUNTS = 2;
/**
 * Maximum number of remembered endpoints, for platform keys and for BYOK keys each. They are counted separately because a caller can add
 * many BYOK keys.
 */
const MAX_ENDPOINTS = 2_000;
/** Maximum number of pairs of provider and parameter that are counted. */
const MAX_COUNTS = 2_000;

/** Creates an empty memory. */
export function createLearnedRefusals(): LearnedRefusals {
  const platform = new BoundedMap<string, EndpointRefusals>({ max: MAX_ENDPOINTS });
  const byok = new BoundedMap<string, EndpointRefusals>({ max: MAX_ENDPOINTS });
  const counts = new BoundedMap<string, RefusalCount>({ max: MAX_COUNTS });
  const mapFor = ({ byokId }: RefusalScope) => (byokId === null ? platform : byok);
  const all = () => [...platform, ...byok];
  return {
    get isEmpty() {
      return platform.size === 0 && byok.size === 0;
    },
    recall(scope, now) {
      const map = mapFor(scope);
      const key = keyOf(scope);
      const endpoint = map.get(key);
      if (endpoint === undefined) return null;
      const names = endpoint.recall(now);
      if (endpoint.isEmpty) map.delete(key);
      return names;
    },
    record(sighting) {
      const { scope, parameters } = sighting;
      const map = mapFor(scope);
      const key = keyOf(scope);
      const endpoint = map.get(key) ?? new EndpointRefusals(scope);
      endpoint.record(sighting);
      map.set(key, endpoint);
      for (const parameter of parameters) count(counts, scope.provider, parameter);
    },
    list: (now, provider) =>
      all()
        .filter(([, { scope }]) => provider === undefined || scope.provider === provider)
        .flatMap(([, endpoint]) => endpoint.list(now)),
    forget(provider) {
      for (const [key, { scope }] of all()) if (scope.provider === provider) mapFor(scope).delete(key);
    },
    counts: () => [...counts.values()],
  };
}

function count(counts: BoundedMap<string, RefusalCount>, provider: string, parameter: string): void {
  const key = `${provider} ${parameter}`;
  const before = counts.get(key)?.count ?? 0;
  counts.set(key, { provider, parameter, count: before + 1 });
}

function keyOf({ provider, upstreamModel, model, format, byokId }: RefusalScope): string {
  return `${provider} ${format} ${byokId ?? ""} ${model} ${upstreamModel}`;
}

/** A parameter that an endpoint refused. */
interface Refusal {
  readonly isApplied: boolean;
  /** The account that saw it first. */
  readonly accountId: string;
  readonly since: number;
  readonly until: number;
}

/** The refusals of one endpoint. Their number is bounded by that of the parameters that may be omitted. */
class EndpointRefusals {
  private readonly refusals = new Map<string, Refusal>();
  /** A cache of the applied refusals, valid until one of them expires. */
  private applied: { readonly names: ReadonlySet<string> | null; readonly until: number } | null = null;

  constructor(readonly scope: RefusalScope) {}

  get isEmpty(): boolean {
    return this.refusals.size === 0;
  }

  recall(now: number): ReadonlySet<string> | null {
    if (this.applied === null || this.applied.until <= now) this.applied = this.findApplied(now);
    return this.applied.names;
  }

  record({ scope, parameters, accountId, at }: RefusalSighting): void {
    for (const parameter of parameters) {
      const earlier = this.current(parameter, at);
      if (earlier?.isApplied === true) continue;
      const since = earlier?.since ?? at;
      const first = earlier?.accountId ?? accountId;
      // A BYOK key belongs to one account, and its refusals apply only to that account.
      const accounts = first === accountId ? 1 : 2;
      const isApplied = scope.byokId !== null || accounts >= MIN_ACCOUNTS;
      this.refusals.set(parameter, { isApplied, accountId: first, since, until: at + REMEMBERED_MS });
    }
    this.applied = null;
  }

  list(now: number): readonly LearnedRefusal[] {
    this.removeExpired(now);
    return [...this.refusals].map(([parameter, { isApplied, since, until }]) => ({
      ...this.scope,
      parameter,
      isApplied,
      since,
      until,
    }));
  }

  private current(parameter: string, now: number): Refusal | null {
    const refusal = this.refusals.get(parameter);
    return refusal === undefined || refusal.until <= now ? null : refusal;
  }

  private findApplied(now: number): { names: ReadonlySet<string> | null; until: number } {
    this.removeExpired(now);
    const applied = [...this.refusals].filter(([, { isApplied }]) => isApplied);
    const until = Math.min(...applied.map(([, refusal]) => refusal.until));
    return { names: applied.length === 0 ? null : new Set(applied.map(([name]) => name)), until };
  }

  private removeExpired(now: number): void {
    for (const [parameter, { until }] of this.refusals) if (until <= now) this.refusals.delete(parameter);
  }
}

/** Returns the scope of a candidate's refusals in a format. */
export function refusalScopeOf(
  { provider, model, endpoint, key }: Candidate,
  format: ProviderFormat,
): RefusalScope {
  const upstreamModel = endpoint.name;
  return { provider: provider.record.slug, model: model.id, upstreamModel, format, byokId: key.byokId };
}

/** Returns the account that a sighting counts for. All anonymous callers count as one account, because they cannot be told apart. */
export function sightingAccountOf(principal: InferencePrincipal): string {
  return principal.kind === "key" ? principal.account.id : "anonymous";
}
