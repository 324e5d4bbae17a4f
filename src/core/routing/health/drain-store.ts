/** A provider, or one of its model endpoints, that an operator has taken out of routing. Times are milliseconds since the epoch. */
export interface Drain {
  /** The slug of the provider. */
  readonly provider: string;
  /** The catalog id of the model; null for all models of the provider. */
  readonly model: string | null;
  readonly since: number;
  /** When it ends by itself; null if an operator ends it. */
  readonly until: number | null;
  /** The operator's reason; null if there is none. */
  readonly note: string | null;
}

/** The target of a drain: a provider, or one of its models. */
export type DrainTarget = Pick<Drain, "provider" | "model">;

/** Stores drains. Several processes may share one. */
export interface DrainStore {
  /** Returns a number that changes with every change of any drain by any process. */
  drainRevision(): Promise<number>;
  /** Returns all drains by provider and model, including those that have ended. */
  listDrains(): Promise<readonly Drain[]>;
  /** Adds or replaces the drain of a target. */
  putDrain(drain: Drain): Promise<void>;
  /** Returns false if there was no such drain. */
  deleteDrain(target: DrainTarget): Promise<boolean>;
}

/** The beginning of the names of the settings that contain drains; the target follows. */
export const DRAIN_SETTING = "drain ";

/** Returns the name under which a drain is stored. Slugs contain no spaces. */
export function drainNameOf({ provider, model }: DrainTarget): string {
  return model === null ? provider : `${provider} ${model}`;
}
