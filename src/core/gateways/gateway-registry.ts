import type { GatewayIdentity } from "./gateway-identity.ts";

/** How often a gateway renews its row. Milliseconds. */
export const RENEWAL_MS = 5_000;
/** How long a gateway counts as live after its last renewal, by the clock of the store. Milliseconds. */
export const GATEWAY_LEASE_MS = 30_000;

/** What a gateway tells about itself when it starts. */
export interface GatewayDescription {
  readonly id: string;
  /** The name of its machine. */
  readonly host: string;
  /** The version of the program. */
  readonly version: string;
  /** The absolute path of its data directory, which contains its journal. */
  readonly dataDir: string;
}

/** Where a gateway stands among the live ones: what it may take of a limit that is not shared otherwise. */
export interface GatewayShare {
  /** The number of live gateways, at least 1. */
  readonly count: number;
  /** Its index among the live gateways, ordered by id: at least 0 and below `count`. */
  readonly rank: number;
}

/** A gateway that runs alone. */
export const SOLE_SHARE: GatewayShare = { count: 1, rank: 0 };

/** A gateway as the registry lists it. Times are milliseconds since the epoch, by the clock of the store. */
export interface RegisteredGateway extends GatewayDescription, GatewayIdentity {
  /** Whether its time is not over. One that is not live may be cut from the store, paused or dead. */
  readonly isLive: boolean;
  readonly startedAt: number;
  /** When it renewed its row for the last time. */
  readonly seenAt: number;
  readonly endsAt: number;
  /** What it has leased of balances and not saved as spent. Nanodollars. */
  readonly leased: number;
}

/** What a gateway had leased of one balance or spending limit, and what is free again. Nanodollars. */
export interface ReleasedLease {
  /** The account's id, or the name of the limit's meter. */
  readonly of: string;
  readonly amount: number;
}

/** The gateways that share a store. Rejects with a `StoreError` if the store is unavailable. */
export interface GatewayRegistry {
  /** Registers a gateway at its start, also over an earlier start of the same id, whose epoch ends with that. */
  register(gateway: GatewayDescription): Promise<GatewayIdentity>;
  /** Makes a gateway count as live for `GATEWAY_LEASE_MS` from now. Rejects with a `GatewayReplacedError` if the epoch is not current. */
  renew(identity: GatewayIdentity): Promise<GatewayShare>;
  /** Removes a gateway that has stopped and saved everything. One that still has leases stays, as not live. No-op if the epoch is not current. */
  end(identity: GatewayIdentity): Promise<void>;
  /** Returns all gateways that have not ended, by id. */
  list(): Promise<readonly RegisteredGateway[]>;
  /**
   * Ends the epoch of a gateway that is not live, so that its process can write nothing any more, and returns the identity under which
   * the caller saves what it left. Returns null if the gateway is live or that epoch is not current.
   */
  takeOver(gone: GatewayIdentity): Promise<GatewayIdentity | null>;
  /**
   * Gives the leases of a gateway back to the balances and limits, and returns them. Only after everything that it spent is saved.
   * Rejects with a `GatewayReplacedError` if the epoch is not current.
   */
  releaseLeases(identity: GatewayIdentity): Promise<readonly ReleasedLease[]>;
}
