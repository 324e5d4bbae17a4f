import type { Log } from "../../base/failures/log.ts";
import { ADMIN_KEY_ID } from "../../core/accounts/records/principal.ts";
import {
  type ConfigDocument,
  type ConfigRevision,
  type ConfigValue,
  MAX_CHANGED,
  MAX_REVISIONS,
} from "../../core/stored-config/config-store.ts";
import { configSchema } from "../config/config-schema.ts";
import { escapeReferences } from "../config/expand-references.ts";
import { keyOf, putSettings, type SettingEntry } from "../config/setting-paths.ts";
import type { Stores } from "../stores/stores.ts";
import { replaceTexts } from "./seal-secrets.ts";

/** The stores that versions up to 0.2 have stored tiers and the operator's named routes in. */
type FormerStores = Pick<Stores, "config" | "formerTiers" | "namedRoutes">;

/**
 * Makes the tiers and the operator's named routes that versions up to 0.2 have stored the first revisions of the stored configuration, one
 * for each version of each, in the order of their times. No-op if there is a revision. Those that this version rejects are left out, and
 * logged.
 */
export async function adoptFormer(stores: FormerStores, log: Log): Promise<void> {
  const { config } = stores;
  const [latest] = await config.listConfigRevisions(null, 1);
  if (latest !== undefined) return;
  const changes: FormerChange[] = [];
  for (const versions of await listFormer(stores)) {
    const [present] = versions;
    if (present !== undefined && isValid(present.entry))
      changes.push(...versions.filter(({ entry }) => isValid(entry)));
    else
      log.warn("a stored tier or named route is not used any more: this version rejects it", {
        name: present?.entry.path[1] ?? "",
      });
  }
  if (changes.length === 0) return;
  // Another gateway that starts at the same time may come first.
  await config.beginConfig(listRevisions(changes.sort((a, b) => a.at - b.at)));
}

/** What was stored at a time. Milliseconds since the epoch. */
interface FormerChange {
  readonly at: number;
  readonly entry: SettingEntry;
}

/** Returns the versions of each tier and named route, the latest first. */
async function listFormer({ formerTiers, namedRoutes }: FormerStores): Promise<FormerChange[][]> {
  const tiers = await formerTiers.listFormerTiers();
  const former = tiers.map(({ tier, updatedAt }) => [
    { at: updatedAt, entry: entryOf(["tiers", tier.id], tier) },
  ]);
  for (const { name } of await namedRoutes.listNamedRoutes(null)) {
    const versions = await namedRoutes.listNamedRouteVersions(null, name);
    former.push(
      versions.map(({ definition, updatedAt }) => ({
        at: updatedAt,
        entry: entryOf(["named_routes", name], definition),
      })),
    );
  }
  return former;
}

function isValid(entry: SettingEntry): boolean {
  return configSchema.safeParse(putSettings({}, [entry])).success;
}

/** Returns the revisions that changes make, in their order. The first one contains what exceeds the revisions that are kept. */
function listRevisions(changes: readonly FormerChange[]): Omit<ConfigRevision, "revision">[] {
  const merged = Math.max(1, changes.length - MAX_REVISIONS + 1);
  const groups = [changes.slice(0, merged), ...changes.slice(merged).map((change) => [change])];
  let document: ConfigDocument = {};
  return groups.map((group) => {
    const entries = group.map(({ entry }) => entry);
    document = putSettings(document, entries);
    const paths = new Map(entries.map(({ path }) => [keyOf(path), path]));
    return {
      document,
      changedAt: group.at(-1)?.at ?? 0,
      changedBy: ADMIN_KEY_ID,
      changed: [...paths.values()].slice(0, MAX_CHANGED),
    };
  });
}

function entryOf(path: readonly string[], value: unknown): SettingEntry {
  const json = JSON.parse(JSON.stringify(value)) as ConfigDocument;
  return { path, value: replaceTexts(json, path, escapeReferences) as ConfigValue };
}
