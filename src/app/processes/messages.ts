import type { RunningGateway } from "../lifecycle.ts";

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

/** A message of a gateway process to its supervisor. `keysConfirmed` answers `keysShown`. */
export type FromProcess = ProcessStarted | { readonly kind: "keysConfirmed" };

/** A message of the supervisor to a gateway process: its keys were shown. */
export interface ToProcess {
  readonly kind: "keysShown";
}

/** Returns the report of a gateway that listens. */
export function reportStart({ url, notices, exampleModel, firstStart }: RunningGateway): ProcessStarted {
  const keys = firstStart && {
    managementKey: firstStart.managementKey,
    inferenceKey: firstStart.inferenceKey,
  };
  return { kind: "started", url, notices, exampleModel, keys };
}
