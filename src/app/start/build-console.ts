import { readFileSync } from "node:fs";
import { parseDollars } from "../../base/numbers/money.ts";
import { HOUR_MS } from "../../base/time/time.ts";
import type { KeyCache } from "../../core/accounts/memory/key-cache.ts";
import { SESSION_MAX_MS } from "../../core/console/console-session.ts";
import { type ConsoleSessionParts, ConsoleSessions } from "../../core/console/console-sessions.ts";
import { FailedSignIns } from "../../core/console/failed-sign-ins.ts";
import type { IdentitySignIn } from "../../core/console/sign-in-identity.ts";
import { WindowCounter } from "../../core/console/window-counter.ts";
import type { ConsoleDeps } from "../../http/context/console-deps.ts";
import { findShippedConsole } from "../catalog/shipped-files.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { openConsole } from "../console/open-console.ts";
import { OpenIdClient } from "../console/openid-client.ts";
import { keep } from "./build-configured.ts";

/** How many keys of the playground one management key may create in an hour. */
const PLAYGROUND_KEYS = { max: 60, windowMs: HOUR_MS };

type SharedParts = Pick<IdentitySignIn, "identities" | "stores" | "accountCache">;
type ConsoleParts = Omit<ConsoleSessionParts, "keyCache"> & SharedParts & { readonly keyCache: KeyCache };

/**
 * Returns a function that builds the dependencies of the console's pages and endpoints for a configuration; null if the configuration
 * disables the console. Counters of attempts and keys are kept across calls.
 */
export function createConsoleBuilder(parts: ConsoleParts): (config: Config) => ConsoleDeps | null {
  const fixed = { sessions: new ConsoleSessions(parts), failedSignIns: new FailedSignIns(parts.clock) };
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
  const { identities, stores, keyCache, accountCache, clock } = parts;
  const clientSecret = openClientSecret(oidc);
  const reauthenticateMs = oidc.reauthenticate_ms;
  return {
    identities,
    stores,
    keyCache,
    accountCache,
    rules: oidc.rules,
    createsUsers: oidc.create_users,
    name: oidc.name,
    reauthenticateMs,
    provider: new OpenIdClient({
      issuer: oidc.issuer,
      clientId: oidc.client_id,
      clientSecret,
      scopes: oidc.scopes,
      neededClaims: [...new Set(oidc.rules.map(({ claim }) => claim))],
      maxAgeMs: reauthenticateMs === null ? null : SESSION_MAX_MS,
      clock,
    }),
  };
}

/**
 * Returns how to read the secret of the OpenID Connect client: from the configuration, or from the file that it names, which may
 * change while the gateway runs.
 * @throws ConfigError if the file cannot be read or is empty.
 */
function openClientSecret({
  client_secret: secret,
  client_secret_file: file,
}: NonNullable<Config["console"]["oidc"]>): () => string {
  if (file === undefined) return () => secret ?? "";
  const read = () => readSecret(file);
  read();
  return read;
}

function readSecret(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`console.oidc.client_secret_file cannot be read: ${(error as Error).message}`);
  }
  if (text === "") throw new ConfigError(`console.oidc.client_secret_file: ${file} is empty`);
  return text;
}
