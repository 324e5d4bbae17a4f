import type { LinkedSet } from "../../../base/collections/linked-set.ts";
import type { WaitList } from "../../../base/collections/wait-list.ts";
import type { Failure } from "../../../base/failures/errors.ts";
import type { Log } from "../../../base/failures/log.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Random } from "../../../base/secrets/random.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { Policy } from "../../accounts/records/records.ts";
import type { PricingRules } from "../../catalog/prices/pricing-rules.ts";
import type { Catalog } from "../../catalog/served/catalog.ts";
import type { Tiers } from "../../catalog/tiers/tiers.ts";
import type { ServedModels } from "../../deployments/served-models.ts";
import type { Ledger } from "../../ledger/credits/ledger.ts";
import type { HoldBounds } from "../../ledger/holds/worst-case.ts";
import type { FreeLimit } from "../../limits/free-limit.ts";
import type { ListLimits } from "../../limits/list-limits.ts";
import type { RateLimiter, RateLimitStatus } from "../../limits/rate-limiter.ts";
import type { AccountRoutes } from "../../named-routes/account-routes.ts";
import type { NamedRoutes } from "../../named-routes/named-routes.ts";
import type { ProviderKeyCache } from "../../provider-keys/provider-key-cache.ts";
import type { AffinityMemory } from "../../routing/affinity/affinity.ts";
import type { CacheMemory } from "../../routing/affinity/cache-memory.ts";
import type { Drains } from "../../routing/health/drains.ts";
import type { Health } from "../../routing/health/health.ts";
import type { RetryBudget } from "../../routing/health/retry-budget.ts";
import type { Recorder } from "../../usage/journal/recorder.ts";
import type { PlanEntry } from "../../usage/records/plan-entry.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";
import type { ConversationStore } from "../memory/conversation-store.ts";
import type { IdentityHash } from "../memory/identity-hash.ts";
import type { LearnedRefusals } from "../memory/learned-refusals.ts";
import type { RecentFailures } from "../memory/recent-failures.ts";
import type { RequestEncoder } from "../memory/request-encoder.ts";
import type { TokenCounter } from "../memory/token-counter.ts";
import type { UnreadAnswers } from "../memory/unread-answers.ts";
import type { Cancellation, GenerationTimers } from "./cancellation.ts";
import type { AdmittedCall, Extension } from "./extension.ts";

/** A preset whose settings a request has. */
export interface AppliedPreset {
  readonly step: RouteStep;
  /** What the client sent as model, if that names the preset; null if another field does. */
  readonly requested: string | null;
  /** The body with its settings. */
  readonly body: Buffer;
}

/** Counts the memory of a request: its body, and what is read and made from it. */
export interface RequestMemory {
  /** Takes more bytes. Returns false, and takes nothing, if there is no room. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  /** Releases the body, which is not read any more, and all bytes but `keptBytes`. */
  release(keptBytes: number): void;
}

/** The memory of a request that is not counted. */
export const UNCOUNTED: RequestMemory = { take: () => true, giveBack() {}, release() {} };

/** An inference request whose caller is identified and whose body is parsed. */
export interface GenerationCall extends AdmittedCall {
  /** The preset whose settings the request has; absent or null for none. */
  readonly preset?: AppliedPreset | null;
  /** The generation that it is a copy of, if it is shadow traffic. It then counts for no rate limit. */
  readonly shadowOf?: string;
  /** Returns this call with another body of its request, parsed. @throws GatewayError if the body is not valid. */
  withBody(body: Buffer): GenerationCall;
  /** Called once if the generation lasts: when its client begins to be watched. */
  onLasting(): void;
  /** Returns a signal that is aborted when the client leaves. Created lazily, because it is expensive. */
  readClientSignal(): AbortSignal;
  /** The memory of the body, and of what is read and made from it. */
  readonly memory: RequestMemory;
  /** Called once, when the generation has ended and its record is written: what the request holds may be released. */
  onEnded(): void;
}

/** What this process serves; replaced as a whole when the catalog changes. */
export interface Serving {
  readonly catalog: Catalog;
  readonly servedModels: ServedModels;
  readonly tiers: Tiers;
  /** The named routes of the operator. */
  readonly namedRoutes: NamedRoutes;
}

