import { readFileSync } from "node:fs";
import type { ProviderRecord } from "../core/catalog/records.ts";
import type { ProviderConfig } from "./config-schema.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A key of the gateway's own. */
export interface PlatformKey {
  /** Tells keys apart in memory: `openai#0`. */
  readonly label: string;
  /** Null: a host that wants none. */
  readonly secret: string | null;
}

/**
 * The keys that configuration or environment have for a provider; none where it has none. What keeps a key from being
 * taken is added to `notices`.
 */
export function readProviderKeys(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
  environment: Environment,
  notices: string[],
): PlatformKey[] {
  const secrets =
    config?.api_keys ??
    [readFirst(environment, record.env.apiKey) ?? readSharedKey(record, config, environment, notices)].filter(
      (secret) => secret !== null,
    );
  if (secrets.length > 0)
    return secrets.map((key, place) => ({ label: `${record.slug}#${place}`, secret: key }));
  // A host of one's own may want no key.
  return config?.base_url !== undefined && config.models !== undefined
    ? [{ label: `${record.slug}#0`, secret: null }]
    : [];
}

/** A key that machines have for many programs. It is taken only where the operator means this provider. */
function readSharedKey(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
  environment: Environment,
  notices: string[],
): string | null {
  const { keyFile, keyPair } = record.env;
  const shared = [keyFile, keyPair?.id].find(
    (name) => name !== undefined && readVariable(environment, name) !== null,
  );
  if (shared === undefined) return null;
  const own = listOwnVariables(record);
  if (config === undefined && readFirst(environment, own) === null) {
    notices.push(
      `${record.name} is not served with ${shared}, which other programs use too: set ${own.join(" or ")}, or name ${record.slug} under providers in the configuration`,
    );
    return null;
  }
  return shared === keyFile
    ? readKeyFile(record, shared, environment, notices)
    : readKeyPair(keyPair as KeyPair, environment);
}

/** Variables that nobody sets for another program. */
function listOwnVariables({ env, parts = {} }: ProviderRecord): string[] {
  return [...Object.values(parts).flatMap((part) => part.env[0] ?? []), env.baseUrl];
}

function readKeyFile(
  record: ProviderRecord,
  variable: string,
  environment: Environment,
  notices: string[],
): string | null {
  const file = readVariable(environment, variable) as string;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    notices.push(`${record.name} has no key: ${variable} names ${file}: ${(error as Error).message}`);
    return null;
  }
}

type KeyPair = NonNullable<ProviderRecord["env"]["keyPair"]>;

function readKeyPair({ id, secret, session }: KeyPair, environment: Environment): string | null {
  const [first, second] = [readVariable(environment, id), readVariable(environment, secret)];
  if (first === null || second === null) return null;
  return [first, second, readVariable(environment, session)].filter((part) => part !== null).join(":");
}

function readVariable(environment: Environment, name: string): string | null {
  const value = environment[name]?.trim();
  return value ? value : null;
}

/** The first variable that is set; null where none is. */
export function readFirst(environment: Environment, names: readonly string[]): string | null {
  return names.map((name) => readVariable(environment, name)).find((value) => value !== null) ?? null;
}
