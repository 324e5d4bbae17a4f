import type { ErrorCode } from "../../../base/failures/errors.ts";
import type { ClientApi } from "../../../wire/client-apis/request/inference-request.ts";
import type { ClientFamily } from "../clients/client-family.ts";

/** Why a request was rejected, as far as it is stored. */
export interface RejectionReason {
  readonly code: ErrorCode;
  readonly status: number;
  /** What the client was told. Null under zero data retention, because a message may quote the request. */
  readonly message: string | null;
  /** The field of the request that is at fault. */
  readonly field: string | null;
  /** The scope of the limit that was reached, such as `key` or `account`. */
  readonly limitSource: string | null;
  /** What the limit counts, such as `requests` or `tokens`. */
  readonly limitKind: string | null;
  readonly limit: number | null;
  /** The budget that was used up. */
  readonly budgetId: string | null;
}

/** Who sent a rejected request. No text from which a key or an address could be found. */
export interface RejectedCaller {
  readonly accountId: string | null;
  readonly userId: string | null;
  /** The API key, also if it is revoked or expired; null without a key, and for an unknown one. */
  readonly keyId: string | null;
  /** The team of the API key; null for none. */
  readonly teamId: string | null;
  /** A keyed hash of a key that the gateway does not know. */
  readonly keyFingerprint: string | null;
  /** A keyed hash of the client's address. */
  readonly addressHash: string | null;
}

/** A request that was rejected before it became a generation, or several of them that are counted together. */
export interface Rejection extends RejectionReason, RejectedCaller {
  /** The id of the request; of the last one if there are several. */
  readonly id: string;
  /** When it arrived. Milliseconds since the epoch. */
  readonly at: number;
  /** Null for a path or method that no client API has. */
  readonly api: ClientApi | null;
  readonly method: string | null;
  readonly path: string | null;
  /** The model as the client sent it. */
  readonly model: string | null;
  readonly client: ClientFamily | null;
  readonly clientVersion: string | null;
  /** The beginning of the `User-Agent`. */
  readonly userAgent: string | null;
  /** How many requests this row stands for. If several, a field is null in which they differ. */
  readonly count: number;
}

/** How lists name the outcome of a rejected request, beside the outcomes of generations. */
export const REJECTED = "rejected";

/** The maximum lengths of texts that a caller chooses. Characters. */
export const REJECTION_CHARS = { message: 500, path: 200, model: 200, field: 120, userAgent: 160 } as const;

/** Returns the beginning of a text from outside, without characters that a terminal or a database interprets. */
export function clipText(text: string, chars: number): string {
  const clean = text.toWellFormed().replace(/\p{Cc}/gu, "\ufffd");
  return clean.length <= chars ? clean : `${clean.slice(0, chars - 1).toWellFormed()}…`;
}

/** Returns a row for one more request like those of a row: their number, the last id and time, and what all have in common. */
export function addToSum(sum: Rejection, next: Rejection): Rejection {
  const common: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(next))
    common[name] = sum[name as keyof Rejection] === value ? value : null;
  const { id, at } = next;
  return { ...(common as unknown as Rejection), id, at, count: sum.count + next.count };
}
