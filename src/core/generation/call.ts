import type { Clock } from "../../base/clock.ts";
import type { Failure } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { Policy } from "../accounts/records.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Tiers } from "../catalog/tiers.ts";
import type { ServedModels } from "../deployments/served-models.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { HoldBounds } from "../ledger/worst-case.ts";
import type { FreeLimit } from "../limits/free-limit.ts";
import type { ListLimits } from "../limits/list-limits.ts";
import type { RateLimiter, RateLimitStatus } from "../limits/rate-limiter.ts";
import type { ProviderKeyCache } from "../provider-keys/provider-key-cache.ts";
import type { AffinityMemory } from "../routing/affinity.ts";
import type { Health } from "../routing/health.ts";
import type { RetryBudget } from "../routing/retry-budget.ts";
import type { PlanEntry } from "../usage/plan-entry.ts";
import type { Recorder } from "../usage/recorder.ts";
import type { Cancellation, GenerationTimers } from "./cancellation.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { AdmittedCall, Extension } from "./extension.ts";
import type { IdentityHash } from "./identity-hash.ts";
import type { RequestEncoder } from "./request-encoder.ts";
import type { TokenCounter } from "./token-counter.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

/** An inference request whose caller is identified and whose body is parsed. */
export interface GenerationCall extends AdmittedCall {
  /** Returns the value of a request header, by which tiers choose; null if it was not sent. */
  readonly readHeader: (name: string) => string | null;
  /** Returns a signal that is aborted when the client leaves. Created lazily, because it is expensive. */
  readonly readClientSignal: () => AbortSignal;
  /** Called once, when the generation has ended and its record is written: what the request holds may be released. */
  readonly onEnded: () => void;
}

/** What this process serves at the moment; replaced as a whole when the catalog changes. */
export interface Serving {
  readonly catalog: Catalog;
  readonly servedModels: ServedModels;
  readonly tiers: Tiers;
}

/** What generating takes. */
export interface GenerationDeps {
  /** Names this gateway in the records of the generations that it runs. */
  readonly gatewayId: string;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn" | "error">;
  /** Features that take part in generations, in the order in which they are asked. */
  readonly extensions: readonly Extension[];
  readonly ids: IdSource;
  readonly serving: () => Serving;
  readonly recorder: Recorder;
  readonly ledger: Ledger;
  /** What is held for answers that the client does not bound. */
  readonly holdBounds: HoldBounds;
  /** Where callers can buy credits; null where nobody sells any. */
  readonly buyCreditsUrl: string | null;
  readonly random: Random;
  /** How providers, models and keys have fared lately. */
  readonly health: Health;
  /** How often providers may be asked again. */
  readonly retryBudget: RetryBudget;
  /** Where conversations' prompt caches are warm. */
  readonly affinity: AffinityMemory;
  /** Accounts' own keys at providers. */
  readonly byokKeys: ProviderKeyCache;
  /** Of callers with a key. */
  readonly freeLimit: FreeLimit;
  readonly rateLimiter: RateLimiter;
  /** Lists the scopes that a request is counted for. */
  readonly listLimits: ListLimits;
  /** The operator's own: accounts and keys can only tighten it. */
  readonly policy: Policy;
  readonly conversations: ConversationStore;
  readonly hashIdentity: IdentityHash;
  readonly tokenCounter: TokenCounter;
  readonly requestEncoder: RequestEncoder;
  readonly timers: GenerationTimers;
  /** Answers that their clients do not read at the moment. */
  readonly unread: UnreadAnswers;
  /** How often one request may be sent to an upstream. */
  readonly maxAttempts: number;
  /** How often those that failed for the moment are asked again when nobody has answered. */
  readonly repeats: number;
  /** Generations under way, to be cut when a shutdown has waited long enough. */
  readonly active: Set<Cancellation>;
}

/** What became of a generation, as far as its first byte. */
export interface GenerationResult {
  readonly generationId: string;
  /** The model and provider that answer; null when none does. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly attempts: number;
  /** Who was to be asked, and who was not. */
  readonly plan: readonly PlanEntry[];
  /** How the caller's limits stand after this request; null where there are none. */
  readonly limit: RateLimitStatus | null;
  readonly answer:
    | { readonly kind: "json"; readonly body: string }
    | { readonly kind: "stream"; readonly stream: ReadableStream<Uint8Array> | Buffer }
    | { readonly kind: "failure"; readonly failure: Failure }
    /** The client left before there was anything to answer. */
    | { readonly kind: "gone" };
}
