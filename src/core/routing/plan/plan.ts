import type { ProviderPreferences, ProviderSort } from "../../../wire/conversation/preferences.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import { compareText } from "../../catalog/records/format-catalog.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import { formatsOf, type ProviderKey } from "../../deployments/served-provider.ts";
import type { CandidateReason, SkipReason } from "../../usage/records/plan-entry.ts";
import type { CacheAffinity } from "../affinity/affinity.ts";
import { drawDelay, weighSpread } from "../affinity/weigh-spread.ts";
import type { Drain } from "../health/drain-store.ts";
import type { Drains } from "../health/drains.ts";
import type { EndpointHealth, Health } from "../health/health.ts";
import { healthScopeOf } from "../health/health-target.ts";
import { estimateCost } from "./estimate-cost.ts";

/** The facts on which a plan depends. */
export interface RouteQuestion {
  /** By model, the requested one first, then its fallbacks. */
  readonly deployments: readonly (readonly Deployment[])[];
  readonly preferences: ProviderPreferences;
  /** Estimated tokens of the prompt, for comparing prices. */
  readonly promptTokens: number;
  /** Whether the request is fill in the middle, for which hosts dedicated to code come first. */
  readonly isFim: boolean;
  /** The only format that has some of the request's tools, whose deployments come first; null if there is none. */
  readonly formatOfTools: ProviderFormat | null;
  /** Returns whether a deployment would not get all of the request's parameters unchanged. Absent: every deployment would. */
  readonly isLossy?: (deployment: Deployment) => boolean;
  readonly health: Pick<Health, "endpoint" | "cooldown">;
  /** The drains that operators have set. */
  readonly drains: Pick<Drains, "find">;
  /** Where the conversation's prompt cache is warm; null if nowhere. */
  readonly warm: CacheAffinity | null;
  /**
   * The conversation has reasoning that only the account at the vendor that made it can read, so it stays at its deployment while the cache
   * is warm. Absent: it has none.
   */
  readonly isBound?: boolean;
  /** The session key, by which equal deployments share conversations; null if there is no choice. */
  readonly session: string | null;
  readonly now: number;
}

/** A deployment together with the key to call it with. */
export interface Candidate extends Deployment {
  readonly key: ProviderKey;
  readonly why: CandidateReason;
}

/** A candidate that is not called now. */
export interface SkippedCandidate {
  readonly deployment: Deployment;
  /** The skipped key; null for all keys. */
  readonly key: ProviderKey | null;
  readonly why: SkipReason;
  /** Milliseconds until it is available again; null if that does not depend on time. */
  readonly waitMs: number | null;
  /** The time at which its drain ends by itself, in milliseconds since the epoch; absent if that is not known, and for other reasons. */
  readonly until?: number;
}

/** The candidates in the order in which they are tried, and the skipped ones. */
export interface Plan {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly SkippedCandidate[];
}

/** A deployment with what decides its rank. */
interface Rated {
  readonly deployment: Deployment;
  /** The keys without a cooldown. */
  readonly keys: readonly ProviderKey[];
  readonly health: EndpointHealth;
  readonly isWarm: boolean;
  /** A part of the request would be left out or changed for it. */
  readonly isLossy: boolean;
  /** Rank of its group, the highest first: BYOK before platform keys, and within each the deployments suited to the task first. */
  readonly group: number;
  /** The estimated cost of an answer. US dollars. */
  readonly dollars: number;
  /** The cost with failures and a warm cache included, as a step on a scale of two per cent. */
  readonly costStep: number;
}

/**
 * Orders the ways to answer a request (docs/routing.md): by its models in turn; for each model the providers named in `order`, then the
 * others, sorted by `sort`, or by default those first that get the whole request, and then by the expected cost with failures and a warm
 * prompt cache; for each provider its keys. Pure: the same question gives the same plan.
 */
export function planRoute(question: RouteQuestion): Plan {
  const plan = planCandidates(question);
  return plan.candidates.length > 0 ? plan : planLastResort(question, plan);
}

/**
 * Plans without the cooldowns that may be ignored if no candidate is left otherwise. An overload may hit one request and spare the
 * next, and another gateway's advice may not hold here, so neither rules out the last candidate.
 */
