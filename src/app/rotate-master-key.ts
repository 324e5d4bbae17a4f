import type { Random } from "../base/random.ts";
import type { ProviderKeyStore } from "../core/ports/provider-key-store.ts";
import { type Rotation, rotateSecrets } from "../core/provider-keys/rotate-secrets.ts";
import { createVault } from "../core/provider-keys/vault.ts";
import { lockRotation } from "../storage/sqlite/data-lock.ts";
import type { Config } from "./config-schema.ts";
import { openMasterKeys } from "./open-master-keys.ts";

/** What a rotation has come to, and under which master key everything is now. */
export interface MasterRotation extends Rotation {
  readonly masterKeyId: string;
  /** It was made just now. */
  readonly isNew: boolean;
  /** The data directory's file, where nothing needs it any more; else null. */
  readonly idleFile: string | null;
}

/**
 * Seals all secrets under the newest master key. Where the gateway makes its master keys itself, another one is made first,
 * unless an earlier rotation was broken off, which then goes on. A gateway may run on the data directory.
 * @throws Error while another rotation runs; ConfigError.
 */
export async function rotateMasterKey(
  config: Config,
  store: ProviderKeyStore,
  random: Random,
): Promise<MasterRotation | null> {
  const lock = lockRotation(config.data_dir);
  try {
    const masters = openMasterKeys(config, random);
    const inUse = await store.listMasterKeysInUse();
    if (inUse.length === 0) return null;
    const before = masters.newest();
    const isBegun = inUse.some((id) => id !== before.id);
    // The newest stays beside the next: a gateway that runs may just be sealing with it.
    const isNew = masters.isGenerated && !isBegun;
    const newest = isNew ? masters.generate(new Set([...inUse, before.id])) : before;
    const rotation = await rotateSecrets(store, createVault(masters, random), newest);
    const needsFile = masters.isGenerated || rotation.unreadable.length > 0;
    const hasFile = masters.list().length > config.secrets.keys.length;
    const idleFile = hasFile && !needsFile ? masters.file : null;
    return { ...rotation, masterKeyId: newest.id, isNew, idleFile };
  } finally {
    lock.release();
  }
}
