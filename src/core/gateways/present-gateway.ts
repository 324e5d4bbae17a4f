import { toDollars } from "../../base/numbers/money.ts";
import { formatTime } from "../../base/time/time.ts";
import type { RegisteredGateway } from "./gateway-registry.ts";

/** Returns a gateway as the API and the commands show it. */
export function presentGateway(gateway: RegisteredGateway) {
  return {
    id: gateway.id,
    state: gateway.isLive ? ("live" as const) : ("gone" as const),
    host: gateway.host,
    version: gateway.version,
    data_dir: gateway.dataDir,
    epoch: gateway.epoch,
    leased: toDollars(gateway.leased),
    started_at: formatTime(gateway.startedAt),
    seen_at: formatTime(gateway.seenAt),
  };
}
