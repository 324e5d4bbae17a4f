import type { SettingsStore } from "../core/settings/settings-store.ts";
import type { MasterKeys } from "./open-master-keys.ts";

/** The setting that holds the id of the configured master key with which the gateway seals, or `IN_FILE`. */
const SETTING = "gateway_master_key";
/** The gateway keeps its master keys in the data directory. */
const IN_FILE = "secrets.key";

/** The stores that tell how a running gateway seals. */
interface SealingSource {
  readonly settings: Pick<SettingsStore, "findSetting">;
  isGatewayRunning(): Promise<boolean>;
  readonly location: string;
}

/** Records for other processes which master key the gateway on this data directory seals with. */
export function recordSealingKey(settings: SettingsStore, masters: MasterKeys): Promise<void> {
  return settings.putSetting(SETTING, masters.configuredId ?? IN_FILE);
}

/**
 * Whether a gateway is running on a data directory that seals with another master key than this process, so that it may not be
 * able to open what this process seals, and still seals with a key that this process takes for an old one.
 */
export async function isSealedOtherwise(stores: SealingSource, masters: MasterKeys): Promise<boolean> {
  if (!(await stores.isGatewayRunning())) return false;
  return (await stores.settings.findSetting(SETTING)) !== (masters.configuredId ?? IN_FILE);
}

/** @throws Error where `isSealedOtherwise`; it says how to make the two agree. */
export async function requireSameSealing(stores: SealingSource, masters: MasterKeys): Promise<void> {
  if (!(await isSealedOtherwise(stores, masters))) return;
  const mine =
    masters.configuredId === null
      ? `the one in ${masters.file}`
      : `${masters.configuredId}, the first of GATEWAY_SECRETS_KEY or secrets.keys`;
  throw new Error(
    `The gateway that is running on ${stores.location} seals with another master key than this command (${mine}). Nothing was changed. Run the command with the same GATEWAY_SECRETS_KEY or secrets.keys as the gateway; for a new master key, put it first, keep the old one behind it, and restart the gateway before this command.`,
  );
}
