import { hostname } from "node:os";
import { resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import type { Clock } from "../../base/time/clock.ts";
import type { GatewayConfig } from "../../core/gateways/gateway-config.ts";
import type { GatewayIdentity, GatewayReplacedError } from "../../core/gateways/gateway-identity.ts";
import {
  type GatewayRegistry,
  type LiveGateways,
  SOLE_GATEWAY,
} from "../../core/gateways/gateway-registry.ts";
import { Membership } from "../../core/gateways/membership.ts";
import { TaskLeader } from "../../core/gateways/task-leader.ts";
import type { MasterKeys } from "../stores/open-master-keys.ts";
import { recordSealingKey, requireCommonKeys, requireMasterKey } from "../stores/sealing-gateway.ts";
import type { Stores } from "../stores/stores.ts";

/** A gateway's place among those that share its stores. */
export interface JoinedGateways {
  readonly identity: GatewayIdentity;
  /** Returns the live gateways; null while others may not have counted this one. */
  liveGateways(): LiveGateways | null;
  /** Returns whether this gateway is the leading one, which performs tasks for all. Rejects with a `StoreError` if the store is unavailable. */
  isLeader(): Promise<boolean>;
  /** Checks a failure of a store: it may mean that this gateway was replaced. */
  noticeFailure(error: unknown): void;
  /** Resolves if another process has taken this gateway over. This process must end, and can save nothing any more. */
  readonly replaced: Promise<GatewayReplacedError>;
  /** Ends the membership of a gateway that stops. `isSaved`: the store has everything that it did. Never rejects. */
  leave(isSaved: boolean): Promise<void>;
}

/** The dependencies of joining. */
interface JoiningGateway {
  readonly stores: Stores;
  readonly clock: Clock;
  /** The id of its data directory, which it has locked. */
  readonly id: string;
  readonly dataDir: string;
  readonly masters: MasterKeys;
  /** Returns what the gateway reports of its configuration, for stores that several share. */
  describeConfig(): GatewayConfig;
}

/**
 * Joins the gateways that share the stores: registers this one, and renews its registration from now on. On the stores of a single gateway
 * it only records the master key.
 * @throws ConfigError if the other gateways have other master keys.
 */
export async function joinGateways(joining: JoiningGateway): Promise<JoinedGateways> {
  const { stores, masters, id } = joining;
  await recordSealingKey(stores, masters);
  if (!stores.isShared) return joinNone(await stores.gateways.register(describe(joining)));
  await requireOwnId(joining);
  await requireMasterKey(stores, masters);
  const identity = await stores.gateways.register(describe(joining));
  await requireCommonKeys(stores, id, masters).catch(async (error) => {
    await stores.gateways.end(identity);
    throw error;
  });
  stores.actAs(identity);
  return joinOthers(joining, identity);
}

/**
 * Makes sure that a data directory and a copy of it do not run at the same time: both would spend the same leases.
 * @throws Error if a gateway with this id is live elsewhere.
 */
async function requireOwnId(joining: JoiningGateway): Promise<void> {
  const own = describe(joining);
  const registered = (await joining.stores.gateways.list()).find(({ id }) => id === own.id);
  if (registered === undefined || !registered.isLive) return;
  const { id, host, dataDir } = registered;
  if (host === own.host && dataDir === own.dataDir) return;
  throw new Error(
    `the gateway ${id} of the data directory ${own.dataDir} was seen in the last 30 seconds on ${host} with ${dataDir}. If this is a copy of that directory, remove lock.db and the journal from it. If the directory was moved, wait until 30 seconds have passed.`,
  );
}

function describe({ id, dataDir, masters, describeConfig }: JoiningGateway) {
  return {
    id,
    host: hostname(),
    version: packageJson.version,
    dataDir: resolve(dataDir),
    masterKeys: masters.list().map((master) => master.id),
    get config() {
      return describeConfig();
    },
  };
}

function joinNone(identity: GatewayIdentity): JoinedGateways {
  return {
    identity,
    liveGateways: () => SOLE_GATEWAY,
    isLeader: async () => true,
    noticeFailure() {},
    replaced: new Promise(() => {}),
    async leave() {},
  };
}

/** The name of the tasks that the leading gateway performs for all: sweeps of expired data. */
const SWEEPS = "sweeps";

async function joinOthers(
  { stores, clock }: JoiningGateway,
  identity: GatewayIdentity,
): Promise<JoinedGateways> {
  const { gateways, leases } = stores;
  const replaced = Promise.withResolvers<GatewayReplacedError>();
  const membership = new Membership({ registry: gateways, identity, clock, onReplaced: replaced.resolve });
  const leader = new TaskLeader({ leases, clock, name: SWEEPS, owner: identity.id });
  // Before the first request, because without it the gateway has no share of the rate limits.
  await membership.renew();
  return {
    identity,
    liveGateways: () => membership.liveGateways(),
    isLeader: () => leader.isLeader(),
    noticeFailure: (error) => membership.noticeFailure(error),
    replaced: replaced.promise,
    async leave(isSaved) {
      membership.stop();
      // Both end by their time if the store is unavailable.
      await leader.resign().catch(() => {});
      if (isSaved) await end(gateways, identity).catch(() => {});
    },
  };
}

/** Gives the leases of the gateway back, so that the others can spend the money, and removes its registration. */
async function end(gateways: GatewayRegistry, identity: GatewayIdentity): Promise<void> {
  while ((await gateways.releaseLeases(identity)) !== null) {
    // Each call releases the leases of some accounts.
  }
  await gateways.end(identity);
}
