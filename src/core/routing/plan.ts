import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { ProviderPreferences, ProviderSort } from "../../wire/conversation/preferences.ts";
import { compareText } from "../catalog/format-catalog.ts";
import { type Deployment, formatsOf, type ProviderKey } from "../deployments/served-models.ts";
import type { CandidateReason, SkipReason } from "../usage/plan-entry.ts";
import type { CacheAffinity } from "./affinity.ts";
import { estimateCost } from "./estimate-cost.ts";
import type { EndpointHealth, Health } from "./health.ts";
import { healthScopeOf } from "./health-target.ts";
import { weighSpread } from "./weigh-spread.ts";

/** What a plan is made of. */
export interface RouteQuestion {
  /** By model, the one asked for first, then its fallbacks. */
  readonly deployments: readonly (readonly Deployment[])[];
  readonly preferences: ProviderPreferences;
  /** Tokens, about; prices are compared with it. */
  readonly promptTokens: number;
  /** Hosts that are for code come first: the request fills in the middle. */
  readonly isFim: boolean;
  /** The format that alone has some of the request's tools: deployments in it come before those that would leave them out. */
  readonly formatOfTools: FormatName | null;
  readonly health: Pick<Health, "endpoint" | "waitMs">;
  /** Where the conversation's prompt cache is warm. */
  readonly warm: CacheAffinity | null;
  /** Tells conversations apart, so that equals share them; null where there is nothing to choose between. */
  readonly session: string | null;
  readonly now: number;
}

/** One way to answer: an deployment and the key to take it up with. */
export interface Candidate extends Deployment {
  readonly key: ProviderKey;
  readonly why: CandidateReason;
}

/** One that is not asked. */
export interface SkippedCandidate {
  readonly deployment: Deployment;
  /** Null: whichever. */
  readonly key: ProviderKey | null;
  readonly why: SkipReason;
  /** When it is back; null where that is not a matter of time. Milliseconds. */
  readonly waitMs: number | null;
}

/** Candidates in the order they are tried, and those that are not. */
export interface Plan {
  readonly candidates: readonly Candidate[];
  readonly skipped: readonly SkippedCandidate[];
}

/** An deployment with what decides about its place. */
interface Rated {
  readonly deployment: Deployment;
  /** Those that can be used now. */
  readonly keys: readonly ProviderKey[];
  readonly health: EndpointHealth;
  readonly isWarm: boolean;
  /** The account's own keys before the gateway's, and of each the hosts that are fit for the task before others: the higher the earlier. */
  readonly group: number;
  /** What an answer costs here, US dollars. */
  readonly dollars: number;
  /** The same with its failures and its cache counted in: the step on a scale where a step is two per cent. */
  readonly costStep: number;
}

/**
 * Orders the ways to answer a request (docs/routing.md): its models in turn; for each the providers that `order` names, then
 * the others by `sort`, or by what an answer costs with failures and a warm prompt cache counted in; for each provider its
 * keys. Pure: the same question gives the same plan.
 */
export function planRoute(question: RouteQuestion): Plan {
  const plan = planOnly(question) ?? planMany(question);
  return plan.candidates.length > 0 ? plan : planLastResort(question, plan);
}

/**
 * The plan where nobody is left: those that are only overloaded are asked after all. An overload is of the moment and may
 * meet one request and spare the next, so it never closes the last way that a request has.
 */
function planLastResort(question: RouteQuestion, nobody: Plan): Plan {
  if (!nobody.skipped.some(({ why }) => why === "overloaded")) return nobody;
  const health: RouteQuestion["health"] = {
    endpoint: (provider, model, now) => question.health.endpoint(provider, model, now),
    waitMs(target, now) {
      const wait = question.health.waitMs(target, now);
      return wait?.isOnlyOverload === true ? null : wait;
    },
  };
  const { candidates, skipped } = planMany({ ...question, health });
  return {
    candidates: candidates.map((candidate) => ({ ...candidate, why: "last_resort" })),
    skipped: skipped,
  };
}

/** Where there is one way to go and it can be taken, which is most of the time, there is nothing to compare. */
function planOnly({ deployments, health, now }: RouteQuestion): Plan | null {
  const [deployment, another] = deployments[0] ?? [];
  const [key, anotherKey] = deployment?.keys ?? [];
  if (deployments.length !== 1 || deployment === undefined || another !== undefined) return null;
  if (key === undefined || anotherKey !== undefined) return null;
  const target = {
    provider: healthScopeOf(deployment.provider, key),
    model: deployment.model.id,
    keyLabel: key.label,
  };
  if (health.waitMs(target, now) !== null) return null;
  return { candidates: [{ ...deployment, key, why: "only" }], skipped: [] };
}

