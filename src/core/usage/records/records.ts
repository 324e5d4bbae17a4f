import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { AdvisorUsage, TokenUsage } from "../../../wire/conversation/usage.ts";
import type { Prices } from "../../catalog/records/records.ts";
import type { ClientFamily } from "../clients/client-family.ts";
import type { PlanEntry } from "./plan-entry.ts";
import type { RouteStep } from "./route-step.ts";
import type { WorkRecord } from "./work-record.ts";

/** One attempt, as recorded. */
export interface AttemptRecord {
  readonly provider: string;
  /** The model's catalog id; absent in records of version 0.2 and earlier. */
  readonly model?: string;
  /** The key that it was called with: the id of a BYOK key, or the label of a platform key. Absent like `model`. */
  readonly key?: string;
  /** The model's name there. */
  readonly upstreamModel: string;
  /** The format in which it was called; absent in records of version 0.1. */
  readonly format?: ProviderFormat;
  /** It used a BYOK key. */
  readonly isByok: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds until it began to answer or failed; null while it runs. */
  readonly durationMs: number | null;
  /** HTTP status; null if none was received. */
  readonly upstreamStatus: number | null;
  /** Why it failed; null if it did not. `empty_answer`: it finished without content, so another candidate may have been tried. */
  readonly error: string | null;
  /** The provider's own error code, such as `tool_use_failed`; absent if it sent none. */
  readonly upstreamCode?: string;
  /**
   * The provider's words about the failure, or what happened to the connection: shortened, without secrets. It may quote the request, so it
   * is absent under zero data retention.
   */
  readonly upstreamMessage?: string;
  /** Code and message are about the account at the provider, which only its owner may know. */
  readonly isPrivate?: true;
}

/** How a generation ended. `open` while it runs; `interrupted` if the gateway process died, which the next start detects. */
export type StoredOutcome = "open" | "completed" | "failed" | "cancelled" | "interrupted";

