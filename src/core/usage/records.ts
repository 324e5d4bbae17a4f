import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { AdvisorUsage, TokenUsage } from "../../wire/conversation/usage.ts";
import type { Prices } from "../catalog/records.ts";
import type { PlanEntry } from "./plan-entry.ts";

/** One try of one candidate, as recorded. */
export interface AttemptRecord {
  readonly provider: string;
  /** The model's name there. */
  readonly upstreamModel: string;
  /** The format that it was asked in; absent in records of version 0.1. */
  readonly format?: FormatName;
  /** With the account's own key. */
  readonly isByok: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Milliseconds until it began to answer or failed; null while it runs. */
  readonly durationMs: number | null;
  /** HTTP status; null when none came. */
  readonly upstreamStatus: number | null;
  /** Why it failed; null when it did not. `empty_answer`: it finished without a word, so another may have been asked. */
  readonly error: string | null;
}

/**
 * How a generation ended. `open` while it runs; `interrupted` when the gateway died under it, which is found at the
 * next start.
 */
export type Outcome = "open" | "completed" | "failed" | "cancelled" | "interrupted";

/** What a model has used and cost that a generation's model consulted. */
export interface AdvisorRecord extends AdvisorUsage {
  /** The catalog's id; null for a model that it does not have. */
  readonly modelId: string | null;
  /** The prices that it was charged at. */
  readonly prices: Prices | null;
  /** Its part of what the account pays, and of the list price; nanodollars. */
  readonly costNanodollars: number;
  readonly upstreamCostNanodollars: number;
}

/** The gateway that runs a generation, and until when it may. */
export interface RecordLease {
  readonly gatewayId: string;
  /** Milliseconds since the epoch. No generation lasts longer: one that is open after it was abandoned. */
  readonly endsAt: number;
}

/** How much longer than the longest generation a lease lasts: clocks of gateways differ, and a record is saved in groups. */
const LEASE_MARGIN_MS = 60_000;

/** Creates the lease of a generation that a gateway runs from `requestedAt` and for at most `totalMs`. */
export function createLease(gatewayId: string, requestedAt: number, totalMs: number): RecordLease {
  return { gatewayId, endsAt: requestedAt + totalMs + LEASE_MARGIN_MS };
}

/** What is kept of every generation: who, what, by whom, how much, how it ended. Never contents. */
export interface UsageRecord extends TokenUsage {
  readonly id: string;
  readonly requestId: string;
  /** Null for anonymous use. */
  readonly accountId: string | null;
  readonly keyId: string | null;
  /** Whose key it is; null for an account's own. */
  readonly userId: string | null;
  /** Keyed hash of the client's address; null where a key says who it was. */
  readonly addressHash: string | null;
  /** The client API: `chat.completions`. */
  readonly api: string;
  readonly streamed: boolean;
  readonly requestedModel: string;
  /** Null until one has answered. */
  readonly model: string | null;
  readonly provider: string | null;
  readonly upstreamModel: string | null;
  readonly outcome: Outcome;
  /** Who runs it, while it is open; absent in records of version 0.1. */
  readonly lease?: RecordLease | undefined;
  /** The `ErrorCode`, where one was answered. */
  readonly error: string | null;
  /** HTTP status that the client saw; null while open. */
  readonly status: number | null;
  readonly finishReason: string | null;
  readonly nativeFinishReason: string | null;
  /** The account's own key at the provider serves it, or has: it costs the account nothing here. */
  readonly isByok: boolean;
  /** It was sent to a free model with the gateway's key, and counts for the account's limit on them. Absent: it was not. */
  readonly usesFreeModel?: true;
  /** What the account pays, in nanodollars. */
  readonly costNanodollars: number;
  /** List price of the provider, in nanodollars. */
  readonly upstreamCostNanodollars: number;
  readonly advisors?: readonly AdvisorRecord[];
  /** What was held of the account when this version was written, in nanodollars; absent: nothing. */
  readonly heldNanodollars?: number;
  /** The prices that it was, or is to be, charged at, US dollars per token; null while no provider was chosen. */
  readonly prices: Prices | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly firstTokenAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: readonly AttemptRecord[];
  /** Who was to be asked and who was not, and why. */
  readonly plan: readonly PlanEntry[];
}

/** A record and the JSON it is kept as, printed once for journal and store. */
export interface RecordEntry {
  readonly record: UsageRecord;
  readonly json: string;
}
