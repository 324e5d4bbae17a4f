import { stringify } from "yaml";
import { matchPattern } from "../base/match-pattern.ts";
import type { Config } from "./config-schema.ts";

/** Stands for a secret. */
export const MASK = "********";

/** Renders the effective configuration as YAML, with secrets masked. */
export function printConfig(config: Config): string {
  return stringify(maskConfig(config));
}

/** Names of settings that contain secrets. `*` stands for any slug. */
const SECRETS = [
  "admin_key",
  "billing.webhook_secret",
  "console.oidc.client_secret",
  "database.url",
  "metrics.token",
  "redis.url",
  "secrets.keys",
  "providers.*.api_keys",
  "providers.*.headers",
];

/** Returns whether a setting contains a secret, which is masked. `name` is its path: `providers.openai.api_keys`. */
export function isSecretSetting(name: string): boolean {
  return SECRETS.some((pattern) => matchPattern(pattern, name));
}

/** Returns the effective configuration with secrets masked. */
export function maskConfig(config: Config): Readonly<Record<string, unknown>> {
  return {
    ...config,
    ...(config.admin_key === undefined ? {} : { admin_key: MASK }),
    billing: {
      ...config.billing,
      ...(config.billing.webhook_secret === undefined ? {} : { webhook_secret: MASK }),
    },
    console: {
      ...config.console,
      ...(config.console.oidc === undefined ? {} : { oidc: { ...config.console.oidc, client_secret: MASK } }),
    },
    database: { ...config.database, ...maskUrl(config.database) },
    redis: maskUrl(config.redis),
    metrics: { ...config.metrics, ...(config.metrics.token === undefined ? {} : { token: MASK }) },
    secrets: { keys: config.secrets.keys.map(() => MASK) },
    providers: Object.fromEntries(
      Object.entries(config.providers).map(([slug, provider]) => [slug, maskProvider(provider)]),
    ),
    catalog: { ...config.catalog, ...maskSource(config.catalog) },
  };
}

/** Returns the source of the catalog, without the password of its address. */
function maskSource({ source }: Config["catalog"]): { readonly source?: string } {
  if (source === undefined) return {};
  return { source: maskAddress(source) };
}

/** Returns an address without its password; a text that is no address, such as the name of a file, as it is. */
export function maskAddress(text: string): string {
  return URL.canParse(text) ? (maskUrl({ url: text }).url as string) : text;
}

/** Returns the address of a server, without its password. */
function maskUrl({ url }: { readonly url?: string | undefined }): { readonly url?: string } {
  if (url === undefined) return {};
  const masked = new URL(url);
  if (masked.password !== "") masked.password = MASK;
  if (masked.searchParams.has("password")) masked.searchParams.set("password", MASK);
  return { url: masked.href };
}

function maskProvider(provider: Config["providers"][string]): unknown {
  const { api_keys, headers } = provider;
  return {
    ...provider,
    ...(api_keys === undefined ? {} : { api_keys: api_keys.map(() => MASK) }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])) }),
  };
}