function planMany(question: RouteQuestion): Plan {
  const skipped: SkippedCandidate[] = [];
  const rated = question.deployments.map((ofModel) =>
    keepNamed(ofModel, question, skipped).flatMap((deployment) => rate(deployment, question, skipped)),
  );
  const ejected = ejectOpen(rated.flat());
  const candidates: Candidate[] = [];
  for (const ofModel of rated) {
    const limitStatus = ejected.size === 0 ? ofModel : ofModel.filter((one) => !ejected.has(one));
    for (const one of order(limitStatus, question, skipped)) candidates.push(...candidatesOf(one, question));
  }
  for (const { deployment } of ejected)
    skipped.push({ deployment: deployment, key: null, why: "circuit_open", waitMs: null });
  return { candidates, skipped: skipped };
}

/** Without `allow_fallbacks` the deployments that `order` names, also while none of them can be asked; all where it names none. */
function keepNamed(
  deployments: readonly Deployment[],
  { preferences: { order: named, allowFallbacks } }: RouteQuestion,
  skipped: SkippedCandidate[],
): readonly Deployment[] {
  if (allowFallbacks || named.length === 0) return deployments;
  const isNamed = ({ provider }: Deployment) => named.includes(provider.record.slug);
  if (!deployments.some(isNamed)) return deployments;
  for (const deployment of deployments) if (!isNamed(deployment)) skipped.push(noFallback(deployment));
  return deployments.filter(isNamed);
}

function noFallback(deployment: Deployment): SkippedCandidate {
  return { deployment: deployment, key: null, why: "no_fallbacks", waitMs: null };
}

function rate(deployment: Deployment, question: RouteQuestion, skipped: SkippedCandidate[]): Rated[] {
  const { health, warm, now } = question;
  const keys = deployment.keys.filter((key) => {
    const provider = healthScopeOf(deployment.provider, key);
    const wait = health.waitMs({ provider, model: deployment.model.id, keyLabel: key.label }, now);
    if (wait !== null) skipped.push({ deployment: deployment, key, why: wait.why, waitMs: wait.ms });
    return wait === null;
  });
  const [first] = keys;
  if (first === undefined) return [];
  const limitStatus = health.endpoint(healthScopeOf(deployment.provider, first), deployment.model.id, now);
  const isWarm = warm !== null && isAt(warm, deployment, keys);
  const dollars = estimateCost(deployment.endpoint, question.promptTokens, isWarm ? warm.tokens : 0, now);
  const costStep = stepOf(dollars, isWarm, limitStatus.success);
  return [
    {
      deployment: deployment,
      keys,
      health: limitStatus,
      isWarm,
      group: groupOf(deployment, question),
      dollars,
      costStep,
    },
  ];
}

function isAt(warm: CacheAffinity, { provider, model }: Deployment, keys: readonly ProviderKey[]): boolean {
  return (
    warm.provider === provider.record.slug &&
    warm.modelId === model.id &&
    keys.some(({ label }) => label === warm.keyLabel)
  );
}

function groupOf({ keys, provider, endpoint }: Deployment, { isFim, formatOfTools }: RouteQuestion): number {
  const isOwn = keys[0]?.byokId !== null;
  const isForTask = isFim && provider.record.isForCode === true;
  const hasTools = formatOfTools !== null && formatsOf(provider, endpoint).includes(formatOfTools);
  return (isOwn ? 2 : 0) + (isForTask || hasTools ? 1 : 0);
}

/** Up to here nobody is worse than another for its failures. */
const WELL = 0.98;
/** Where even the cache makes no price, a warm one is quicker: it is worth so much of the cost. */
const WARM_WORTH = 0.9;
/** Makes free deployments comparable, whose failures would else count for nothing. US dollars. */
const LEAST_COST = 1e-7;
const STEP = Math.log(1.02);

/**
 * A failed attempt costs the caller time and not money, more than its share: one in ten makes an deployment a third dearer, one
 * in two eight times.
 */
