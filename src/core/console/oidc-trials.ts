import { sha256 } from "../../base/secrets/hash.ts";
import type { IdSource } from "../../base/secrets/ids.ts";
import type { Clock } from "../../base/time/clock.ts";
import { MINUTE_MS } from "../../base/time/time.ts";
import { type ConsoleSession, isLiveSession } from "./console-session.ts";
import type { ConsoleSessionStore } from "./console-session-store.ts";
import type { IdentitySignIn } from "./identity-sign-in.ts";
import {
  authenticatedAtOf,
  type OidcChecks,
  type OidcClaims,
  OidcError,
  type OidcProvider,
  requireSignedInAgain,
} from "./oidc-provider.ts";
import type { OidcConfig } from "./oidc-schema.ts";
import type { EndedTrial, OidcTrial, OidcTrialOutcome, OidcTrialStore } from "./oidc-trial-store.ts";
import { previewSignIn } from "./preview-sign-in.ts";
import { showClaims } from "./show-claims.ts";

/** Encrypts the settings of a trial. A ciphertext cannot be decrypted for another trial. */
export interface TrialCipher {
  seal(text: string, trialId: string): string;
  /** Returns null for a ciphertext of another trial, or one whose key is gone. */
  open(sealed: string, trialId: string): string | null;
}

/** The dependencies of trials. */
interface OidcTrialParts extends Pick<IdentitySignIn, "identities" | "stores"> {
  readonly trials: OidcTrialStore;
  readonly sessions: Pick<ConsoleSessionStore, "findSession">;
  readonly cipher: TrialCipher;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Returns a connection to the provider of some settings. */
  readonly connect: (config: OidcConfig) => OidcProvider;
}

/** The beginning of a trial. */
interface TrialStart {
  readonly config: OidcConfig;
  readonly redirectUri: string;
  readonly session: Pick<ConsoleSession, "id" | "keyId">;
}

/** What is encrypted while the person is at the provider. */
interface TrialSecrets {
  readonly config: OidcConfig;
  readonly checks: OidcChecks;
}

/** How long a person may take to sign in at the provider. Milliseconds. */
export const TRIAL_MS = 10 * MINUTE_MS;
/** How long the outcome of a trial is remembered. Milliseconds. */
const OUTCOME_MS = 15 * MINUTE_MS;

/**
 * Trial sign-ins with settings of OpenID Connect that are not in force. A trial runs the whole sign-in, and changes nothing. Its success is
 * remembered, so that these settings can be required to have worked once before they replace others.
 */
export class OidcTrials {
  constructor(private readonly parts: OidcTrialParts) {}

  /**
   * Begins a trial. Returns it with the address to send the browser to, and the state that the browser must bring back.
   * @throws OidcError if the provider cannot be reached.
   */
  async begin({ config, redirectUri, session }: TrialStart) {
    const { trials, cipher, clock, ids, connect } = this.parts;
    const { url, checks } = await connect(config).begin({ redirectUri, again: true });
    const id = ids.next("trial");
    const now = clock.now();
    const secrets: TrialSecrets = { config, checks };
    const trial: OidcTrial = {
      id,
      stateHash: sha256(checks.state, "hex"),
      configHash: hashOidcConfig(config),
      sessionId: session.id,
      keyId: session.keyId,
      sealed: cipher.seal(JSON.stringify(secrets), id),
      outcome: null,
      succeeded: 0,
      expiresAt: now + TRIAL_MS,
    };
    await trials.insertTrial(trial, now);
    return { trial, url, state: checks.state };
  }

  /**
   * Completes the trial of a state. Returns null if there is none that still runs. `currentUrl` is the address that the browser was
   * redirected to, with its query.
   */
  async complete(state: string, currentUrl: URL): Promise<EndedTrial | null> {
    const { trials, clock } = this.parts;
    const trial = await trials.findTrialByState(sha256(state, "hex"));
    const secrets = trial === null ? null : this.open(trial);
    if (trial === null || secrets === null || !(await this.isRunning(trial))) return null;
    const outcome = await this.run(secrets, currentUrl);
    const succeeded = outcome.problem === null ? 1 : 0;
    const ended = { ...trial, sealed: null, outcome, succeeded, expiresAt: clock.now() + OUTCOME_MS };
    return (await trials.endTrial(ended)) ? ended : null;
  }

  /** Returns a trial that has not expired. */
  async find(id: string): Promise<OidcTrial | null> {
    const trial = await this.parts.trials.findTrial(id);
    return trial !== null && trial.expiresAt > this.parts.clock.now() ? trial : null;
  }

  /** Returns whether a trial with exactly these settings has succeeded in the last 15 minutes. */
  hasSucceeded(configHash: string): Promise<boolean> {
    return this.parts.trials.hasSucceeded(configHash, this.parts.clock.now());
  }

  private open({ id, sealed }: OidcTrial): TrialSecrets | null {
    const text = sealed === null ? null : this.parts.cipher.open(sealed, id);
    return text === null ? null : (JSON.parse(text) as TrialSecrets);
  }

  /** A trial ends with the session that has begun it. */
  private async isRunning({ expiresAt, sessionId }: OidcTrial): Promise<boolean> {
    const { sessions, clock } = this.parts;
    const now = clock.now();
    if (expiresAt <= now) return false;
    const session = await sessions.findSession(sessionId);
    return session !== null && isLiveSession(session, now);
  }

  private async run({ config, checks }: TrialSecrets, currentUrl: URL): Promise<OidcTrialOutcome> {
    const { clock, connect, identities, stores } = this.parts;
    let claims: OidcClaims | null = null;
    try {
      claims = await connect(config).complete(currentUrl, checks);
      const now = clock.now();
      requireSignedInAgain(authenticatedAtOf(claims, now), config.reauthenticate_ms, now);
      const { rules, create_users: createsUsers } = config;
      const rights = await previewSignIn({ identities, stores, rules, createsUsers }, claims);
      return { problem: null, rights, ...describeClaims(config, claims) };
    } catch (error) {
      if (!(error instanceof OidcError)) throw error;
      const problem = { message: error.message, detail: error.internal };
      return { problem, rights: null, ...describeClaims(config, claims) };
    }
  }
}

function describeClaims({ rules }: OidcConfig, claims: OidcClaims | null) {
  if (claims === null) return { subject: null, claims: [] };
  const names = [...new Set(rules.map(({ claim }) => claim))];
  return { subject: claims.sub, claims: showClaims(claims, names) };
}

/** Returns a hash of settings, the same for equal settings in any order. Any other setting has another hash, also another secret. */
export function hashOidcConfig(config: OidcConfig): string {
  return sha256(JSON.stringify(sortMembers(config)), "hex");
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sortMembers(member)]));
}
