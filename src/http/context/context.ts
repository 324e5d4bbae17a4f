import type { Clock } from "../../base/clock.ts";
import type { Failure } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { WaitList } from "../../base/wait-list.ts";
import type { AccountCache } from "../../core/accounts/account-cache.ts";
import type { KeyCache } from "../../core/accounts/key-cache.ts";
import type { KeyStores } from "../../core/accounts/manage-keys.ts";
import type { InferencePrincipal } from "../../core/accounts/principal.ts";
import type { AuditStore } from "../../core/audit/audit-store.ts";
import type { CatalogManager } from "../../core/catalog/catalog-manager.ts";
import type { GenerationDeps } from "../../core/generation/call.ts";
import type { StoredResponseStore } from "../../core/idempotency/stored-response-store.ts";
import type { Credits } from "../../core/ledger/credits.ts";
import type { ByteBudget, ByteShare } from "../../core/limits/byte-budget.ts";
import type { TrustedProxies } from "../../core/limits/client-address.ts";
import type { Gate } from "../../core/limits/gate.ts";
import type { ProviderKeyStores } from "../../core/provider-keys/manage-provider-keys.ts";
import type { DamagedLines } from "../../core/usage/journal.ts";
import type { UsageReports, UsageStore } from "../../core/usage/usage-store.ts";

/** What the HTTP floor works with. */
export interface HttpDeps {
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly log: Log;
  readonly keyCache: KeyCache;
  readonly accountCache: AccountCache;
  readonly keyStores: KeyStores;
  readonly audit: AuditStore;
  readonly answers: StoredResponseStore;
  readonly catalogManager: CatalogManager;
  readonly providerKeyStores: ProviderKeyStores;
  readonly generation: GenerationDeps;
  readonly credits: Credits;
  /** Where reports of usage come from. */
  readonly usage: UsageReports & Pick<UsageStore, "listQuarantined">;
  /** Lines of the journal that were damaged and are kept aside. */
  readonly listDamagedLines: () => readonly DamagedLines[];
  /** What a payment system signs its calls with; null where there is none. */
  readonly webhookSecret: string | null;
  readonly trustedProxies: TrustedProxies;
  /** Keys the hash of anonymous addresses, so that a record does not tell them. */
  readonly addressSalt: string;
  /** Largest body of a request, decompressed. Bytes. */
  readonly maxBodyBytes: number;
  /** Request headers that are read as another: from, to. */
  readonly headerAliases: readonly (readonly [string, string])[];
  /** What the bodies of all requests may hold together. */
  readonly bodyBudget: ByteBudget;
  /** Bodies of requests that are still coming. */
  readonly bodyWaits: WaitList;
  /** How many packed bodies are unpacked at once. */
  readonly unpackGate: Gate;
  /** Resolves in a turn of the event loop in which nobody else does long work. */
  readonly ownTurn: () => Promise<void>;
  /** Ids that begin with a key of it are read as if they began with its value. */
  readonly modelPrefixAliases: Readonly<Record<string, string>>;
  /** Null while the gateway can serve; else what is wrong. */
  readonly notReady: () => string | null;
}

/** What is known of a request before its handler runs. */
export interface RequestContext {
  readonly deps: HttpDeps;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** The route's own path, without prefix and values: `/chat/completions`. */
  readonly route: string;
  /** The named parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The address of whoever opened the connection. Looked up only where it matters. */
  peer(): string;
  /** Fields for the request's log line, added on the way. */
  readonly logFields: Record<string, unknown>;
  /** The principal whose rate limits inference responses report; null until it is authorized. */
  inferencePrincipal: InferencePrincipal | null;
  /** Renders this request's errors; a client API puts its own here. */
  renderError: ErrorRenderer;
  /** What the request's body holds of the budget; null until it is read. */
  bodyShare: ByteShare | null;
  /**
   * Set by a handler whose work outlives it: it writes the log line and gives `bodyShare` back itself, when its answer has
   * ended.
   */
  endsItself: boolean;
  /** From here on the generation's own timers bound the wait, not the connection's. */
  waitWithoutLimit(): void;
  /** The generation is over: a client that does not fetch the rest of its answer loses its connection. */
  waitWithLimit(): void;
}

/** A failure as an answer, in the shape of one client API. */
export type ErrorRenderer = (
  failure: Failure,
  headers: Record<string, string>,
  requestId: string,
) => Response;

/** Answers one route. Throws a `GatewayError` for what is rendered as an error. */
export type Handler = (request: Request, context: RequestContext) => Response | Promise<Response>;
