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
import type { ClientMemory } from "../../usage/clients/client-memory.ts";
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
  /** The client's value of `model` if it names the preset; null if another field names it. */
  readonly requested: string | null;
  /** The body with the preset's settings. */
  readonly body: Buffer;
}

/** Counts the memory of a request: its body, its parsed form, and encodings. */
export interface RequestMemory {
  /** Reserves more bytes. Returns false, and reserves nothing, if there is no room. */
  take(bytes: number): boolean;
  giveBack(bytes: number): void;
  /** Releases the body, which is no longer read, and everything else except `keptBytes`. */
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
  /**
   * How long it may run, if that differs from other generations. Its hold and the lease of its record last as long. Milliseconds; absent
   * or null: `timers.totalMs`.
   */
  readonly longestMs?: number | null;
  /** Returns this call with another body of its request, parsed. @throws GatewayError if the body is not valid. */
  withBody(body: Buffer): GenerationCall;
  /** Called once if the generation is not quick: when the gateway starts to watch its client. */
  onLasting(): void;
  /** Returns a signal that is aborted when the client leaves. Created lazily, because it is expensive. */
  readClientSignal(): AbortSignal;
  /** The memory of the body, its parsed form, and encodings. */
  readonly memory: RequestMemory;
  /** Called once, when the generation has ended and its record is written. The request's resources may then be released. */
  onEnded(): void;
}

/** The models and tiers that this process serves. Replaced as a whole when the catalog changes. */
export interface Serving {
  readonly catalog: Catalog;
  readonly servedModels: ServedModels;
  readonly tiers: Tiers;
  /** The named routes of the operator. */
  readonly namedRoutes: NamedRoutes;
}

/** The configuration of generations. A reload replaces it as a whole. */
export interface GenerationSettings {
  /** The operator's policy; accounts and keys can only tighten it. */
  readonly policy: Policy;
  /** The prices that accounts pay instead of list prices. */
  readonly pricing: PricingRules;
  readonly timers: GenerationTimers;
  /** The maximum number of attempts of one generation. */
  readonly maxAttempts: number;
  /** The number of retry rounds for transient failures if no candidate has answered. */
  readonly repeats: number;
  /** Whether a request is repeated without a parameter that its provider refused, and the refusal is remembered. */
  readonly learnsRefusals: boolean;
  /** The holds for answers whose length the client does not limit. */
  readonly holdBounds: HoldBounds;
  /** Where callers can buy credits; null if none are sold. */
  readonly buyCreditsUrl: string | null;
  /** Whether a client that leaves pays for an unstreamed answer that a vendor has begun. */
  readonly chargesAbandoned: boolean;
  /** Lists the scopes that a request is counted for. */
  readonly listLimits: ListLimits;
  /** The hourly limit on free models for accounts. */
  readonly freeLimit: FreeLimit;
  /** Answers whose clients are not reading. */
  readonly unread: UnreadAnswers;
}

/** The state of providers that routing uses, and what operators have taken out of routing. */
interface RoutingState {
  /** The recent health of providers, models and keys. */
  readonly health: Health;
  readonly drains: Drains;
  /** The last failures of each provider, for the operator. */
  readonly recentFailures: RecentFailures;
  /** The parameters that providers were seen to refuse. */
  readonly learnedRefusals: LearnedRefusals;
  /** Bounds retries at a provider. */
  readonly retryBudget: RetryBudget;
  /** Remembers where conversations' prompt caches are warm. */
  readonly affinity: AffinityMemory;
  /** Remembers what was sent to prompt caches and read again. */
  readonly cacheMemory: CacheMemory;
}

/** The resources of accounts, and the hash that names their users to vendors. */
interface CallerState {
  /** The accounts' own provider keys. */
  readonly byokKeys: ProviderKeyCache;
  /** The named routes of accounts. */
  readonly accountRoutes: AccountRoutes;
  readonly hashIdentity: IdentityHash;
}

/** The generations of this process that have not ended. */
interface RunningGenerations {
  /** Generations in their first `WATCH_MS`, during which their clients are not watched and their timers are not set. */
  readonly beginnings: WaitList;
  /** The generations that a shutdown cancels after its drain time. */
  readonly active: LinkedSet<Cancellation>;
}

/** The dependencies of generations. */
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
  /** Names the clients of requests in their records. */
  readonly clients: ClientMemory;
  readonly tokenCounter: TokenCounter;
  readonly requestEncoder: RequestEncoder;
  readonly running: RunningGenerations;
  /** Features that take part in generations, in the order in which they are asked. */
  readonly extensions: readonly Extension[];
}

/** The result of a generation when its first byte is available. */
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
  /** The id of the generation whose answer is replayed; absent if the answer is its own. */
  readonly replayOf?: string;
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
