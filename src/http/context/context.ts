import type { WaitList } from "../../base/collections/wait-list.ts";
import type { Failure } from "../../base/failures/errors.ts";
import type { Log } from "../../base/failures/log.ts";
import type { IdSource } from "../../base/secrets/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Stopwatch } from "../../base/time/stopwatch.ts";
import type { KeyStores } from "../../core/accounts/manage/manage-keys.ts";
import type { AccountCache } from "../../core/accounts/memory/account-cache.ts";
import type { KeyCache } from "../../core/accounts/memory/key-cache.ts";
import type { InferencePrincipal } from "../../core/accounts/records/principal.ts";
import type { BudgetStore } from "../../core/accounts/stores/budget-store.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { CatalogManager } from "../../core/catalog/refresh/catalog-manager.ts";
import type { TierManager } from "../../core/catalog/tiers/tier-manager.ts";
import type { ConsoleSession } from "../../core/console/console-session.ts";
import type { ConsoleSessionStore } from "../../core/console/console-session-store.ts";
import type { IdentityStore } from "../../core/console/identity-store.ts";
import type { Webhooks } from "../../core/events/webhooks.ts";
import type { RepeatableAnswers } from "../../core/extensions/answers/repeatable-answers.ts";
import type { PromptLog } from "../../core/extensions/prompt-log/prompt-log.ts";
import type { ShadowTraffic } from "../../core/extensions/shadow/shadow-traffic.ts";
import type { GatewayRegistry } from "../../core/gateways/gateway-registry.ts";
import type { GenerationDeps } from "../../core/generation/call/call.ts";
import type { StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";
import type { Credits } from "../../core/ledger/credits/credits.ts";
import type { ByteBudget, ByteShare } from "../../core/limits/byte-budget.ts";
import type { TrustedProxies } from "../../core/limits/client-address.ts";
import type { Gate } from "../../core/limits/gate.ts";
import type { NamedRouteManager } from "../../core/named-routes/route-manager.ts";
import type { ProviderKeyStores } from "../../core/provider-keys/manage-provider-keys.ts";
import type { ManagedResponses } from "../../core/response-objects/manage/managed-responses.ts";
import type { ResponseObjects } from "../../core/response-objects/response-objects.ts";
import type { HealthHistoryStore } from "../../core/routing/history/health-history-store.ts";
import type { ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import type { Setting } from "../../core/settings/setting.ts";
import type { ConfigManager } from "../../core/stored-config/config-manager.ts";
import type { RequestObserver } from "../../core/telemetry/request-observer.ts";
import type { RequestTrace, Tracer } from "../../core/telemetry/request-trace.ts";
import type { GenerationFeed } from "../../core/usage/generations/generation-feed.ts";
import type { GenerationList } from "../../core/usage/generations/generation-list.ts";
import type { DamagedLines } from "../../core/usage/journal/journal.ts";
import type { RejectionLog } from "../../core/usage/rejections/rejection-log.ts";
import type { TimesRecorder } from "../../core/usage/reports/times-recorder.ts";
import type { UsageReports, UsageStore, UsageTimeStore } from "../../core/usage/reports/usage-store.ts";
import type { ClientApi } from "../../wire/client-apis/request/inference-request.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import type { DocumentSource } from "./document-source.ts";
import type { MetricsDeps } from "./metrics-deps.ts";
import type { ServedPages } from "./served-pages.ts";
import type { SocketDeps } from "./socket-deps.ts";
import type { SocketTurn } from "./socket-turn.ts";

/** Whether the gateway can answer requests. */
export interface Readiness {
  readonly isReady: boolean;
  /** Sentences about what does not work, for the operator. */
  readonly problems: readonly string[];
}

/** The origins of web pages that may call: a set, all, or null for none. */
export type AllowedOrigins = ReadonlySet<string> | "*" | null;

/** How callers are identified. */
interface CallerDeps {
  readonly keyCache: KeyCache;
  readonly accountCache: AccountCache;
  /** The key of the hash of client addresses, so that records do not contain addresses. */
  readonly addressSalt: string;
}

/** The resources that management endpoints read and change. */
interface ResourceDeps {
  readonly keyStores: KeyStores;
  readonly budgets: BudgetStore;
  readonly audit: AuditStore;
  readonly gateways: Pick<GatewayRegistry, "list">;
  readonly storedResponses: StoredResponseStore;
  readonly catalogManager: CatalogManager;
  readonly tierManager: TierManager;
  readonly routeManager: NamedRouteManager;
  readonly providerKeyStores: ProviderKeyStores;
  readonly credits: Credits;
  /** The responses that the gateway keeps, for those who manage an account. */
  readonly responses: ManagedResponses;
  /** The people of the OpenID Connect provider who are linked to users. */
  readonly identities: IdentityStore;
  /** The stored sessions of the console, even while it is disabled. */
  readonly consoleSessions: ConsoleSessionStore;
  /** What was made of the served models for responses. */
  readonly pages: ServedPages;
  /** Reads and changes the stored configuration. */
  readonly config: ConfigManager;
  /** Returns the JSON Schema of the configuration. */
  readonly configSchema: () => Readonly<Record<string, unknown>>;
  /** Lists the settings in force and where each comes from, with secrets masked. */
  readonly listSettings: () => readonly Setting[];
  /** Returns the damaged lines of the journal that were quarantined. */
  readonly listDamagedLines: () => readonly DamagedLines[];
  /**
   * Reads the configuration again and applies its changes in all processes of this gateway, or in none. Rejects with a `GatewayError`
   * `conflict` with all problems.
   */
  readonly reloadConfig: (options: ReloadOptions) => Promise<ConfigReload>;
  /** Where events are sent. */
  readonly webhooks: Webhooks;
}

/** The facts about generations that are known only after they have begun. */
interface ReportDeps {
  /** The source of usage reports and of lists of generations. */
  readonly usage: UsageReports &
    Pick<UsageTimeStore, "readTimes"> &
    GenerationList &
    Pick<UsageStore, "listQuarantined">;
  /** The times of generations that are not in the source of reports yet. */
  readonly usageTimes: Pick<TimesRecorder, "flush">;
  /** The history of providers. `flush` saves what this gateway has observed and not stored yet. */
  readonly healthHistory: { readonly store: HealthHistoryStore; flush(): Promise<void> };
  /** Notifies the streams of `GET /api/admin/generations/stream` about new and changed generations. */
  readonly generationFeed: GenerationFeed;
  /** The stored bodies of requests and responses. */
  readonly promptLog: PromptLog;
  /** The requests that were rejected before they became generations. */
  readonly rejections: RejectionLog;
}

/** Features of generations that endpoints and the shutdown use. */
interface FeatureDeps {
  readonly shadow: ShadowTraffic;
  /** Answers to requests with an `Idempotency-Key`; the lifecycle waits for them. */
  readonly repeatable: RepeatableAnswers;
  /** The responses that the gateway keeps. */
  readonly responses: ResponseObjects;
}

/** How request bodies are received, and the memory that they may use. */
interface BodyDeps {
  /** The largest request body in bytes, after decompression. */
  readonly maxBodyBytes: number;
  /** The memory budget of the bodies of all requests. */
  readonly bodyBudget: ByteBudget;
  /** The timers of request bodies that are being received. */
  readonly bodyWaits: WaitList;
  /** Bounds how many compressed bodies are decompressed at the same time. */
  readonly unpackGate: Gate;
  /** Resolves in a turn of the event loop without other long work. */
  readonly ownTurn: () => Promise<void>;
}

/** The rights of clients that the configuration sets. */
interface ClientDeps {
  readonly trustedProxies: TrustedProxies;
  /** The origins whose pages may call models. */
  readonly allowedOrigins: AllowedOrigins;
  /** Aliases of request headers: from, to. */
  readonly headerAliases: readonly (readonly [string, string])[];
  /** Replaces the configured prefixes of model ids: clients of other gateways prefix ids with that gateway's name. */
  readonly renameModel: (id: string) => string;
}

/** What browsers load: the console, how people sign in to it, and the documents. */
interface BrowserDeps {
  /** Null if the console is disabled. */
  readonly console: ConsoleDeps | null;
  /** The issuer of the configured OpenID Connect provider; null if none is configured. */
  readonly oidcIssuer: string | null;
  readonly documents: DocumentSource;
}

/** The observers of requests. */
interface ObserverDeps {
  /** Null if metrics are neither served nor exported. */
  readonly requestObserver: RequestObserver | null;
  /** Null if traces are not exported. */
  readonly tracer: Tracer | null;
  /** The dependencies of `GET /metrics`; null if it is disabled. */
  readonly metrics: MetricsDeps | null;
}

/** The dependencies of the HTTP layer. */
export interface HttpDeps {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly callers: CallerDeps;
  readonly resources: ResourceDeps;
  readonly reports: ReportDeps;
  readonly features: FeatureDeps;
  readonly bodies: BodyDeps;
  readonly sockets: SocketDeps;
  readonly clients: ClientDeps;
  readonly browser: BrowserDeps;
  readonly observers: ObserverDeps;
  readonly generation: GenerationDeps;
  /** The secret that the payment system signs its requests with; null if none is configured. */
  readonly webhookSecret: string | null;
  readonly readiness: () => Readiness;
  /** The state of the shutdown. */
  readonly shutdown: Shutdown;
}

/** Tells the server that the gateway is shutting down, and counts the requests that still arrive. */
export interface Shutdown {
  /** Every response has the header `Connection: close`. */
  isDraining: boolean;
  /** The responses since then. */
  answered: number;
}

/** What a request asks of a client API. */
export interface AskedRequest {
  readonly api: ClientApi;
  /** The model as the client sent it; null if it is not known. */
  readonly model: string | null;
  /** Whether the request itself demands zero data retention. */
  readonly zeroRetention: boolean;
}

/** The state of a request in the HTTP layer. */
export interface RequestContext {
  readonly deps: HttpDeps;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Runs since the request arrived. */
  readonly stopwatch: Stopwatch;
  /** The trace of an inference request; null for other requests, and if it is not traced. */
  trace: RequestTrace | null;
  /** The path pattern of the route, without the gateway prefix: `/chat/completions`. */
  readonly route: string;
  /** The headers of the request. */
  readonly headers: Headers;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The parameters of the query. */
  readonly query: URLSearchParams;
  /** Returns the address of the connection, which may be a proxy. */
  peer(): string;
  /** Fields of the request's log line. Handlers add theirs. */
  readonly logFields: Record<string, unknown>;
  /** The principal whose rate limits inference responses report; null until it is authorized. */
  inferencePrincipal: InferencePrincipal | null;
  /** What a rejected request asked of a client API, as far as it was read. Null until it is rejected, and for other endpoints. */
  asked: AskedRequest | null;
  /** The console session that the request belongs to; null until it is identified, and for a request without one. */
  session: ConsoleSession | null;
  /** Renders the errors of this request. The handler of a client API sets its own. */
  renderError: ErrorRenderer;
  /** The share of the memory budget that the body holds; null until it is read. */
  bodyShare: ByteShare | null;
  /** Set by a handler that returns before its response has ended. It writes the log line, releases `bodyShare` and adds the request's id itself. */
  endsItself: boolean;
  /** Whether the body is a form instead of JSON. */
  takesForm: boolean;
  /** The turn of a request that arrived over a WebSocket; null for a request over HTTP. */
  readonly turn: SocketTurn | null;
  /** Writes the log line of the request, unless the handler does, releases `bodyShare`, and returns the response to send. */
  complete(response: Response): Response;
  /** Returns the completed response of a request whose handler has failed. */
  fail(error: unknown): Response;
  /** Disables the idle timeout of the connection, while the generation's own timers apply. */
  disableIdleTimeout(): void;
  /** Enables the idle timeout again, so that a client that does not read its response loses the connection. */
  enableIdleTimeout(): void;
}

/** Renders a failure as a response in the format of a client API. */
export type ErrorRenderer = (
  failure: Failure,
  headers: Record<string, string>,
  requestId: string,
) => Response;

/**
 * Handles the requests of a route.
 * @throws GatewayError, which is rendered as an error response.
 */
export type Handler = (request: Request, context: RequestContext) => Response | Promise<Response>;
