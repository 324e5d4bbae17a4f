import type { RunningGateway } from "../lifecycle.ts";
import type { ProcessMetrics } from "../process-group.ts";

/** What a gateway process reports to its supervisor once it listens. */
export interface ProcessStarted {
  readonly kind: "started";
  readonly url: string;
  readonly notices: readonly string[];
  readonly exampleModel: string | null;
  /** The keys that this start has created, in plain text; null if none. */
  readonly keys: Keys | null;
}

type Keys = Pick<NonNullable<RunningGateway["firstStart"]>, "managementKey" | "inferenceKey">;

/** A message of a gateway process to its supervisor. */
export type FromProcess =
  | ProcessStarted
  /** Answers `keysShown`. */
  | { readonly kind: "keysConfirmed" }
  /** Asks for the metrics of the other processes. The answer has the same `id`. */
  | { readonly kind: "readOthers"; readonly id: number }
  /** Answers `readMetrics`. */
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: ProcessMetrics };

/** A message of the supervisor to a gateway process. */
export type ToProcess =
  /** Its keys were shown. */
  | { readonly kind: "keysShown" }
  /** Asks for its metrics. */
  | { readonly kind: "readMetrics"; readonly id: number }
  /** Answers `readOthers`. */
  | { readonly kind: "others"; readonly id: number; readonly others: readonly ProcessMetrics[] };

/** Returns the report of a gateway that listens. */
export function reportStart({ url, notices, exampleModel, firstStart }: RunningGateway): ProcessStarted {
  const keys = firstStart && {
    managementKey: firstStart.managementKey,
    inferenceKey: firstStart.inferenceKey,
  };
  return { kind: "started", url, notices, exampleModel, keys };
}
