import type { Clock } from "../../base/clock.ts";
import type { Failure } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import type { LinkedSet } from "../../base/linked-set.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { WaitList } from "../../base/wait-list.ts";
import type { InferenceRequest } from "../../wire/client-apis/request/inference-request.ts";
import type { Policy } from "../accounts/records.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { PricingRules } from "../catalog/pricing-rules.ts";
import type { Tiers } from "../catalog/tiers.ts";
import type { ServedModels } from "../deployments/served-models.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { HoldBounds } from "../ledger/worst-case.ts";
import type { FreeLimit } from "../limits/free-limit.ts";
import type { ListLimits } from "../limits/list-limits.ts";
import type { RateLimiter, RateLimitStatus } from "../limits/rate-limiter.ts";
import type { AccountRoutes } from "../named-routes/account-routes.ts";
import type { NamedRoutes } from "../named-routes/named-routes.ts";
import type { ProviderKeyCache } from "../provider-keys/provider-key-cache.ts";
import type { AffinityMemory } from "../routing/affinity.ts";
import type { CacheMemory } from "../routing/cache-memory.ts";
import type { Drains } from "../routing/drains.ts";
import type { Health } from "../routing/health.ts";
import type { RetryBudget } from "../routing/retry-budget.ts";
import type { PlanEntry } from "../usage/plan-entry.ts";
import type { Recorder } from "../usage/recorder.ts";
import type { RouteStep } from "../usage/route-step.ts";
import type { Cancellation, GenerationTimers } from "./cancellation.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { AdmittedCall, Extension } from "./extension.ts";
import type { IdentityHash } from "./identity-hash.ts";
import type { LearnedRefusals } from "./learned-refusals.ts";
import type { RecentFailures } from "./recent-failures.ts";
import type { RequestEncoder } from "./request-encoder.ts";
import type { TokenCounter } from "./token-counter.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

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
  /** Parses another body of this request. @throws GatewayError if it is not valid. */
  parse(body: Buffer): InferenceRequest;
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

/** What generations need. */
export interface GenerationDeps {
  /** Names this gateway in the records of the generations that it runs. */
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
  /** Features that take part in generations, in the order in which they are asked. */
  readonly extensions: readonly Extension[];
  readonly ids: IdSource;
  readonly serving: () => Serving;
  /** What accounts pay instead of list prices. */
  readonly pricing: PricingRules;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  /** The holds for answers whose length the client does not limit. */
  readonly holdBounds: HoldBounds;
  /** Where callers can buy credits; null if none are sold. */
  readonly buyCreditsUrl: string | null;
  readonly random: Random;
  /** The recent health of providers, models and keys. */
  readonly health: Health;
  /** What operators have taken out of routing. */
  readonly drains: Drains;
  /** The last failures of each provider, for the operator. */
  readonly recentFailures: RecentFailures;
  /** The parameters that providers refuse, as they were seen to. */
  readonly learnedRefusals: LearnedRefusals;
  /** A request is sent again without a parameter that its provider refused, and what was refused is remembered. */
  readonly learnsRefusals: boolean;
  /** Bounds retries at a provider. */
  readonly retryBudget: RetryBudget;
  /** Remembers where conversations' prompt caches are warm. */
  readonly affinity: AffinityMemory;
  /** Remembers what was sent to prompt caches and read again. */
  readonly cacheMemory: CacheMemory;
  /** The accounts' own provider keys. */
  readonly byokKeys: ProviderKeyCache;
  /** The named routes of accounts. */
  readonly accountRoutes: AccountRoutes;
  /** The hourly limit on free models for accounts. */
  readonly freeLimit: FreeLimit;
  readonly rateLimiter: RateLimiter;
  /** Lists the scopes that a request is counted for. */
  readonly listLimits: ListLimits;
  /** The operator's policy; accounts and keys can only tighten it. */
  readonly policy: Policy;
  readonly conversations: ConversationStore;
  readonly hashIdentity: IdentityHash;
  readonly tokenCounter: TokenCounter;
  readonly requestEncoder: RequestEncoder;
  readonly timers: GenerationTimers;
  /** A client that leaves once a vendor has begun an answer that is not streamed pays for it. */
  readonly chargesAbandoned: boolean;
  /** Answers whose clients do not read at the moment. */
  readonly unread: UnreadAnswers;
  /** The most attempts of one generation. */
  readonly maxAttempts: number;
  /** How many rounds of retries follow transient failures if no candidate has answered. */
  readonly repeats: number;
  /** The first `WATCH_MS` of generations, in which their clients are not watched and their timers are not set. */
  readonly beginnings: WaitList;
  /** The running generations, which a shutdown cancels after its drain time. */
  readonly active: LinkedSet<Cancellation>;
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
