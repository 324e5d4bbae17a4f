import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { type Clock, systemClock } from "../../src/base/time/clock.ts";
import {
  createMasterKey,
  createVault,
  type MasterKey,
  readMasterKey,
  type Vault,
} from "../../src/core/provider-keys/vault.ts";
import { ResponseObjects } from "../../src/core/response-objects/response-objects.ts";
import { createMemoryLog } from "./gateway/gateway.ts";

const random = createSystemRandom();

/** Returns a new master key. */
export function makeMasterKey(): MasterKey {
  return readMasterKey(createMasterKey(random)) as MasterKey;
}

/** Returns a vault that seals with the first of some master keys, and opens with each. */
export function vaultOf(...keys: readonly [MasterKey, ...MasterKey[]]): Vault {
  return createVault({ list: () => keys, reload() {}, newest: () => keys[0] }, random);
}

/** Opens the kept responses of a store, as a gateway has them. */
export function openResponses(
  stores: Pick<Stores, "responses" | "ids">,
  { vault, gatewayId, clock = systemClock }: { vault: Vault; gatewayId: string; clock?: Clock },
) {
  const { log, lines } = createMemoryLog();
  const responses = new ResponseObjects({
    ...{ store: stores.responses, ids: stores.ids, vault, random, clock, log, gatewayId },
    settings: () => ({
      ...{ storesByDefault: false, compactsNatively: true, retentionMs: 86_400_000 },
      ...{ accountBytes: 1e9, chainBytes: 1e7, backgroundMs: 3_600_000 },
    }),
  });
  return { responses, lines };
}

/** A memory that has room for everything. */
export const ENDLESS = { take() {}, giveBack() {} };
