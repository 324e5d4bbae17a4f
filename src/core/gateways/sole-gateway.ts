import { type GatewayRegistry, SOLE_SHARE } from "./gateway-registry.ts";

/** The registry of a store that only one gateway uses at a time: it stores nothing, because the data directory's lock says it all. */
export function createSoleRegistry(): GatewayRegistry {
  return {
    register: async ({ id }) => ({ id, epoch: 1 }),
    renew: async () => SOLE_SHARE,
    end: async () => {},
    list: async () => [],
    takeOver: async () => null,
    releaseLeases: async () => [],
  };
}