function planLastResort(question: RouteQuestion, empty: Plan): Plan {
  if (empty.skipped.length === 0) return empty;
  const health: RouteQuestion["health"] = {
    endpoint: (provider, model, now) => question.health.endpoint(provider, model, now),
    cooldown(target, now) {
      const cooldown = question.health.cooldown(target, now);
      return cooldown?.mayIgnore === true ? null : cooldown;
    },
  };
  const { candidates, skipped } = planCandidates({ ...question, health });
  return {
    candidates: candidates.map((candidate) => ({ ...candidate, why: "last_resort" })),
    skipped,
  };
}

function planCandidates(question: RouteQuestion): Plan {
  const skipped: SkippedCandidate[] = [];
  const sole = soleOf(question.deployments);
  if (sole !== null) {
    const [key] = listFree(sole, question, skipped);
    return { candidates: key === undefined ? [] : [{ ...sole, key, why: "only" }], skipped };
  }
  const rated = question.deployments.map((ofModel) =>
    keepNamed(ofModel, question, skipped).flatMap((deployment) => rate(deployment, question, skipped)),
  );
  const ejected = ejectOpen(rated.flat());
  const candidates: Candidate[] = [];
  for (const ofModel of rated) {
    const remaining = ejected.size === 0 ? ofModel : ofModel.filter((one) => !ejected.has(one));
    const ordered = order(remaining, question, skipped);
    const isChoice = ordered.some((one) => !isBehind(one));
    for (const one of ordered) candidates.push(...candidatesOf(one, { question, isChoice }));
  }
  for (const { deployment } of ejected)
    skipped.push({ deployment, key: null, why: "circuit_open", waitMs: null });
  return { candidates, skipped };
}

/**
 * Without `allow_fallbacks`, keeps only the deployments that `order` names, even if none of them is available. Keeps all if `order` names
 * none of these.
 */
function keepNamed(
  deployments: readonly Deployment[],
  { preferences: { order: named, allowFallbacks } }: RouteQuestion,
  skipped: SkippedCandidate[],
): readonly Deployment[] {
  if (allowFallbacks || named.length === 0) return deployments;
  const isNamed = ({ provider }: Deployment) => named.includes(provider.record.slug);
  if (!deployments.some(isNamed)) return deployments;
  for (const deployment of deployments) if (!isNamed(deployment)) skipped.push(skipUnnamed(deployment));
  return deployments.filter(isNamed);
}

function skipUnnamed(deployment: Deployment): SkippedCandidate {
  return { deployment, key: null, why: "no_fallbacks", waitMs: null };
}

/** Returns the deployment if there is only one, with one key, so that nothing need be compared; else null. */
function soleOf([first, second]: RouteQuestion["deployments"]): Deployment | null {
  const deployment = first?.[0];
  if (deployment === undefined || second !== undefined || first?.length !== 1) return null;
  return deployment.keys.length === 1 ? deployment : null;
}

/** Returns the keys of a deployment with which it may be called now: none if it is drained, else those without a cooldown. */
function listFree(
  deployment: Deployment,
  { health, drains, now }: RouteQuestion,
  skipped: SkippedCandidate[],
): readonly ProviderKey[] {
  const { provider, model, keys } = deployment;
  const drain = drains.find(provider.record.slug, model.id, now);
  if (drain !== null) {
    skipped.push(toSkipped(deployment, drain, now));
    return [];
  }
  return keys.filter((key) => {
    const target = { provider: healthScopeOf(provider, key), model: model.id, keyLabel: key.label };
    const cooldown = health.cooldown(target, now);
    if (cooldown !== null) skipped.push({ deployment, key, why: cooldown.why, waitMs: cooldown.ms });
    return cooldown === null;
  });
}

