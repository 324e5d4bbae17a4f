import type { GatewayConfig } from "../../../src/core/gateways/gateway-config.ts";

/** What a gateway reports that has no configuration file. */
export const NO_CONFIG: GatewayConfig = { fileDigest: "", revision: 0, problem: null, pinned: [] };