/** What the configuration says about generations. A reload replaces it as a whole. */
export interface GenerationSettings {
  /** The operator's policy; accounts and keys can only tighten it. */
  readonly policy: Policy;
  /** What accounts pay instead of list prices. */
  readonly pricing: PricingRules;
  readonly timers: GenerationTimers;
  /** The most attempts of one generation. */
  readonly maxAttempts: number;
  /** How many rounds of retries follow transient failures if no candidate has answered. */
  readonly repeats: number;
  /** A request is sent again without a parameter that its provider refused, and what was refused is remembered. */
  readonly learnsRefusals: boolean;
  /** The holds for answers whose length the client does not limit. */
  readonly holdBounds: HoldBounds;
  /** Where callers can buy credits; null if none are sold. */
  readonly buyCreditsUrl: string | null;
  /** A client that leaves once a vendor has begun an answer that is not streamed pays for it. */
  readonly chargesAbandoned: boolean;
  /** Lists the scopes that a request is counted for. */
  readonly listLimits: ListLimits;
  /** The hourly limit on free models for accounts. */
  readonly freeLimit: FreeLimit;
  /** Answers whose clients do not read at the moment. */
  readonly unread: UnreadAnswers;
}

/** What this process knows of providers, and what operators have taken out of routing. */
interface RoutingState {
  /** The recent health of providers, models and keys. */
  readonly health: Health;
  readonly drains: Drains;
  /** The last failures of each provider, for the operator. */
  readonly recentFailures: RecentFailures;
  /** The parameters that providers refuse, as they were seen to. */
  readonly learnedRefusals: LearnedRefusals;
  /** Bounds retries at a provider. */
  readonly retryBudget: RetryBudget;
  /** Remembers where conversations' prompt caches are warm. */
  readonly affinity: AffinityMemory;
  /** Remembers what was sent to prompt caches and read again. */
  readonly cacheMemory: CacheMemory;
}

/** What accounts have of their own, and how their users are named to vendors. */
interface CallerState {
  /** The accounts' own provider keys. */
  readonly byokKeys: ProviderKeyCache;
  /** The named routes of accounts. */
  readonly accountRoutes: AccountRoutes;
  readonly hashIdentity: IdentityHash;
}

/** The generations of this process that have not ended. */
interface RunningGenerations {
  /** The first `WATCH_MS` of generations, in which their clients are not watched and their timers are not set. */
  readonly beginnings: WaitList;
  /** What a shutdown cancels after its drain time. */
  readonly active: LinkedSet<Cancellation>;
}

/** What generations need. */
export interface GenerationDeps {
  /** Names this gateway in the records of the generations that it runs. */
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
  readonly ids: IdSource;
  readonly random: Random;
  readonly settings: GenerationSettings;
  readonly serving: () => Serving;
  readonly accounts: CallerState;
  readonly routing: RoutingState;
  readonly rateLimiter: RateLimiter;
  readonly ledger: Ledger;
  readonly recorder: Recorder;
  readonly conversations: ConversationStore;
  readonly tokenCounter: TokenCounter;
  readonly requestEncoder: RequestEncoder;
  readonly running: RunningGenerations;
  /** Features that take part in generations, in the order in which they are asked. */
  readonly extensions: readonly Extension[];
}

/** The result of a generation, as far as its first byte. */
export interface GenerationResult {
  readonly generationId: string;
  /** The model and provider that answer; null if none does. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly attempts: number;
  /** The routing decision: candidates, and deployments left out. */
  readonly plan: readonly PlanEntry[];
  /** The status of the caller's limits after this request; null if it has none. */
  readonly limit: RateLimitStatus | null;
  /** Further response headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly answer: /** `mediaType` is absent for JSON. */
    | { readonly kind: "json"; readonly body: string | Buffer; readonly mediaType?: string }
    /** `mediaType` is absent for server-sent events. */
    | {
        readonly kind: "stream";
        readonly stream: ReadableStream<Uint8Array> | Buffer;
        readonly mediaType?: string;
      }
    | { readonly kind: "failure"; readonly failure: Failure }
    /** The client left before there was an answer. */
    | { readonly kind: "gone" };
}
