import type { Rejection } from "./rejection.ts";

/** Which rejections are meant. Null: any. */
export interface RejectionFilter {
  readonly accountId: string | null;
  readonly userId: string | null;
  readonly keyId: string | null;
  readonly teamId: string | null;
  readonly keyFingerprint: string | null;
  readonly code: string | null;
  readonly status: number | null;
  readonly model: string | null;
  readonly client: string | null;
  /** The first time of the requests, in milliseconds since the epoch. */
  readonly fromMs: number | null;
  /** The time before which the requests came. */
  readonly toMs: number | null;
}

/** The filter that every rejection matches. */
export const ANY_REJECTION: RejectionFilter = {
  accountId: null,
  userId: null,
  keyId: null,
  teamId: null,
  keyFingerprint: null,
  code: null,
  status: null,
  model: null,
  client: null,
  fromMs: null,
  toMs: null,
};

/** A page of rejections. */
export interface RejectionQuery extends RejectionFilter {
  /** The id after which the page begins; null: the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** How many rows are kept. Callers without a known key can displace only rows of each other. */
export interface RejectionBounds {
  readonly known: number;
  readonly unknown: number;
}

/** Where rejected requests are stored. Several processes may share one. */
export interface RejectionStore {
  /** Adds rows, all of them or none. Existing rows are kept. */
  addRejections(rows: readonly Rejection[]): Promise<void>;
  /** Returns the row with the id of a request; null if there is none. */
  findRejection(id: string): Promise<Rejection | null>;
  /** Lists rows, the newest first. */
  listRejections(query: RejectionQuery): Promise<readonly Rejection[]>;
  /** Deletes rows of requests before a time, at most `limit`, and returns how many it deleted. */
  deleteRejectionsBefore(ms: number, limit: number): Promise<number>;
  /** Deletes the oldest rows over the bounds, at most `limit` of each kind, and returns how many it deleted. */
  deleteExcessRejections(bounds: RejectionBounds, limit: number): Promise<number>;
}

/** Returns whether a rejection matches a filter. */
export function matchesRejection(rejection: Rejection, filter: RejectionFilter): boolean {
  const { fromMs, toMs, ...values } = filter;
  if ((fromMs !== null && rejection.at < fromMs) || (toMs !== null && rejection.at >= toMs)) return false;
  return (Object.keys(values) as (keyof typeof values)[]).every(
    (name) => filter[name] === null || filter[name] === rejection[name],
  );
}