function stepOf(dollars: number, isWarm: boolean, success: number): number {
  const reliable = success >= WELL ? 1 : success ** 3;
  const cost = ((dollars + LEAST_COST) * (isWarm ? WARM_WORTH : 1)) / Math.max(reliable, 1e-6);
  return Math.round(Math.log(cost) / STEP);
}

/** Those whose circuits are open, the worst first, but at most half of all: if all seem to fail, it may be us. */
function ejectOpen(all: readonly Rated[]): ReadonlySet<Rated> {
  const open = all.filter(({ health }) => health.state === "open");
  if (open.length === 0) return NOBODY;
  const worst = open.toSorted((a, b) => a.health.success - b.health.success || bySpread(a, b, null));
  return new Set(worst.slice(0, Math.floor(all.length / 2)));
}

const NOBODY: ReadonlySet<Rated> = new Set();

/** The deployments of one model in the order they are tried. */
function order(
  rated: readonly Rated[],
  question: RouteQuestion,
  skipped: SkippedCandidate[],
): readonly Rated[] {
  const { order: named, allowFallbacks, sort } = question.preferences;
  if (rated.length === 0) return rated;
  const sorted = rated.length === 1 ? rated : rated.toSorted(comparatorOf(sort, question.session));
  const first = named.flatMap((slug) =>
    sorted.filter(({ deployment }) => deployment.provider.record.slug === slug),
  );
  const ordered = first.length === 0 ? sorted : [...first, ...sorted.filter((one) => !first.includes(one))];
  if (allowFallbacks) return ordered;
  // Of named ones nobody else is left here.
  if (first.length > 0) return ordered;
  for (const { deployment } of ordered.slice(1)) skipped.push(noFallback(deployment));
  return ordered.slice(0, 1);
}

type Comparator = (a: Rated, b: Rated) => number;

function comparatorOf(sort: ProviderSort | null, session: string | null): Comparator {
  const bySort = sort === null ? byWorth : BY_SORT[sort];
  return (a, b) => b.group - a.group || bySort(a, b) || bySpread(a, b, session);
}

const byWorth: Comparator = (a, b) => a.costStep - b.costStep || Number(b.isWarm) - Number(a.isWarm);

/** What was not measured yet comes last. */
const UNKNOWN_MS = Number.MAX_SAFE_INTEGER;

const BY_SORT: Readonly<Record<ProviderSort, Comparator>> = {
  price: (a, b) => a.dollars - b.dollars,
  latency: (a, b) => (a.health.ttftMs ?? UNKNOWN_MS) - (b.health.ttftMs ?? UNKNOWN_MS) || byWorth(a, b),
  throughput: (a, b) => (b.health.tokensPerS ?? 0) - (a.health.tokensPerS ?? 0) || byWorth(a, b),
};

/** Equals share the conversations, and each conversation has its own order of them. */
function bySpread(a: Rated, b: Rated, session: string | null): number {
  const [one, other] = [a.deployment.provider.record.slug, b.deployment.provider.record.slug];
  const bySlug = compareText(one, other);
  if (session === null) return bySlug;
  return weighSpread(session, other) - weighSpread(session, one) || bySlug;
}

/** An deployment with each of its keys: the account's own in their order, the gateway's shared as equals are, the warm one first. */
function candidatesOf(rated: Rated, question: RouteQuestion): Candidate[] {
  const { deployment, keys } = rated;
  const why = reasonOf(rated, question);
  return orderKeys(rated, question).map((key) => ({ ...deployment, keys, key, why }));
}

function orderKeys({ keys, isWarm }: Rated, { session, warm }: RouteQuestion): readonly ProviderKey[] {
  if (keys.length === 1) return keys;
  const isOwn = keys[0]?.byokId !== null;
  const shared =
    isOwn || session === null
      ? keys
      : keys.toSorted((a, b) => weighSpread(session, b.label) - weighSpread(session, a.label));
  if (!isWarm) return shared;
  return shared.toSorted((a, b) => Number(b.label === warm?.keyLabel) - Number(a.label === warm?.keyLabel));
}

function reasonOf({ deployment, health, isWarm }: Rated, { preferences }: RouteQuestion): CandidateReason {
  if (preferences.order.includes(deployment.provider.record.slug)) return "order";
  if (health.state === "half_open") return "probe";
  if (health.state === "open") return "last_resort";
  if (preferences.sort !== null) return preferences.sort;
  if (isWarm) return "warm_cache";
  return health.success < WELL ? "degraded" : "price";
}
