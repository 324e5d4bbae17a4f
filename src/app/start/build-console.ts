import { parseDollars } from "../../base/numbers/money.ts";
import type { Clock } from "../../base/time/clock.ts";
import { HOUR_MS } from "../../base/time/time.ts";
import type { KeyCache } from "../../core/accounts/memory/key-cache.ts";
import { SESSION_MAX_MS } from "../../core/console/console-session.ts";
import { type ConsoleSessionParts, ConsoleSessions } from "../../core/console/console-sessions.ts";
import { FailedSignIns } from "../../core/console/failed-sign-ins.ts";
import type { IdentitySignIn } from "../../core/console/identity-sign-in.ts";
import type { OidcConfig } from "../../core/console/oidc-schema.ts";
import type { OidcTrialStore } from "../../core/console/oidc-trial-store.ts";
import { OidcTrials, type TrialCipher } from "../../core/console/oidc-trials.ts";
import { WindowCounter } from "../../core/console/window-counter.ts";
import type { SealedSecret } from "../../core/provider-keys/records.ts";
import type { Vault } from "../../core/provider-keys/vault.ts";
import type { ConsoleDeps } from "../../http/context/console-deps.ts";
import { findShippedConsole } from "../catalog/shipped-files.ts";
import type { Config } from "../config/config-schema.ts";
import { readOidcSecret } from "../config/read-settings.ts";
import { openConsole } from "../console/open-console.ts";
import { OpenIdClient } from "../console/openid-client.ts";
import { keep } from "./build-configured.ts";

/** How many keys of the playground one management key may create in an hour. */
const PLAYGROUND_KEYS = { max: 60, windowMs: HOUR_MS };

type SharedParts = Pick<IdentitySignIn, "identities" | "stores" | "accountCache">;
type ConsoleParts = Omit<ConsoleSessionParts, "keyCache"> &
  SharedParts & {
    readonly keyCache: KeyCache;
    readonly oidcTrials: OidcTrialStore;
    readonly vault: Vault;
  };

/**
 * Returns a function that builds the dependencies of the console's pages and endpoints for a configuration; null if the configuration
 * disables the console. Counters of attempts and keys are kept across calls.
 */
export function createConsoleBuilder(parts: ConsoleParts): (config: Config) => ConsoleDeps | null {
  const { clock, store, oidcTrials } = parts;
  const fixed = {
    sessions: new ConsoleSessions(parts),
    failedSignIns: new FailedSignIns(clock),
    trials: new OidcTrials({
      ...parts,
      trials: oidcTrials,
      sessions: store,
      cipher: createTrialCipher(parts.vault),
      connect: (config) => connectOidc(config, clock),
    }),
  };
  const created = new WindowCounter(parts.clock, PLAYGROUND_KEYS);
  const open = keep((dataDir: string, builtDir: string | null) => openConsole({ dataDir, builtDir }));
  const connect = keep((oidc: Config["console"]["oidc"]) => buildOidc(oidc, parts));
  return ({ console, data_dir: dataDir }) => {
    if (!console.enabled) return null;
    return {
      ...fixed,
      files: open(dataDir, console.built_dir ?? findShippedConsole()),
      playground: {
        limit: parseDollars(console.playground_limit) ?? 0,
        lifetimeMs: console.playground_ms,
        created,
      },
      oidc: connect(console.oidc),
      publicUrl: console.url === undefined ? null : new URL(console.url),
      hosts: new Set(console.hosts),
    };
  };
}

function buildOidc(oidc: Config["console"]["oidc"], parts: ConsoleParts): ConsoleDeps["oidc"] {
  if (oidc === undefined) return null;
  const { identities, stores, keyCache, accountCache, clock, log } = parts;
  return {
    identities,
    stores,
    keyCache,
    accountCache,
    log,
    rules: oidc.rules,
    createsUsers: oidc.create_users,
    name: oidc.name,
    reauthenticateMs: oidc.reauthenticate_ms,
    config: oidc,
    provider: connectOidc(oidc, clock),
  };
}

/** Stands for the account in the encryption, so that no key of an account can be read as a trial. */
const TRIAL_OWNER = "oidc trial";

function createTrialCipher(vault: Vault): TrialCipher {
  return {
    seal: (text, id) => JSON.stringify(vault.seal(text, { id, accountId: TRIAL_OWNER })),
    open: (sealed, id) => vault.open(JSON.parse(sealed) as SealedSecret, { id, accountId: TRIAL_OWNER }),
  };
}

function connectOidc(oidc: OidcConfig, clock: Clock): OpenIdClient {
  return new OpenIdClient({
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: () => readOidcSecret(oidc),
    scopes: oidc.scopes,
    neededClaims: [...new Set(oidc.rules.map(({ claim }) => claim))],
    maxAgeMs: oidc.reauthenticate_ms === null ? null : SESSION_MAX_MS,
    clock,
  });
}
