import { type GatewayRegistry, SOLE_GATEWAY } from "./gateway-registry.ts";

/** The registry of a store that only one gateway uses at a time. It stores nothing, because the lock of the data directory is enough. */
export function createSoleRegistry(): GatewayRegistry {
  return {
    register: async ({ id }) => ({ id, epoch: 1 }),
    renew: async () => SOLE_GATEWAY,
    putRedisId: async () => {},
    end: async () => {},
    list: async () => [],
    takeOver: async () => null,
    releaseLeases: async () => null,
  };
}