function rate(deployment: Deployment, question: RouteQuestion, skipped: SkippedCandidate[]): Rated[] {
  const { health, warm, now } = question;
  const keys = listFree(deployment, question, skipped);
  const [first] = keys;
  if (first === undefined) return [];
  const scope = healthScopeOf(deployment.provider, first);
  const endpointHealth = health.endpoint(scope, deployment.model.id, now);
  const isWarm = warm !== null && isAt(warm, deployment, keys);
  const dollars = estimateCost(deployment.endpoint, question.promptTokens, isWarm ? warm.tokens : 0, now);
  const costStep = stepOf(dollars, isWarm, endpointHealth.success);
  const stays = isWarm && question.isBound === true && endpointHealth.state !== "open";
  const group = groupOf(deployment, question) + (stays ? STAYS : 0);
  const isLossy = question.isLossy?.(deployment) === true;
  return [{ deployment, keys, health: endpointHealth, isWarm, isLossy, group, dollars, costStep }];
}

function toSkipped(deployment: Deployment, { until }: Drain, now: number): SkippedCandidate {
  const skipped = { deployment, key: null, why: "drained" } as const;
  return until === null ? { ...skipped, waitMs: null } : { ...skipped, waitMs: until - now, until };
}

function isAt(warm: CacheAffinity, { provider, model }: Deployment, keys: readonly ProviderKey[]): boolean {
  return (
    warm.provider === provider.record.slug &&
    warm.modelId === model.id &&
    keys.some(({ label }) => label === warm.keyLabel)
  );
}

function groupOf({ keys, provider, endpoint }: Deployment, { isFim, formatOfTools }: RouteQuestion): number {
  const isByok = keys[0]?.byokId !== null;
  const isForTask = isFim && provider.record.isForCode === true;
  const hasTools = formatOfTools !== null && formatsOf(provider, endpoint).includes(formatOfTools);
  return (isByok ? 4 : 0) + (isForTask || hasTools ? 1 : 0);
}

/** The weight of bound reasoning among groups: less than a key of the caller's own, and more than what suits the request best. */
const STAYS = 2;

/** The success rate above which failures do not raise the cost. */
const HEALTHY = 0.98;
/** The factor by which a warm cache lowers the cost, because it is also faster. */
const WARM_FACTOR = 0.9;
/** Added to each cost, so that failures also count for free deployments. US dollars. */
const MIN_COST = 1e-7;
const STEP = Math.log(1.02);

/**
 * Failures raise the cost more than proportionally, because they cost the caller time: a failure rate of one in ten by a third, of one in
 * two eightfold.
 */
function stepOf(dollars: number, isWarm: boolean, success: number): number {
  const reliable = success >= HEALTHY ? 1 : success ** 3;
  const cost = ((dollars + MIN_COST) * (isWarm ? WARM_FACTOR : 1)) / Math.max(reliable, 1e-6);
  return Math.round(Math.log(cost) / STEP);
}

/** Ejects deployments with open circuits, the worst first, but at most half of all: if all fail, the cause may be the gateway. */
function ejectOpen(all: readonly Rated[]): ReadonlySet<Rated> {
  const open = all.filter(({ health }) => health.state === "open");
  if (open.length === 0) return NONE;
  const worst = open.toSorted((a, b) => a.health.success - b.health.success || bySpread(a, b, null));
  return new Set(worst.slice(0, Math.floor(all.length / 2)));
}

const NONE: ReadonlySet<Rated> = new Set();

/** Sorts the deployments of one model in the order in which they are tried. */
function order(
  rated: readonly Rated[],
  question: RouteQuestion,
  skipped: SkippedCandidate[],
): readonly Rated[] {
  const { order: named, allowFallbacks } = question.preferences;
  const [any] = rated;
  if (any === undefined) return rated;
  const sort = sortOf(any.deployment, question);
  const sorted = rated.length === 1 ? rated : rated.toSorted(comparatorOf(sort, question.session));
  const first = named.flatMap((slug) =>
    sorted.filter(({ deployment }) => deployment.provider.record.slug === slug),
  );
  const ordered = first.length === 0 ? sorted : [...first, ...sorted.filter((one) => !first.includes(one))];
  if (allowFallbacks) return ordered;
  // `keepNamed` has left only named deployments.
  if (first.length > 0) return ordered;
  for (const { deployment } of ordered.slice(1)) skipped.push(skipUnnamed(deployment));
  return ordered.slice(0, 1);
}

