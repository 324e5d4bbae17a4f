import type { GatewayConfig } from "./gateway-config.ts";
import type { GatewayIdentity } from "./gateway-identity.ts";

/** How often a gateway renews its row. Milliseconds. */
export const RENEWAL_MS = 5_000;
/** How long a gateway counts as live after its last renewal, by the clock of the store. Milliseconds. */
export const GATEWAY_LEASE_MS = 30_000;

/** A gateway's description of itself when it starts. */
export interface GatewayDescription {
  readonly id: string;
  /** The name of its machine. */
  readonly host: string;
  /** The version of the program. */
  readonly version: string;
  /** The absolute path of its data directory, which contains its journal. */
  readonly dataDir: string;
  /** The ids of the master keys that it has. The first encrypts. */
  readonly masterKeys: readonly string[];
  /** What it reports of its configuration. */
  readonly config: GatewayConfig;
}

/** The live gateways as one of them sees them. They decide its share of a limit that has no common counter. */
export interface LiveGateways {
  /** How many there are, including this one. */
  readonly count: number;
  /** The index of this one in the order of their ids, from 0 on. */
  readonly rank: number;
}

/** A gateway that runs alone. */
export const SOLE_GATEWAY: LiveGateways = { count: 1, rank: 0 };

/** A gateway as the registry lists it. Times are milliseconds since the epoch, by the clock of the store. */
export interface RegisteredGateway extends Omit<GatewayDescription, "config">, GatewayIdentity {
  /** Null for a gateway of an earlier version, which does not read the stored configuration. */
  readonly config: GatewayConfig | null;
  /** Whether its registration has not expired. A gateway that is not live may be disconnected from the store, paused or dead. */
  readonly isLive: boolean;
  readonly startedAt: number;
  /** When it renewed its row for the last time. */
  readonly seenAt: number;
  readonly endsAt: number;
  /** The id of the Redis server that it uses; null if it uses none, has not reached it, or is of an earlier version. */
  readonly redisId: string | null;
  /** The amount that it has leased of balances, less its saved costs. Nanodollars. */
  readonly leased: number;
}

/** What a gateway had leased of one balance or spending limit, now released. */
export interface ReleasedLease {
  readonly accountId: string;
  /** The name of the spending limit; null for the balance. */
  readonly limit: string | null;
  /** Nanodollars. */
  readonly amount: number;
}

/** The gateways that share a store. Rejects with a `StoreError` if the store is unavailable. */
export interface GatewayRegistry {
  /** Registers a gateway at its start. Replaces an earlier registration of the same id, and ends its epoch. */
  register(gateway: GatewayDescription): Promise<GatewayIdentity>;
  /**
   * Makes a gateway count as live for `GATEWAY_LEASE_MS` from now. Returns null until every other live gateway has renewed since it
   * started: they may not have counted it. Rejects with a `GatewayReplacedError` if the epoch is not current.
   */
  renew(identity: GatewayIdentity): Promise<LiveGateways | null>;
  /** Records the id of the Redis server that a gateway uses. No-op if the epoch is not current. */
  putRedisId(identity: GatewayIdentity, redisId: string): Promise<void>;
  /** Records what a gateway reports of its configuration. No-op if the epoch is not current. */
  putConfig(identity: GatewayIdentity, config: GatewayConfig): Promise<void>;
  /**
   * Removes a gateway that has stopped and saved everything. A gateway that still has leases is kept as not live. No-op if the epoch is not
   * current.
   */
  end(identity: GatewayIdentity): Promise<void>;
  /** Returns all gateways that have not ended, by id. */
  list(): Promise<readonly RegisteredGateway[]>;
  /**
   * Ends the epoch of a gateway that is not live, so that its process can write nothing any more. Returns the identity under which the
   * caller saves the records that it left. Returns null if the gateway is live or that epoch is not current.
   */
  takeOver(gone: GatewayIdentity): Promise<GatewayIdentity | null>;
  /**
   * Gives leases of a gateway back to the balances and limits, for some accounts in each call, and returns them; null when there are no
   * more. Call it only after everything that the gateway spent is saved. Rejects with a `GatewayReplacedError` if the epoch is not current.
   */
  releaseLeases(identity: GatewayIdentity): Promise<readonly ReleasedLease[] | null>;
}
