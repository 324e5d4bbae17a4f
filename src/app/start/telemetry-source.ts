import type { Log } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import type { Config } from "../config/config-schema.ts";
import type { LiveConfig } from "../config/live-config.ts";
import type { ProcessGroup } from "../watch/process-group.ts";

/** The receiver of the results of ledger checks, besides metrics. */
export interface LedgerAlarm {
  /** Returns whether the checks are needed under a configuration even without metrics. */
  isWanted(config: Config): boolean;
  /** Called with the number of inconsistencies that a check has found. */
  onChecked(differences: number): void;
}

/** The inputs of telemetry. */
export interface TelemetrySource {
  readonly live: LiveConfig;
  readonly platform: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly processes?: ProcessGroup;
  };
  readonly gatewayId: string;
  readonly serving: () => Serving;
  readonly ledgerAlarm: LedgerAlarm;
}
