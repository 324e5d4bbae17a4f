import { ConfigError } from "../config/load-config.ts";
import type { MasterKeys } from "./open-master-keys.ts";
import { listMasterKeysInUse, type SecretStores } from "./secret-stores.ts";
import type { Stores } from "./stores.ts";

/** The setting with the id of the configured master key with which the running gateway encrypts, or `IN_FILE`. Only in unshared stores. */
const SETTING = "gateway_master_key";
/** The gateway encrypts with a generated key of the data directory. */
const IN_FILE = "secrets.key";

/** The stores that record which master keys running gateways encrypt with. */
export type SealingSource = Pick<
  Stores,
  "settings" | "gateways" | "isShared" | "isGatewayRunning" | "location"
>;

/** A running gateway and its registered master keys: all of their ids for shared stores, otherwise the id of the first one or `IN_FILE`. */
interface SealingGateway {
  readonly name: string;
  /** The first encrypts. */
  readonly masterKeys: readonly string[];
}

/**
 * Records for other processes which master key the gateway on this data directory encrypts with. In shared stores, the gateway's row has
 * it.
 */
export async function recordSealingKey(
  { settings, isShared }: Pick<SealingSource, "settings" | "isShared">,
  masters: MasterKeys,
): Promise<void> {
  if (!isShared) await settings.putSetting(SETTING, masters.configuredId ?? IN_FILE);
}

/**
 * Returns whether another gateway on the stores encrypts with another master key than this process. That gateway may be unable to decrypt
 * what this process encrypts, and its key looks outdated to this process.
 */
export async function isSealedOtherwise(stores: SealingSource, masters: MasterKeys): Promise<boolean> {
  return (await listSealedOtherwise(stores, masters)).length > 0;
}

/** @throws Error if `isSealedOtherwise`. The message says how to configure all processes alike. */
export async function requireSameSealing(stores: SealingSource, masters: MasterKeys): Promise<void> {
  const others = await listSealedOtherwise(stores, masters);
  if (others.length === 0) return;
  const own =
    masters.configuredId === null
      ? `the one in ${masters.file}`
      : `${masters.configuredId}, the first of GATEWAY_SECRETS_KEY or secrets.keys`;
  const subject = stores.isShared
    ? `Gateways that are running on ${stores.location} encrypt`
    : `The gateway that is running on ${stores.location} encrypts`;
  const named = stores.isShared ? ` They are: ${nameAll(others)}.` : "";
  throw new Error(
    `${subject} with another master key than this command (${own}).${named} Nothing was changed. Run the command with the same GATEWAY_SECRETS_KEY or secrets.keys as the gateway. ${HOW_TO_INTRODUCE[stores.isShared ? "shared" : "alone"]}`,
  );
}

const HOW_TO_INTRODUCE = {
  alone:
    "To introduce a new master key, put it first, keep the old one after it, and restart the gateway before this command.",
  shared:
    "To introduce a new master key, put it after the old one at every gateway and restart them; then put it first at every gateway and restart them; then run this command.",
} as const;

async function listSealedOtherwise(
  stores: SealingSource,
  masters: MasterKeys,
): Promise<readonly SealingGateway[]> {
  const first = stores.isShared ? masters.list()[0]?.id : (masters.configuredId ?? IN_FILE);
  return (await listSealing(stores)).filter(({ masterKeys }) => masterKeys[0] !== first);
}

async function listSealing(stores: SealingSource): Promise<readonly SealingGateway[]> {
  if (stores.isShared) return listLive(stores);
  if (!(await stores.isGatewayRunning())) return [];
  const first = await stores.settings.findSetting(SETTING);
  return [{ name: stores.location, masterKeys: first === null ? [] : [first] }];
}

async function listLive({ gateways }: Pick<SealingSource, "gateways">) {
  const live = (await gateways.list()).filter(({ isLive }) => isLive);
  return live.map(({ id, host, masterKeys }) => ({ id, name: `${id} on ${host}`, masterKeys }));
}

/**
 * Checks that a gateway and each other live gateway can decrypt what the other encrypts. Call it after the gateway has registered: then, if
 * two start at the same time, at least one of them finds the other.
 * @throws ConfigError, which says how to configure the gateways alike.
 */
export async function requireCommonKeys(
  stores: Pick<SealingSource, "gateways" | "location">,
  gatewayId: string,
  masters: MasterKeys,
): Promise<void> {
  const own = masters.list().map(({ id }) => id);
  const others = (await listLive(stores)).filter(({ id, masterKeys }) => {
    const [first] = masterKeys;
    const isReadable = first === undefined || own.includes(first);
    return id !== gatewayId && !(isReadable && masterKeys.includes(own[0] ?? ""));
  });
  if (others.length === 0) return;
  const [key, from] = [
    own[0],
    masters.configuredId === null ? `in ${masters.file}` : "in GATEWAY_SECRETS_KEY or secrets.keys",
  ];
  throw new ConfigError(
    `this gateway encrypts with master key ${key} (${from}), and the gateways on ${stores.location} have other master keys: ${nameAll(others)}. Set GATEWAY_SECRETS_KEY to the same keys at every gateway. ${HOW_TO_INTRODUCE.shared}`,
  );
}

/**
 * Makes sure that a gateway on shared stores has a master key. It generates one only if no other gateway has encrypted anything.
 * @throws ConfigError if it has only generated keys and the secrets of the stores are encrypted with others.
 */
export async function requireMasterKey(
  stores: SecretStores & Pick<Stores, "location">,
  masters: MasterKeys,
): Promise<void> {
  if (masters.configuredId !== null) return;
  const inUse = await listMasterKeysInUse(stores);
  const own = new Set(masters.list().map(({ id }) => id));
  if (inUse.length > 0 && !inUse.some((id) => own.has(id)))
    throw new ConfigError(
      `the secrets in ${stores.location} are encrypted with master keys that this gateway does not have: ${inUse.slice(0, MAX_NAMED).join(", ")}. Set GATEWAY_SECRETS_KEY to the keys of the gateway that encrypted them; a generated one is in its data directory (${IN_FILE}).`,
    );
  masters.newest();
}

/** The maximum number of gateways or keys in a message. */
const MAX_NAMED = 10;

function nameAll(gateways: readonly SealingGateway[]): string {
  const named = gateways
    .slice(0, MAX_NAMED)
    .map(({ name, masterKeys }) => `${name} (${masterKeys.join(", ") || "none"})`);
  return `${named.join("; ")}${gateways.length > MAX_NAMED ? `; and ${gateways.length - MAX_NAMED} more` : ""}`;
}
