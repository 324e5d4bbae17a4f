import { readFileSync } from "node:fs";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { ProviderConfig } from "./config-schema.ts";
import { PlatformKeyLabels } from "./platform-key-labels.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** A platform key, as configured. */
interface PlatformKey {
  /** Identifies the key in memory: `openai#0`. */
  readonly label: string;
  /** Null for a host that needs no key. */
  readonly secret: string | null;
  /** Its share of the conversations, relative to the other keys. 0: only when the others fail. */
  readonly weight: number;
}

/** Where the keys of a provider are looked up. */
interface KeySources {
  readonly record: ProviderRecord;
  readonly config: ProviderConfig | undefined;
  readonly environment: Environment;
  /** Receives a message for each key that is present and cannot be used. */
  readonly notices: string[];
  /** Names the keys; by their order if it is absent. */
  readonly labels?: PlatformKeyLabels | undefined;
}

/** Reads the platform keys of a provider from the configuration, otherwise from the environment. */
export function readProviderKeys(sources: KeySources): PlatformKey[] {
  const { record, config, environment, labels = new PlatformKeyLabels() } = sources;
  const keys =
    config?.api_keys ??
    [readFirst(environment, record.env.apiKey) ?? readSharedKey(sources)].filter((secret) => secret !== null);
  if (keys.length > 0) {
    const named = keys.flatMap((key, index): PlatformKey[] => {
      const { id, key: secret, weight, enabled } = typeof key === "string" ? plainKey(key, index) : key;
      return enabled ? [{ label: labels.labelOf(record.slug, id, secret), secret, weight }] : [];
    });
    // A request that belongs to no conversation tries the keys in this order.
    return named.toSorted((a, b) => Number(a.weight === 0) - Number(b.weight === 0));
  }
  // A host in the operator's network may need no key.
  return config?.base_url !== undefined && config.models !== undefined
    ? [{ label: labels.labelOf(record.slug, 0, null), secret: null, weight: 1 }]
    : [];
}

function plainKey(key: string, index: number) {
  return { id: index, key, weight: 1, enabled: true };
}

/** Reads a key from variables that other programs use too. It is used only if the provider is also configured in another way. */
function readSharedKey({ record, config, environment, notices }: KeySources): string | null {
  const { keyFile, keyPair } = record.env;
  const shared = [keyFile, keyPair?.id].find(
    (name) => name !== undefined && readVariable(environment, name) !== null,
  );
  if (shared === undefined) return null;
  const specific = listSpecificVariables(record);
  if (config === undefined && readFirst(environment, specific) === null) {
    notices.push(
      `${record.name} is not served with ${shared}, which other programs use too: set ${specific.join(" or ")}, or name ${record.slug} under providers in the configuration`,
    );
    return null;
  }
  if (shared !== keyFile) return readKeyPair(keyPair as KeyPair, environment);
  const file = readVariable(environment, shared) as string;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    notices.push(`${record.name} has no key: ${shared} names ${file}: ${(error as Error).message}`);
    return null;
  }
}

/** Lists the variables that only this gateway reads. */
function listSpecificVariables({ env, parts = {} }: ProviderRecord): string[] {
  return [...Object.values(parts).flatMap((part) => part.env[0] ?? []), env.baseUrl];
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

/** Returns the value of the first variable that is set; null if none is. */
export function readFirst(environment: Environment, names: readonly string[]): string | null {
  return names.map((name) => readVariable(environment, name)).find((value) => value !== null) ?? null;
}
