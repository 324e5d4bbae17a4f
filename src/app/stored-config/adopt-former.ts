import type { Log } from "../../base/failures/log.ts";
import type { Clock } from "../../base/time/clock.ts";
import { ADMIN_KEY_ID } from "../../core/accounts/records/principal.ts";
import type { ConfigDocument, ConfigValue } from "../../core/stored-config/config-store.ts";
import { configSchema } from "../config/config-schema.ts";
import { escapeReferences } from "../config/expand-references.ts";
import { listSettingEntries, putSettings, type SettingEntry } from "../config/setting-paths.ts";
import type { Stores } from "../stores/stores.ts";
import { replaceTexts } from "./seal-secrets.ts";

/** The stores that versions up to 0.2 have stored tiers and the operator's named routes in. */
type FormerStores = Pick<Stores, "config" | "formerTiers" | "namedRoutes">;

/**
 * Makes the tiers and the operator's named routes that versions up to 0.2 have stored the first revision of the stored configuration. No-op
 * if there is a revision. Those that this version rejects are left out, and logged.
 */
export async function adoptFormer(
  { config, formerTiers, namedRoutes }: FormerStores,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<void> {
  const [latest] = await config.listConfigRevisions(null, 1);
  if (latest !== undefined) return;
  const tiers = await formerTiers.listFormerTiers();
  const routes = await namedRoutes.listNamedRoutes(null);
  const entries: readonly SettingEntry[] = [
    ...tiers.map(({ tier }) => entryOf(["tiers", tier.id], tier)),
    ...routes.map(({ name, definition }) => entryOf(["named_routes", name], definition)),
  ];
  const sound = entries.filter((entry) => configSchema.safeParse(putSettings({}, [entry])).success);
  for (const { path } of entries.filter((entry) => !sound.includes(entry)))
    log.warn("a stored tier or named route is not used any more: this version rejects it", {
      name: path[1] ?? "",
    });
  if (sound.length === 0) return;
  const document = putSettings({}, sound);
  const changed = listSettingEntries(document).map(({ path }) => path);
  // Another gateway that starts at the same time may come first.
  await config.putConfig({
    from: 0,
    next: { document, changedAt: clock.now(), changedBy: ADMIN_KEY_ID, changed },
    secrets: [],
    removedSecrets: [],
  });
}

function entryOf(path: readonly string[], value: unknown): SettingEntry {
  const json = JSON.parse(JSON.stringify(value)) as ConfigDocument;
  return { path, value: replaceTexts(json, path, escapeReferences) as ConfigValue };
}
