import { describe, expect, test } from "bun:test";
import type { StoredTier, TierStore } from "../../../src/core/catalog/tiers/tier-store.ts";
import type { SettingsStore } from "../../../src/core/settings/settings-store.ts";
import type { CreateStore } from "./create-store.ts";

interface Stores {
  readonly tiers: TierStore;
  readonly settings: SettingsStore;
}

function tierOf(name: string, updatedAt = 1_000): StoredTier {
  const tier = {
    id: `gateway-auto/${name}`,
    name,
    description: "",
    rule: { by: "free", except: [], last: [] },
  };
  return { tier: tier as StoredTier["tier"], updatedAt };
}

/** The contract of a `TierStore`. */
export function testTierStore(createStores: CreateStore<Stores>): void {
  describe("a tier store", () => {
    test("stores tiers, which other connections read, by id", async () => {
      const [here, there] = [await createStores(), await createStores()];
      expect(await here.tiers.listTiers()).toEqual([]);
      await here.tiers.putTier(tierOf("b"));
      await here.tiers.putTier(tierOf("a"));
      expect(await there.tiers.listTiers()).toEqual([tierOf("a"), tierOf("b")]);
    });

    test("replaces the tier with the same id", async () => {
      const { tiers } = await createStores();
      await tiers.putTier(tierOf("a"));
      await tiers.putTier(tierOf("a", 2_000));
      expect(await tiers.listTiers()).toEqual([tierOf("a", 2_000)]);
    });

    test("deletes a tier once", async () => {
      const { tiers } = await createStores();
      await tiers.putTier(tierOf("a"));
      await tiers.putTier(tierOf("b"));
      expect(await tiers.deleteTier("gateway-auto/a")).toBe(true);
      expect(await tiers.deleteTier("gateway-auto/a")).toBe(false);
      expect(await tiers.listTiers()).toEqual([tierOf("b")]);
    });

    test("changes its revision with each change, also for other connections", async () => {
      const [here, there] = [await createStores(), await createStores()];
      const seen = [await there.tiers.tierRevision()];
      await here.tiers.putTier(tierOf("a"));
      seen.push(await there.tiers.tierRevision());
      await here.tiers.putTier(tierOf("a", 2_000));
      seen.push(await there.tiers.tierRevision());
      await here.tiers.deleteTier("gateway-auto/a");
      seen.push(await there.tiers.tierRevision());
      expect(new Set(seen).size).toBe(4);
      expect(await there.tiers.tierRevision()).toBe(seen.at(-1) as number);
    });

    test("leaves out a tier of a form that it does not know, and other settings", async () => {
      const { tiers, settings } = await createStores();
      const later = { tier: { ...tierOf("a").tier, rule: { by: "weather" } }, updatedAt: 1 };
      await settings.putSetting("tier gateway-auto/a", JSON.stringify(later));
      await settings.putSetting("tier!", "not a tier");
      await settings.putSetting("tie", "not a tier");
      await tiers.putTier(tierOf("b"));
      expect(await tiers.listTiers()).toEqual([tierOf("b")]);
    });
  });
}
