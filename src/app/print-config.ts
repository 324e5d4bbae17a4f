import { stringify } from "yaml";
import type { Config } from "./config-schema.ts";

const MASK = "********";

/** Renders the effective configuration as YAML, with secrets masked. */
export function printConfig(config: Config): string {
  return stringify({
    ...config,
    ...(config.admin_key === undefined ? {} : { admin_key: MASK }),
    billing: {
      ...config.billing,
      ...(config.billing.webhook_secret === undefined ? {} : { webhook_secret: MASK }),
    },
    database: { ...config.database, ...maskUrl(config.database) },
    redis: maskUrl(config.redis),
    secrets: { keys: config.secrets.keys.map(() => MASK) },
    providers: Object.fromEntries(
      Object.entries(config.providers).map(([slug, provider]) => [slug, maskProvider(provider)]),
    ),
  });
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
