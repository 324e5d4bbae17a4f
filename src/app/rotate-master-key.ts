import { LeaseTakenError, withLease } from "../base/lease.ts";
import type { Random } from "../base/random.ts";
import type { ProviderKeyRecord } from "../core/provider-keys/records.ts";
import { type Rotation, rotateSecrets } from "../core/provider-keys/rotate-secrets.ts";
import { createVault } from "../core/provider-keys/vault.ts";
import type { Config } from "./config-schema.ts";
import { type MasterKeys, openMasterKeys } from "./open-master-keys.ts";
import type { Stores } from "./open-stores.ts";
import { isSealedOtherwise, requireSameSealing } from "./sealing-gateway.ts";

/** What a rotation has come to, and under which master key everything is now. */
export interface MasterRotation extends Rotation<ProviderKeyRecord> {
  readonly masterKeyId: string;
  /** It was made just now. */
  readonly isNew: boolean;
  /** The data directory's file, where nothing needs it any more; else null. */
  readonly idleFile: string | null;
}

/**
 * Seals all secrets under the newest master key. Where the gateway makes its master keys itself, another one is made first,
 * unless an earlier rotation was broken off, which then goes on. A gateway may run on the data directory.
 * @throws Error while another rotation runs, or where a gateway runs that seals with another master key; ConfigError.
 */
export async function rotateMasterKey(
  config: Config,
  stores: SealingStores,
  random: Random,
): Promise<MasterRotation | null> {
  const { leases, clock, ids } = stores;
  const request = { name: "rotation", owner: ids.next("command"), durationMs: LEASE_MS };
  const work = () => rotate(config, stores, random);
  return withLease({ leases, clock, request, work }).catch((error) => {
    if (!(error instanceof LeaseTakenError)) throw error;
    throw new Error(`another rotation is running on ${stores.location}; wait for its end`);
  });
}

/** How long a rotation has the lease after its process has died, at most. Milliseconds. */
const LEASE_MS = 60_000;

async function rotate(config: Config, stores: SealingStores, random: Random): Promise<MasterRotation | null> {
  const masters = openMasterKeys(config, random);
  await requireSameSealing(stores, masters);
  const inUse = await listMasterKeysInUse(stores);
  if (inUse.length === 0) return null;
  const before = masters.newest();
  const isBegun = inUse.some((id) => id !== before.id);
  // The newest is kept: a gateway that runs may just be sealing with it.
  const isNew = masters.configuredId === null && !isBegun;
  const newest = isNew ? masters.generate(new Set([...inUse, before.id])) : before;
  const vault = createVault(masters, random);
  const rotation = await rotateSecrets(stores.providerKeys, vault, newest);
  // Entries that cannot be opened are not reported: they expire.
  await rotateSecrets(stores.promptLog, vault, newest);
  const idleFile = (await isFileIdle(config, stores, masters)) ? masters.file : null;
  return { ...rotation, masterKeyId: newest.id, isNew, idleFile };
}

/**
 * Whether the data directory's file has master keys that nothing needs any more: all secrets are sealed under the configured
 * one, also those that another process has stored meanwhile, and no gateway is running that seals with another.
 */
async function isFileIdle(config: Config, stores: SealingStores, masters: MasterKeys): Promise<boolean> {
  const { configuredId } = masters;
  if (configuredId === null || masters.list().length === config.secrets.keys.length) return false;
  if (await isSealedOtherwise(stores, masters)) return false;
  return (await listMasterKeysInUse(stores)).every((id) => id === configuredId);
}

type SealingStores = Pick<
  Stores,
  "providerKeys" | "promptLog" | "settings" | "leases" | "isGatewayRunning" | "location" | "clock" | "ids"
>;

async function listMasterKeysInUse({
  providerKeys,
  promptLog,
}: Pick<SealingStores, "providerKeys" | "promptLog">): Promise<readonly string[]> {
  const inUse = [providerKeys.listMasterKeysInUse(), promptLog.listMasterKeysInUse()];
  return [...new Set((await Promise.all(inUse)).flat())];
}
