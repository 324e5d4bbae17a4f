import type { Log } from "../../../base/failures/log.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import type { ChainDeps } from "../chains/open-chain.ts";
import type { ResponseSettings } from "../records/response-settings.ts";

/** What keeping responses needs. */
export interface KeepDeps extends ChainDeps {
  readonly ids: IdSource;
  readonly log: Pick<Log, "warn">;
  readonly settings: () => ResponseSettings;
  /** The gateway that runs the response. */
  readonly gatewayId: string;
}
