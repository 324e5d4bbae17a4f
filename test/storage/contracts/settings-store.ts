import { describe, expect, test } from "bun:test";
import type { SettingsStore } from "../../../src/core/settings/settings-store.ts";
import type { CreateStore } from "./create-store.ts";

/** The contract of a `SettingsStore`. */
export function testSettingsStore(createStore: CreateStore<SettingsStore>): void {
  describe("a settings store", () => {
    test("adds a setting only if it does not exist, whichever connection adds it", async () => {
      const [here, there] = [await createStore(), await createStore()];
      expect(await here.findSetting("name")).toBeNull();
      expect(await here.addSetting("name", "first")).toBe(true);
      expect(await there.addSetting("name", "second")).toBe(false);
      expect(await there.findSetting("name")).toBe("first");
    });

    test("lets one of two connections add a setting that both add at the same time", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const added = await Promise.all([here.addSetting("name", "here"), there.addSetting("name", "there")]);
      expect(added.filter((isAdded) => isAdded)).toHaveLength(1);
      expect(await here.findSetting("name")).toBe(added[0] ? "here" : "there");
    });

    test("replaces a setting", async () => {
      const store = await createStore();
      await store.putSetting("name", "first");
      await store.putSetting("name", "second");
      expect(await store.findSetting("name")).toBe("second");
    });
  });
}