/** Returns how the deployments of one model are sorted. The request's field takes precedence over the suffix of a name. */
function sortOf({ sort }: Deployment, { preferences }: RouteQuestion): ProviderSort | null {
  return preferences.sort ?? sort ?? null;
}

type Comparator = (a: Rated, b: Rated) => number;

function comparatorOf(sort: ProviderSort | null, session: string | null): Comparator {
  // A sort that the caller chose takes precedence over a loss. The default sort by price does not.
  const [first, second] = sort === null ? [byLoss, byCost] : [BY_SORT[sort], byLoss];
  return (a, b) => b.group - a.group || first(a, b) || second(a, b) || bySpread(a, b, session);
}

/** Deployments that get the whole request come first. A deployment with the conversation's prompt in its cache counts as one of them. */
const byLoss: Comparator = (a, b) => Number(isBehind(a)) - Number(isBehind(b));

function isBehind({ isLossy, isWarm }: Rated): boolean {
  return isLossy && !isWarm;
}

const byCost: Comparator = (a, b) => a.costStep - b.costStep || Number(b.isWarm) - Number(a.isWarm);

/** The latency of deployments without measurements, which come last. */
const UNKNOWN_MS = Number.MAX_SAFE_INTEGER;

const BY_SORT: Readonly<Record<ProviderSort, Comparator>> = {
  price: (a, b) => a.dollars - b.dollars,
  latency: (a, b) => (a.health.ttftMs ?? UNKNOWN_MS) - (b.health.ttftMs ?? UNKNOWN_MS) || byCost(a, b),
  throughput: (a, b) => (b.health.tokensPerS ?? 0) - (a.health.tokensPerS ?? 0) || byCost(a, b),
};

/** Spreads conversations over equal deployments: each session has its own order of them. */
function bySpread(a: Rated, b: Rated, session: string | null): number {
  const [one, other] = [a.deployment.provider.record.slug, b.deployment.provider.record.slug];
  const bySlug = compareText(one, other);
  if (session === null) return bySlug;
  return weighSpread(session, other) - weighSpread(session, one) || bySlug;
}

interface CandidateContext {
  readonly question: RouteQuestion;
  /** The model has a deployment that is not put last because of what it loses. */
  readonly isChoice: boolean;
}

/** Returns a candidate for each key: BYOK keys in their order, platform keys spread by session, the one with the warm cache first. */
function candidatesOf(rated: Rated, { question, isChoice }: CandidateContext): Candidate[] {
  const { deployment, keys } = rated;
  const why = reasonOf(rated, { question, isChoice });
  return orderKeys(rated, question).map((key) => ({ ...deployment, keys, key, why }));
}

function orderKeys({ keys, isWarm }: Rated, { session, warm }: RouteQuestion): readonly ProviderKey[] {
  if (keys.length === 1) return keys;
  const isByok = keys[0]?.byokId !== null;
  const shared = isByok || session === null ? keys : spreadKeys(keys, session);
  if (!isWarm) return shared;
  return shared.toSorted((a, b) => Number(b.label === warm?.keyLabel) - Number(a.label === warm?.keyLabel));
}

/** Spreads sessions over platform keys by their weights. */
function spreadKeys(keys: readonly ProviderKey[], session: string): readonly ProviderKey[] {
  const delays = new Map(keys.map((key) => [key, drawDelay(session, key.label, key.weight)]));
  const delayOf = (key: ProviderKey) => delays.get(key) ?? 0;
  // The difference of two infinities is no number.
  return keys.toSorted((a, b) => (delayOf(a) === delayOf(b) ? 0 : delayOf(a) - delayOf(b)));
}

function reasonOf(rated: Rated, { question, isChoice }: CandidateContext): CandidateReason {
  const { deployment, health, isWarm } = rated;
  const { preferences } = question;
  if (preferences.order.includes(deployment.provider.record.slug)) return "order";
  if (health.state === "half_open") return "probe";
  if (health.state === "open") return "last_resort";
  const sort = sortOf(deployment, question);
  if (sort !== null) return sort;
  if (isWarm) return "warm_cache";
  if (isChoice && isBehind(rated)) return "lossy";
  return health.success < HEALTHY ? "degraded" : "price";
}
