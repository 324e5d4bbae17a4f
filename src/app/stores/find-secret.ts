import type { Random } from "../../base/secrets/random.ts";
import type { SettingsStore } from "../../core/settings/settings-store.ts";

/** Returns a secret that is generated once per data directory, so that hashes made with it survive a restart. */
export async function findSecret(name: string, settings: SettingsStore, random: Random): Promise<string> {
  const found = await settings.findSetting(name);
  if (found !== null) return found;
  await settings.addSetting(name, Buffer.from(random.bytes(32)).toString("hex"));
  return (await settings.findSetting(name)) as string;
}
