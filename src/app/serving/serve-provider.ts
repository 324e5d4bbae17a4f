import { isMetadataAddress } from "../../base/network/metadata-address.ts";
import type { Clock } from "../../base/time/clock.ts";
import { listProviderFormats } from "../../core/catalog/profile/list-formats.ts";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type {
  ByokKeyReading,
  ByokSecret,
  ProviderKey,
  ServedProvider,
} from "../../core/deployments/served-provider.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import { type AddressReading, createAddress } from "../../providers/address/create-address.ts";
import { GOOGLE_TOKEN_URL } from "../../providers/address/google-tokens.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import type { Config, ProviderConfig } from "../config/config-schema.ts";
import { ConfigError, problemAt } from "../config/load-config.ts";
import type { PlatformKeyLabels } from "../config/platform-key-labels.ts";
import { type Environment, readFirst, readProviderKeys } from "../config/read-provider-keys.ts";
import { listConfiguredFormats } from "./configured-hosts.ts";

/** The inputs of the served models besides the catalog. */
export interface ServingSources {
  readonly config: Config;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Names the platform keys over all configurations of a gateway. */
  readonly labels?: PlatformKeyLabels;
  /** Calls providers over the network. */
  readonly transport: Transport;
  /** Calls the built-in sandbox provider. */
  readonly sandboxTransport: Transport;
}

/**
 * Prepares a provider for calls with the operator's keys and with BYOK keys. Returns null if neither is possible. If it has
 * keys and cannot be called with them, a message is added to `notices`.
 * @throws ConfigError for an invalid base URL.
 */
export function serveProvider(
  row: ProviderRecord,
  sources: ServingSources,
  notices: string[],
): Omit<ServedProvider, "families"> | null {
  const config = sources.config.providers[row.slug];
  if (config?.enabled === false) return null;
  const record = config?.auth === undefined ? row : { ...row, auth: config.auth };
  const keys = readPlatformKeys(record, sources, notices);
  const readByokKey = createByokKeyReader(record, sources, keys.length > 0);
  if (keys.length === 0 && readByokKey === null) return null;
  const { transport } = sources;
  return { record, formats: chooseFormats(record, config), keys, transport, readByokKey };
}

/** Returns the formats in which a provider is called. */
function chooseFormats(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
): readonly ProviderFormat[] {
  const configured = config === undefined ? [] : listConfiguredFormats(config);
  return configured.length > 0 ? configured : listProviderFormats(record);
}

function readPlatformKeys(record: ProviderRecord, sources: ServingSources, notices: string[]): ProviderKey[] {
  const config = sources.config.providers[record.slug];
  const found = readProviderKeys({
    record,
    config,
    environment: sources.environment,
    notices,
    labels: sources.labels,
  });
  if (found.length === 0) return [];
  const secrets = found.map(({ secret }) => secret);
  const reading = readAddress(record, secrets, sources);
  if (reading.kind !== "address") {
    notices.push(describeProblem(record, reading));
    return [];
  }
  const { address } = reading;
  const headers = lowerCase(config?.headers ?? {});
  return found.map((key) => ({ ...key, byokId: null, address, headers }));
}

/** A placeholder for a secret when only the address is checked. */
const PLACEHOLDER_SECRET = "any-key";

/**
 * Returns the function that prepares BYOK keys for a provider; null if its address is not configured. Each key has its own
 * address, because some addresses depend on the key. The configured headers are not sent with BYOK keys, because they
 * may contain the gateway's credentials.
 */
function createByokKeyReader(
  record: ProviderRecord,
  sources: ServingSources,
  isServed: boolean,
): ServedProvider["readByokKey"] {
  try {
    if (readAddress(record, [PLACEHOLDER_SECRET], sources).kind === "incomplete") return null;
  } catch (error) {
    // A provider without platform keys does not prevent the start with its invalid base URL.
    if (error instanceof ConfigError && !isServed) return null;
    throw error;
  }
  const read = ({ id, label, secret }: ByokSecret): ByokKeyReading => {
    if (!isSendable(secret, record)) return rejectKey("it has characters that no key has");
    const reading = readAddress(record, [secret], sources);
    if (reading.kind === "incomplete")
      return rejectKey(`this gateway does not know the ${reading.missing.join(" and the ")} to call it at`);
    if (reading.kind === "refused") return rejectKey(reading.reason);
    return {
      kind: "key",
      key: { label, secret, weight: 1, byokId: id, address: reading.address, headers: {} },
    };
  };
  const known = new WeakMap<ByokSecret, ByokKeyReading>();
  return (key) => {
    const reading = known.get(key) ?? read(key);
    known.set(key, reading);
    return reading;
  };
}

function rejectKey(reason: string): ByokKeyReading {
  return { kind: "rejected", reason };
}

/** Returns whether a secret can be sent in a header, or is the file of a Google service account, which is not sent. */
function isSendable(secret: string, { address }: ProviderRecord): boolean {
  return /^[\x21-\x7e]+$/.test(secret) || (address === "vertex" && secret.trimStart().startsWith("{"));
}

function readAddress(
  record: ProviderRecord,
  secrets: readonly (string | null)[],
  { config, environment, clock, transport }: ServingSources,
): AddressReading {
  const provider = config.providers[record.slug];
  const { baseUrl, baseUrlAliases = [] } = record.env;
  const base = provider?.base_url ?? readFirst(environment, [baseUrl, ...baseUrlAliases]);
  if (base !== null) checkBaseUrl(base, record, config);
  const plan = {
    record,
    base,
    parts: readParts(record, provider, environment),
    secrets,
  };
  return createAddress(plan, {
    clock,
    transport,
    tokenUrl: new URL(provider?.token_url ?? GOOGLE_TOKEN_URL),
  });
}

function readParts(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
  environment: Environment,
): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const [name, part] of Object.entries(record.parts ?? {})) {
    const value = readFirst(environment, part.env) ?? part.default;
    if (value !== undefined) parts[name] = value;
  }
  return { ...parts, ...config?.parts };
}

/** Describes why a provider cannot be called, and what to configure. */
function describeProblem(
  { name, slug, parts, baseUrlTemplate = "", env }: ProviderRecord,
  reading: Exclude<AddressReading, { kind: "address" }>,
): string {
  if (reading.kind === "refused") return `${name} has a key, but cannot be called: ${reading.reason}`;
  const ways = reading.missing.map((part) => {
    const settings = [...(parts?.[part]?.env ?? []), `providers.${slug}.parts.${part}`];
    if (baseUrlTemplate.includes(`{${part}}`)) settings.push(env.baseUrl);
    return `set ${settings.join(" or ")}`;
  });
  return `${name} has a key but no ${reading.missing.join(" and no ")}: ${ways.join(", and ")}`;
}

/** @throws ConfigError that names the key or the variable with the base URL. */
function checkBaseUrl(base: string, record: ProviderRecord, config: Config): void {
  const reject = (text: string): never => {
    const path = ["providers", record.slug, "base_url"];
    if (config.providers[record.slug]?.base_url !== undefined)
      throw new ConfigError([problemAt(config, path, text)]);
    const variables = [record.env.baseUrl, ...(record.env.baseUrlAliases ?? [])];
    throw new ConfigError([{ place: null, path, variable: variables.join(" or "), text }]);
  };
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base))
    reject(`must be an http or https address, but is "${base}"`);
  const url = new URL(base);
  if (url.username !== "" || url.password !== "") reject("must not contain a user name or password");
  if (url.search !== "" || url.hash !== "") reject("must end with its path");
  if (isMetadataAddress(url.hostname)) reject("must not be the metadata service of a cloud");
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
