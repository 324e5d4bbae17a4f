/** The configuration in the terms of the domain. */
import { readFileSync } from "node:fs";
import { DAY_MS } from "../../base/time/time.ts";
import type { RateLimit } from "../../core/accounts/fields/rate-limit.ts";
import type { Policy } from "../../core/accounts/records/records.ts";
import type { OidcConfig } from "../../core/console/oidc-schema.ts";
import type { GenerationTimers } from "../../core/generation/call/cancellation.ts";
import { parseTrustedProxies, type TrustedProxies } from "../../core/limits/client-address.ts";
import { createLimitList, type ListLimits } from "../../core/limits/list-limits.ts";
import type { ResponseSettings } from "../../core/response-objects/records/response-settings.ts";
import { OtlpSettingError, type OtlpSettings, readOtlpSettings } from "../../telemetry/otlp/otlp-settings.ts";
import type { Config } from "./config-schema.ts";
import { ConfigError, problemAt } from "./load-config.ts";
import type { Environment } from "./read-provider-keys.ts";

/** Reads the deadlines of a generation. */
export function readTimers({ timers }: Config): GenerationTimers {
  return {
    connectMs: timers.connect_ms,
    firstTokenMs: timers.first_token_ms,
    silenceMs: timers.silence_ms,
    totalMs: timers.total_ms,
    failoverMs: timers.failover_ms,
    keepAliveMs: timers.keep_alive_ms,
  };
}

/** Reads how long and how much of responses is kept. */
export function readResponseSettings({ responses }: Pick<Config, "responses">): ResponseSettings {
  const { store, compaction, retention_days, account_bytes, chain_bytes, background_ms } = responses;
  return {
    storesByDefault: store,
    compactsNatively: compaction === "native",
    retentionMs: retention_days * DAY_MS,
    accountBytes: account_bytes,
    chainBytes: chain_bytes,
    backgroundMs: background_ms,
  };
}

/** Reads the operator's policy. */
export function readPolicy({ policy }: Config): Policy {
  return {
    allowedModels: policy.allowed_models ?? null,
    deniedModels: policy.denied_models,
    allowedProviders: policy.allowed_providers ?? null,
    deniedProviders: policy.denied_providers,
    denyDataCollection: policy.deny_data_collection,
    zeroRetention: policy.zero_retention,
    // Only accounts can require BYOK keys.
    ownKeysOnly: false,
    promptCaching: policy.prompt_caching,
  };
}

/** Reads the rate limits of all scopes. */
export function readLimits({ limits }: Pick<Config, "limits">): ListLimits {
  return createLimitList({
    key: readRateLimit(limits.per_key),
    account: readRateLimit(limits.per_account),
    model: readRateLimit(limits.per_model),
    models: Object.entries(limits.models ?? {}).map(([pattern, limit]) => [pattern, readRateLimit(limit)]),
    anonymousRequestsPerHour: limits.anonymous_requests_per_hour,
  });
}

function readRateLimit(limit: Config["limits"]["per_key"]): RateLimit {
  return {
    requestsPerMinute: limit.requests_per_minute ?? null,
    tokensPerMinute: limit.tokens_per_minute ?? null,
    concurrent: limit.concurrent ?? null,
  };
}

/**
 * Reads the proxies whose `x-forwarded-for` is trusted.
 * @throws ConfigError
 */
export function readTrustedProxies(config: Config): TrustedProxies {
  try {
    return parseTrustedProxies(config.server.trusted_proxies);
  } catch (error) {
    throw new ConfigError([problemAt(config, ["server", "trusted_proxies"], (error as Error).message)]);
  }
}

/**
 * Reads the addresses from which metrics are read without a token.
 * @throws ConfigError
 */
export function readMetricsAllowed(config: Config): TrustedProxies {
  try {
    return parseTrustedProxies(config.metrics.allow);
  } catch (error) {
    throw new ConfigError([problemAt(config, ["metrics", "allow"], (error as Error).message)]);
  }
}

/**
 * Reads where traces and metrics are sent from the variables of OpenTelemetry.
 * @throws ConfigError
 */
export function readExportSettings(environment: Environment): OtlpSettings {
  try {
    return readOtlpSettings(environment);
  } catch (error) {
    throw error instanceof OtlpSettingError ? new ConfigError(error.message) : error;
  }
}

/** Returns how much memory one caller's bodies may hold: half of the total, and at least one body of the largest size. Bytes. */
export function readHolderBytes({ limits }: Config): number {
  return Math.max(Math.floor(limits.total_body_bytes / 2), limits.body_bytes);
}

/** Returns the origins whose pages may call models: `*` for all, null for none. */
export function readAllowedOrigins({ server: { cors } }: Config): ReadonlySet<string> | "*" | null {
  if (cors.origins.length === 0) return null;
  return cors.origins.includes("*") ? "*" : new Set(cors.origins);
}

/** Returns the function that replaces the configured prefixes of model ids. */
export function readModelRenamer({ server }: Pick<Config, "server">): (id: string) => string {
  const aliases = Object.entries(server.model_prefix_aliases);
  return (id) => {
    for (const [prefix, replacement] of aliases) {
      if (id.startsWith(prefix)) return replacement + id.slice(prefix.length);
    }
    return id;
  };
}

/**
 * Returns the secret of the OpenID Connect client: from the configuration, or from the file that it names, which may change while the
 * gateway runs.
 * @throws ConfigError if the file cannot be read or is empty.
 */
export function readOidcSecret({ client_secret: secret, client_secret_file: file }: OidcConfig): string {
  return file === undefined ? (secret ?? "") : readSecretFile(file);
}

/** Checks that the secret can be read, if there is an OpenID Connect client. @throws ConfigError */
export function requireOidcSecret({ console: { oidc } }: Config): void {
  if (oidc !== undefined) readOidcSecret(oidc);
}

function readSecretFile(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`console.oidc.client_secret_file cannot be read: ${(error as Error).message}`);
  }
  if (text === "") throw new ConfigError(`console.oidc.client_secret_file: ${file} is empty`);
  return text;
}
