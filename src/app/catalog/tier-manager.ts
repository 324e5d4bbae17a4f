import { fail } from "../../base/failures/errors.ts";
import type { Clock } from "../../base/time/clock.ts";
import { compareText } from "../../core/catalog/records/format-catalog.ts";
import type { ListedTier, TierManager, TierSource } from "../../core/catalog/tiers/tier-manager.ts";
import type { TierRecord } from "../../core/catalog/tiers/tier-records.ts";
import { MAX_TIERS } from "../../core/catalog/tiers/tier-schema.ts";
import type { StoredTier, TierStore } from "../../core/catalog/tiers/tier-store.ts";
import { originsOf } from "../config/config-origins.ts";
import type { Config } from "../config/config-schema.ts";
import { readTiers } from "./load-tiers.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

/** The dependencies of a tier manager. */
interface TierManagerOptions {
  /** Returns the configuration in force. */
  readonly config: () => Config;
  readonly store: TierStore;
  readonly clock: Clock;
  /** Called after a stored tier has changed. */
  readonly onChanged?: () => Promise<void>;
}

/** The longest stored tier, as JSON. Characters. */
const MAX_CHARS = 65_536;

/** Creates a manager of tiers. Several processes may have one. */
export function createTierManager({
  config,
  store,
  clock,
  onChanged = async () => {},
}: TierManagerOptions): TierManager {
  const findStored = async (id: string) => (await store.listTiers()).find(({ tier }) => tier.id === id);
  return {
    list: async () => listAll(config(), await store.listTiers()),
    async put(tier) {
      rejectConfigured(config(), tier.id);
      const stored = await store.listTiers();
      const before = stored.find(({ tier: { id } }) => id === tier.id);
      checkBounds(tier, before === undefined ? stored.length + 1 : stored.length);
      await store.putTier({ tier, updatedAt: clock.now() });
      await onChanged();
      return before?.tier ?? null;
    },
    async remove(id) {
      const found = await findStored(id);
      if (found === undefined) return rejectUnstored(config(), id);
      await store.deleteTier(id);
      await onChanged();
      return found.tier;
    },
  };
}

/** A tier and its source, before it is known which sources are in force. */
type Defined = Omit<ListedTier, "replaces">;

const NOWHERE = { file: null, line: null, updatedAt: null } as const;

function listAll(config: Config, stored: readonly StoredTier[]): readonly ListedTier[] {
  const defined: readonly Defined[] = [
    ...readTiers(SHIPPED_CATALOG_DIRECTORY).tiers.map(
      (tier): Defined => ({ tier, source: "catalog", ...NOWHERE }),
    ),
    ...stored.map(({ tier, updatedAt }): Defined => ({ tier, source: "database", ...NOWHERE, updatedAt })),
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

function listConfigured(config: Config): readonly Defined[] {
  const origins = originsOf(config);
  return (config.tiers ?? []).map((tier: TierRecord, index) => ({
    tier,
    source: "file",
    file: origins?.placeOf(["tiers", index])?.file ?? null,
    line: origins?.placeOf(["tiers", index])?.line ?? null,
    updatedAt: null,
  }));
}

/** @throws GatewayError `conflict` for a tier that the configuration file defines. */
function rejectConfigured(config: Config, id: string): void {
  const found = listConfigured(config).find(({ tier }) => tier.id === id);
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

/** @throws GatewayError `invalid_request`. */
function checkBounds(tier: TierRecord, count: number): void {
  if (JSON.stringify(tier).length > MAX_CHARS)
    fail("invalid_request", `The tier must have at most ${MAX_CHARS} characters as JSON.`);
  if (count > MAX_TIERS)
    fail("invalid_request", `There are already ${MAX_TIERS} stored tiers. Delete one first.`);
}