/** How a generation ended, as it is shown: `cached` if an earlier answer was returned instead of asking a provider. */
export const OUTCOMES = ["open", "completed", "cached", "failed", "cancelled", "interrupted"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The features that return an earlier answer. */
export const REPLAY_FEATURES = ["answer_cache", "idempotency_key"] as const;
export type ReplayFeature = (typeof REPLAY_FEATURES)[number];

/** The usage and cost of a model that the generation's model consulted. */
export interface AdvisorRecord extends AdvisorUsage {
  /** The model's id; null if it is not in the catalog. */
  readonly modelId: string | null;
  /** The prices at which it was charged; null if none are known. */
  readonly prices: Prices | null;
  /** The provider's prices, if they are others. */
  readonly listPrices?: Prices | null;
  /** Its share of what the account pays, and of the list price. Nanodollars. */
  readonly costNanodollars: number;
  readonly upstreamCostNanodollars: number;
}

/** The gateway that runs a generation, and until when it may. */
interface RecordLease {
  readonly gatewayId: string;
  /** Milliseconds since the epoch. A record that is still open later is abandoned, because no generation lasts longer. */
  readonly endsAt: number;
}

/** How much longer than the longest generation a lease lasts: clocks of gateways differ, and a record is saved in groups. */
const LEASE_MARGIN_MS = 60_000;

/** Creates the lease of a generation that a gateway runs from `requestedAt` on, for at most `totalMs`. */
export function createLease(gatewayId: string, requestedAt: number, totalMs: number): RecordLease {
  return { gatewayId, endsAt: requestedAt + totalMs + LEASE_MARGIN_MS };
}

/**
 * The record of a generation: identity, model, provider, token usage, cost and outcome. No contents, apart from what providers' error
 * messages and warnings quote of them.
 */
export interface UsageRecord extends TokenUsage {
  readonly id: string;
  readonly requestId: string;
  /** Null for anonymous use. */
  readonly accountId: string | null;
  readonly keyId: string | null;
  /** The user that the API key belongs to; null for a service key. */
  readonly userId: string | null;
  /** The team that the API key belongs to; absent if it has none. */
  readonly teamId?: string | undefined;
  /** Keyed hash of the session that the client named; absent if it named none, and in records of earlier versions. */
  readonly sessionId?: string | undefined;
  /** Keyed hash of the end user that the client named; only for accounts with a budget of end users. */
  readonly endUser?: string | undefined;
  /** The tags that the client, the key, its team and its account set; absent if there are none. */
  readonly tags?: readonly string[] | undefined;
  /** The family of the client, as its `User-Agent` names it; absent if the client sent none, and in records of earlier versions. */
  readonly client?: ClientFamily | undefined;
  /** The version that it states; absent if it states none. */
  readonly clientVersion?: string | undefined;
  /** Keyed hash of the client address; null for requests with an API key. */
  readonly addressHash: string | null;
  /** The client API: `chat.completions`. */
  readonly api: string;
  readonly streamed: boolean;
  readonly requestedModel: string;
  /** The names that the client listed to answer if the requested model does not, in order. Absent if there are none. */
  readonly fallbackModels?: readonly string[] | undefined;
  /** How named routes led from the requested model to the first model that was to answer. Absent if the request names no route. */
  readonly namedRoutes?: readonly RouteStep[] | undefined;
  /** The generation that it is a copy of, if it is shadow traffic. Absent otherwise. */
  readonly shadowOf?: string | undefined;
  /** The candidate of the last attempt; null before the first. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly upstreamModel: string | null;
  readonly outcome: StoredOutcome;
  /** The gateway that runs it; absent once it has ended, and in records of version 0.1. */
  readonly lease?: RecordLease | undefined;
  /** The `ErrorCode` of the failure; null if it did not fail. */
  readonly error: string | null;
  /** The message of the failure that the client got, shortened; absent if it did not fail, and under zero data retention. */
  readonly errorMessage?: string | undefined;
  /** The field of the request that the failure is about; absent if it is about none. */
  readonly errorField?: string | undefined;
  /** HTTP status that the client saw; null while open. */
  readonly status: number | null;
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  /** The last attempt used a BYOK key: the provider bills the account, which pays at most a fee here. */
  readonly isByok: boolean;
  /** The generation whose answer was returned again without calling a provider; absent if there is none. */
  readonly replayOf?: string | undefined;
  /** The feature that returned it; absent in records of earlier versions. */
  readonly replayBy?: ReplayFeature | undefined;
  /** What the answer had cost the account, in nanodollars; absent in records of earlier versions. */
  readonly replaySavedNanodollars?: number | undefined;
  /** It was sent to a free model with a platform key, so it counts for the account's limit on free models. Absent otherwise. */
  readonly usesFreeModel?: true | undefined;
  /** The price that the account pays, in nanodollars. */
  readonly costNanodollars: number;
  /** The provider's list price, in nanodollars. */
  readonly upstreamCostNanodollars: number;
  readonly advisors?: readonly AdvisorRecord[] | undefined;
  /** The hold when this version of the record was written, in nanodollars; absent: none. */
  readonly heldNanodollars?: number | undefined;
  /**
   * The leases of money of its gateway that cover the cost: saving the record lowers them by it. `balance`, and names of spending
   * limits with their periods (`core/ledger/leases/money-leases`). Absent: none, as always with a single gateway.
   */
  readonly leasedFrom?: readonly string[] | undefined;
  /** The prices at which it is charged, US dollars per token; null before the first attempt. */
  readonly prices: Prices | null;
  /** The provider's prices, if a pricing rule set others for the account; absent: `prices`. */
  readonly listPrices?: Prices | null | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly firstTokenAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: readonly AttemptRecord[];
  /** The repairs and changes that the gateway made for the last attempt; absent if there were none. */
  readonly work?: WorkRecord | undefined;
  /** The routing decision: candidates, and what was skipped or filtered out. */
  readonly plan: readonly PlanEntry[];
}

/** Returns how a generation ended. Repeated answers of version 0.2, whose records do not say by which feature, count as `completed`. */
export function outcomeOf({ outcome, replayBy }: Pick<UsageRecord, "outcome" | "replayBy">): Outcome {
  return outcome === "completed" && replayBy !== undefined ? "cached" : outcome;
}

/** Returns what is left of an account's payment after the provider is paid. Negative if its allowance did not cover the cost. Nanodollars. */
export function marginOf(record: UsageRecord): number {
  const { costNanodollars, upstreamCostNanodollars, isByok } = record;
  return costNanodollars - (isByok ? 0 : upstreamCostNanodollars);
}

/** A record and its JSON, which is encoded once for journal and store. */
export interface RecordEntry {
  readonly record: UsageRecord;
  readonly json: string;
}
