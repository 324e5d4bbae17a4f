import type { SettingsStore } from "../core/settings/settings-store.ts";
import type { MasterKeys } from "./open-master-keys.ts";

/** The setting with the id of the configured master key with which the running gateway encrypts, or `IN_FILE`. */
const SETTING = "gateway_master_key";
/** The gateway encrypts with a generated key of the data directory. */
const IN_FILE = "secrets.key";

/** The stores that record with which master key a running gateway encrypts. */
interface SealingSource {
  readonly settings: Pick<SettingsStore, "findSetting">;
  isGatewayRunning(): Promise<boolean>;
  readonly location: string;
}

/** Records for other processes with which master key the gateway on this data directory encrypts. */
export function recordSealingKey(settings: SettingsStore, masters: MasterKeys): Promise<void> {
  return settings.putSetting(SETTING, masters.configuredId ?? IN_FILE);
}

/**
 * Returns whether a gateway that runs on the data directory encrypts with another master key than this process. It may be unable to
 * decrypt what this process encrypts, and encrypts with a key that this process takes for an old one.
 */
export async function isSealedOtherwise(stores: SealingSource, masters: MasterKeys): Promise<boolean> {
  if (!(await stores.isGatewayRunning())) return false;
  return (await stores.settings.findSetting(SETTING)) !== (masters.configuredId ?? IN_FILE);
}

/** @throws Error if `isSealedOtherwise`. The message says how to configure both processes alike. */
export async function requireSameSealing(stores: SealingSource, masters: MasterKeys): Promise<void> {
  if (!(await isSealedOtherwise(stores, masters))) return;
  const own =
    masters.configuredId === null
      ? `the one in ${masters.file}`
      : `${masters.configuredId}, the first of GATEWAY_SECRETS_KEY or secrets.keys`;
  throw new Error(
    `The gateway that is running on ${stores.location} encrypts with another master key than this command (${own}). Nothing was changed. Run the command with the same GATEWAY_SECRETS_KEY or secrets.keys as the gateway. To introduce a new master key, put it first, keep the old one after it, and restart the gateway before this command.`,
  );
}
