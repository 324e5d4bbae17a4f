import { fail } from "../../base/failures/errors.ts";
import { compareText } from "../../core/catalog/records/format-catalog.ts";
import type { ListedTier, TierManager, TierSource } from "../../core/catalog/tiers/tier-manager.ts";
import type { TierRecord } from "../../core/catalog/tiers/tier-records.ts";
import type { ConfigManager } from "../../core/stored-config/config-manager.ts";
import type { ConfigValue } from "../../core/stored-config/config-store.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import { readTiers } from "./load-tiers.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

/** The dependencies of a tier manager. */
interface TierManagerOptions {
  /** Returns the configuration in force. */
  readonly config: () => Config;
  readonly stored: Pick<ConfigManager, "write" | "findChanges">;
}

/** Creates a manager of tiers. Several processes may have one. */
export function createTierManager({ config, stored }: TierManagerOptions): TierManager {
  const findStored = (id: string) =>
    listConfigured(config()).find(({ tier, source }) => tier.id === id && source === "database")?.tier;
  return {
    async list() {
      const listed = listAll(config());
      const ids = listed.filter(({ source }) => source === "database").map(({ tier }) => tier.id);
      const changes = await stored.findChanges(ids.map(pathOf));
      return listed.map((one) => {
        const at = ids.indexOf(one.tier.id);
        return at < 0 ? one : { ...one, updatedAt: changes[at]?.changedAt ?? null };
      });
    },
    async put(tier, by) {
      rejectConfigured(config(), tier.id);
      if (JSON.stringify(tier).length > MAX_CHARS)
        fail("invalid_request", `The tier must have at most ${MAX_CHARS} characters as JSON.`);
      const before = findStored(tier.id) ?? null;
      const value = tier as unknown as ConfigValue;
      await stored.write({ ...WRITE, change: [{ path: pathOf(tier.id), value }], by });
      return before;
    },
    async remove(id, by) {
      const found = findStored(id);
      if (found === undefined) return rejectUnstored(config(), id);
      await stored.write({ ...WRITE, change: [{ path: pathOf(id) }], by });
      return found;
    },
  };
}

/** The longest tier, as JSON. Characters. */
const MAX_CHARS = 65_536;

const WRITE = { from: null, secrets: [], dryRun: false, isInConsole: false } as const;

/** Returns the setting of a tier. */
function pathOf(id: string): readonly string[] {
  return ["tiers", id];
}

/** A tier and its source, before it is known which sources are in force. */
type Defined = Omit<ListedTier, "replaces">;

function listAll(config: Config): readonly ListedTier[] {
  const defined: readonly Defined[] = [
    ...readTiers(SHIPPED_CATALOG_DIRECTORY).tiers.map(
      (tier): Defined => ({ tier, source: "catalog", file: null, line: null, updatedAt: null }),
    ),
    ...listConfigured(config),
  ];
  const byId = new Map<string, ListedTier>();
  for (const one of defined) {
    const before = byId.get(one.tier.id);
    const replaces: readonly TierSource[] = before === undefined ? [] : [...before.replaces, before.source];
    byId.set(one.tier.id, { ...one, replaces });
  }
  return [...byId.values()].sort((a, b) => compareText(a.tier.id, b.tier.id));
}

/** Lists the tiers of the file and those that are stored. */
function listConfigured(config: Config): readonly Defined[] {
  const origins = originsOf(config);
  return (config.tiers ?? []).map((tier: TierRecord, index) => {
    const place = origins?.placeOf(["tiers", index]) ?? null;
    const source = origins !== null && place === null ? "database" : "file";
    return { tier, source, file: place?.file ?? null, line: place?.line ?? null, updatedAt: null };
  });
}

/** @throws GatewayError `conflict` for a tier that the configuration file defines. */
function rejectConfigured(config: Config, id: string): void {
  const found = listConfigured(config).find(({ tier, source }) => tier.id === id && source === "file");
  if (found === undefined) return;
  const place = found.file === null ? "the configuration" : `${found.file}:${found.line}`;
  fail("conflict", `${id} is defined in ${place}, which takes precedence. Change it there.`);
}

function rejectUnstored(config: Config, id: string): never {
  rejectConfigured(config, id);
  const isShipped = readTiers(SHIPPED_CATALOG_DIRECTORY).tiers.some((tier) => tier.id === id);
  if (isShipped)
    return fail(
      "conflict",
      `${id} is a tier of the catalog, which cannot be deleted. Store one to replace it.`,
    );
  return fail("not_found", `There is no tier ${JSON.stringify(id.slice(0, 100))}.`);
}
