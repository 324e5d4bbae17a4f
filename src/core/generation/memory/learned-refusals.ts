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
  /** The name of the chat API. */
  readonly parameter: string;
  /** Requests are sent without it. False: one account saw it so far, and another one must before it counts for all. */
  readonly isApplied: boolean;
  /** When it was seen first, and until when it is remembered. Milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
}

/** One request that a vendor refused because of parameters, and took without them. */
interface RefusalSighting {
  readonly scope: RefusalScope;
  readonly parameters: ReadonlySet<string>;
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Requests that were sent again without a parameter. */
interface RefusalCount {
  readonly provider: string;
  readonly parameter: string;
  readonly count: number;
}

/** Remembers, in memory and for an hour, which parameters vendors refuse, so that requests are sent without them at once. */
export interface LearnedRefusals {
  /** Nothing is remembered, as usual. */
  readonly isEmpty: boolean;
  /** Returns the parameters that are left out at an endpoint; null for none. The same set as long as it has the same members. */
  recall(scope: RefusalScope, now: number): ReadonlySet<string> | null;
  record(sighting: RefusalSighting): void;
  /** Lists what is remembered of a provider, or of all; the oldest first. */
  list(now: number, provider?: string): readonly LearnedRefusal[];
  /** Forgets what is remembered of a provider. */
  forget(provider: string): void;
  /** Counts the sightings since the start by provider and parameter. */
  counts(): readonly RefusalCount[];
}

/** How long a refusal is remembered. Vendors change what they take with a release, and a retry after that costs one call. Milliseconds. */
const REMEMBERED_MS = 3_600_000;
/** With fewer, one caller could switch a parameter off for all others. */
const MIN_ACCOUNTS = 2;
/** The most endpoints that are remembered for platform keys, and as many for BYOK keys. They are counted separately, because a caller can add many BYOK keys. */
const MAX_ENDPOINTS = 2_000;
/** The most pairs of provider and parameter that are counted. */
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

/** What one endpoint refused: at most the parameters that may be left out. */
class EndpointRefusals {
  private readonly refusals = new Map<string, Refusal>();
  /** The applied ones, until one of them expires. */
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
      // A BYOK key has one account, and what it refuses counts for it alone.
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

/** Returns where a candidate refuses what it is sent in a format. */
export function refusalScopeOf(
  { provider, model, endpoint, key }: Candidate,
  format: ProviderFormat,
): RefusalScope {
  const upstreamModel = endpoint.name;
  return { provider: provider.record.slug, model: model.id, upstreamModel, format, byokId: key.byokId };
}

/** Returns the account that a sighting counts for. Callers without one are strangers to each other, and count as one account. */
export function sightingAccountOf(principal: InferencePrincipal): string {
  return principal.kind === "key" ? principal.account.id : "anonymous";
}
