import type { ConfigReload, ReloadOptions } from "../../core/settings/config-reload.ts";
import type { ConfigProblem } from "../config/config-error.ts";
import type { RunningGateway } from "../run/lifecycle.ts";
import type { ProcessMetrics } from "../watch/process-group.ts";

/** The report of a gateway process to its supervisor when it listens. */
export interface ProcessStarted {
  readonly kind: "started";
  readonly url: string;
  readonly notices: readonly string[];
  readonly exampleModel: string | null;
  /** The keys that this start has created, in plain text; null if none. */
  readonly keys: Keys | null;
}

type Keys = Pick<NonNullable<RunningGateway["firstStart"]>, "managementKey" | "inferenceKey">;

/** A step of a reload of the configuration, which the supervisor asks all processes for: they apply it when all are prepared. */
export type ReloadStep =
  | { readonly step: "prepare" }
  /** `isOnSignal`: no request has asked for the reload, so that this process writes the entry of the audit log. */
  | { readonly step: "commit"; readonly isOnSignal: boolean }
  | { readonly step: "abort" };

/** The answer of a process to a step of a reload. */
export type ReloadAnswer =
  | { readonly kind: "prepared"; readonly digest: string; readonly changes: ConfigReload["changes"] }
  | { readonly kind: "done" }
  | { readonly kind: "rejected"; readonly rejection: ReloadRejection };

/** Why a configuration was not reloaded. */
export interface ReloadRejection {
  /** The problems, one on each line. */
  readonly message: string;
  /** The problems of the configuration; absent if the reason is another one. */
  readonly problems?: readonly ConfigProblem[];
}

/** The outcome of a reload that a process has asked for. */
export type ReloadOutcome =
  | { readonly kind: "reloaded"; readonly reload: ConfigReload }
  | { readonly kind: "rejected"; readonly rejection: ReloadRejection };

/** A message of a gateway process to its supervisor. */
export type FromProcess =
  | ProcessStarted
  /** Answers `keysShown`. */
  | { readonly kind: "keysConfirmed" }
  /** Asks for the metrics of the other processes. The answer has the same `id`. */
  | { readonly kind: "readOthers"; readonly id: number }
  /** Answers `readMetrics`. */
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: ProcessMetrics }
  /** Answers `reloadStep`. */
  | { readonly kind: "reloadAnswer"; readonly id: number; readonly answer: ReloadAnswer }
  /** Asks the supervisor to reload the configuration of all processes. `reloadOutcome` has the same `id`. */
  | { readonly kind: "reloadWanted"; readonly id: number; readonly options: ReloadOptions };

/** A message of the supervisor to a gateway process. */
export type ToProcess =
  /** Its keys were shown. */
  | { readonly kind: "keysShown" }
  /** Asks for its metrics. */
  | { readonly kind: "readMetrics"; readonly id: number }
  /** Answers `readOthers`. */
  | { readonly kind: "others"; readonly id: number; readonly others: readonly ProcessMetrics[] }
  | { readonly kind: "reloadStep"; readonly id: number; readonly step: ReloadStep }
  | { readonly kind: "reloadOutcome"; readonly id: number; readonly outcome: ReloadOutcome };

/** Returns the report of a gateway that listens. */
export function reportStart({ url, notices, exampleModel, firstStart }: RunningGateway): ProcessStarted {
  const keys = firstStart && {
    managementKey: firstStart.managementKey,
    inferenceKey: firstStart.inferenceKey,
  };
  return { kind: "started", url, notices, exampleModel, keys };
}
