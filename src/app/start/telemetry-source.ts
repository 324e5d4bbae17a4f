import type { Log } from "../../base/failures/log.ts";
import type { Random } from "../../base/secrets/random.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import type { Config } from "../config/config-schema.ts";
import type { ProcessGroup } from "../watch/process-group.ts";

/** The inputs of telemetry. */
export interface TelemetrySource {
  readonly config: Config;
  readonly platform: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly processes?: ProcessGroup;
  };
  readonly gatewayId: string;
  readonly serving: () => Serving;
  /** Called with the number of inconsistencies that a ledger check has found; null if only metrics report them. */
  readonly onLedgerChecked: ((differences: number) => void) | null;
}
