import { matchPattern } from "../../base/text/match-pattern.ts";
import type { ConfigPath } from "./config-error.ts";
import { originsOf } from "./config-origins.ts";
import type { Config } from "./config-schema.ts";
import { mayBeSecret } from "./expand-references.ts";
import { loadYaml } from "./yaml-source.ts";

/** Replaces a secret. */
export const MASK = "********";

/** Renders the effective configuration as YAML, with secrets masked. */
export function printConfig(config: Config): string {
  return loadYaml().stringify(maskConfig(config));
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
  "webhooks",
];

/** Returns whether a setting contains a secret, which is masked. `name` is its path: `providers.openai.api_keys`. */
export function isSecretSetting(name: string): boolean {
  return SECRETS.some((pattern) => matchPattern(pattern, name));
}

/** Returns the effective configuration with all secrets masked, including those that the file refers to. */
export function maskConfig(config: Config): Readonly<Record<string, unknown>> {
  let masked: unknown = maskSettings(config);
  for (const { path, references } of originsOf(config)?.referring ?? [])
    if (mayBeSecret(references)) masked = maskAt(masked, path);
  return masked as Readonly<Record<string, unknown>>;
}

/** Returns a value with the text at a path masked. */
function maskAt(value: unknown, [first, ...rest]: ConfigPath): unknown {
  if (first === undefined) return typeof value === "string" ? MASK : value;
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? maskAt(item, rest) : item));
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, first)) return value;
  const member = (value as Readonly<Record<PropertyKey, unknown>>)[first];
  return { ...value, [first]: maskAt(member, rest) };
}

function maskSettings(config: Config): Readonly<Record<string, unknown>> {
  return {
    ...config,
    ...(config.admin_key === undefined ? {} : { admin_key: MASK }),
    billing: {
      ...config.billing,
      ...(config.billing.webhook_secret === undefined ? {} : { webhook_secret: MASK }),
    },
    console: {
      ...config.console,
      ...(config.console.oidc?.client_secret === undefined
        ? {}
        : { oidc: { ...config.console.oidc, client_secret: MASK } }),
    },
    database: { ...config.database, ...maskUrl(config.database) },
    redis: maskUrl(config.redis),
    ...(config.webhooks === undefined ? {} : { webhooks: config.webhooks.map(maskWebhook) }),
    ...(config.guardrails === undefined ? {} : { guardrails: config.guardrails.map(maskGuardrail) }),
    metrics: { ...config.metrics, ...(config.metrics.token === undefined ? {} : { token: MASK }) },
    secrets: { keys: config.secrets.keys.map(() => MASK) },
    providers: Object.fromEntries(
      Object.entries(config.providers).map(([slug, provider]) => [slug, maskProvider(provider)]),
    ),
    catalog: { ...config.catalog, ...maskSource(config.catalog) },
  };
}

/** Returns a guardrail without the secrets of its webhook. */
function maskGuardrail(guardrail: NonNullable<Config["guardrails"]>[number]): unknown {
  if (guardrail.kind !== "webhook") return guardrail;
  const headers = Object.fromEntries(Object.keys(guardrail.headers).map((name) => [name, MASK]));
  return {
    ...guardrail,
    url: `${new URL(guardrail.url).origin}/${MASK}`,
    ...(guardrail.secret === undefined ? {} : { secret: MASK }),
    headers,
  };
}

/** Returns a webhook without its secret and the path of its address, which is a secret of chats. */
function maskWebhook({ url, secret, ...others }: NonNullable<Config["webhooks"]>[number]): unknown {
  return {
    url: `${new URL(url).origin}/${MASK}`,
    ...(secret === undefined ? {} : { secret: MASK }),
    ...others,
  };
}

/** Returns the source of the catalog, without the password of its address. */
function maskSource({ source }: Config["catalog"]): { readonly source?: string } {
  if (source === undefined) return {};
  return { source: maskAddress(source) };
}

/** Returns an address without its password. Any other text, such as the name of a file, is returned unchanged. */
export function maskAddress(text: string): string {
  return URL.canParse(text) ? (maskUrl({ url: text }).url as string) : text;
}

/** Returns the address of a server, without its password. Not every address of a database is a URL of the web. */
function maskUrl({ url }: { readonly url?: string | undefined }): { readonly url?: string } {
  if (url === undefined) return {};
  const [start = "", authority = ""] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url) ?? [];
  const at = authority.lastIndexOf("@");
  const colon = authority.slice(0, Math.max(0, at)).indexOf(":");
  const masked = colon < 0 ? authority : `${authority.slice(0, colon)}:${MASK}${authority.slice(at)}`;
  const rest = url.slice(start.length).replace(/([?&](?:ssl)?password=)[^&#]*/gi, `$1${MASK}`);
  return { url: start.slice(0, start.length - authority.length) + masked + rest };
}

function maskKey(key: NonNullable<Config["providers"][string]["api_keys"]>[number]): unknown {
  return typeof key === "string" ? MASK : { ...key, key: MASK };
}

function maskProvider(provider: Config["providers"][string]): unknown {
  const { api_keys, headers } = provider;
  return {
    ...provider,
    ...(api_keys === undefined ? {} : { api_keys: api_keys.map(maskKey) }),
    ...(headers === undefined
      ? {}
      : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])) }),
  };
}
