import type { SignInPreview } from "./preview-sign-in.ts";
import type { SeenClaim } from "./show-claims.ts";

/** How a trial has ended. */
export interface OidcTrialOutcome {
  /** Why the person would not be signed in; null if they would be. */
  readonly problem: { readonly message: string; readonly detail: string } | null;
  /** The `sub` of the person; null if the provider sent no valid ID token. */
  readonly subject: string | null;
  /** The rights that the person would get; null if they would not be signed in. */
  readonly rights: SignInPreview | null;
  /** What the provider sent of the claims that rules name. */
  readonly claims: readonly SeenClaim[];
}

/** A trial sign-in of an operator with settings that are not in force. */
export interface OidcTrial {
  /** `trial_…` */
  readonly id: string;
  /** SHA-256 of the `state` of the sign-in, hex. */
  readonly stateHash: string;
  /** `hashOidcConfig` of the settings. */
  readonly configHash: string;
  /** The console session that began the trial, and its key. */
  readonly sessionId: string;
  readonly keyId: string;
  /** The settings and the checks of the sign-in, encrypted; null once the trial has ended. */
  readonly sealed: string | null;
  /** Null while the person is at the provider. */
  readonly outcome: OidcTrialOutcome | null;
  /** 1 if the person would be signed in, otherwise 0. */
  readonly succeeded: number;
  /** When the trial is forgotten. Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** A trial that has ended. */
export interface EndedTrial extends OidcTrial {
  readonly outcome: OidcTrialOutcome;
}

/** The maximum number of trials that are stored. Another one deletes the oldest. */
export const MAX_TRIALS = 100;

/** Stores trial sign-ins. Several processes may share one. Times are milliseconds since the epoch. */
export interface OidcTrialStore {
  /** Inserts a trial. Deletes those that have expired by `now`, and the oldest above `MAX_TRIALS`. */
  insertTrial(trial: OidcTrial, now: number): Promise<void>;
  /** Returns a trial, even if it has expired and is not deleted yet. */
  findTrial(id: string): Promise<OidcTrial | null>;
  findTrialByState(stateHash: string): Promise<OidcTrial | null>;
  /** Ends a trial, and deletes its settings. Returns false if it has ended already. */
  endTrial(end: EndedTrial): Promise<boolean>;
  /** Returns whether a trial with these settings has succeeded and has not expired. */
  hasSucceeded(configHash: string, now: number): Promise<boolean>;
}
