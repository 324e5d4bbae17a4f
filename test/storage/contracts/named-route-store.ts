import { describe, expect, test } from "bun:test";
import type { NamedRouteStore } from "../../../src/core/named-routes/named-route-store.ts";
import { MAX_VERSIONS } from "../../../src/core/named-routes/route-schema.ts";
import type { CreateStore } from "./create-store.ts";

const aliasOf = (name: string, target: string, accountId: string | null = null, updatedAt = 1_000) => ({
  name,
  accountId,
  definition: { kind: "alias" as const, target },
  updatedAt,
});

/** The contract of a `NamedRouteStore`. */
export function testNamedRouteStore(createStore: CreateStore<NamedRouteStore>): void {
  describe("a named route store", () => {
    test("stores the routes of the operator and of accounts apart, by name, for other connections too", async () => {
      const [here, there] = [await createStore(), await createStore()];
      expect(await here.listNamedRoutes(null)).toEqual([]);
      await here.putNamedRoute(aliasOf("b", "acme/one"));
      await here.putNamedRoute(aliasOf("a", "acme/two"));
      await here.putNamedRoute(aliasOf("a", "acme/three", "org_1"));
      expect(await there.listNamedRoutes(null)).toEqual([
        { ...aliasOf("a", "acme/two"), version: 1 },
        { ...aliasOf("b", "acme/one"), version: 1 },
      ]);
      expect(await there.listNamedRoutes("org_1")).toEqual([
        { ...aliasOf("a", "acme/three", "org_1"), version: 1 },
      ]);
      expect(await there.listNamedRoutes("org_2")).toEqual([]);
    });

    test("counts the versions of a route and lists the latest", async () => {
      const store = await createStore();
      expect(await store.putNamedRoute(aliasOf("a", "acme/one"))).toMatchObject({ version: 1 });
      expect(await store.putNamedRoute(aliasOf("a", "acme/two", null, 2_000))).toMatchObject({ version: 2 });
      expect(await store.listNamedRoutes(null)).toEqual([
        { ...aliasOf("a", "acme/two", null, 2_000), version: 2 },
      ]);
      expect(await store.listNamedRouteVersions(null, "a")).toEqual([
        { ...aliasOf("a", "acme/two", null, 2_000), version: 2 },
        { ...aliasOf("a", "acme/one"), version: 1 },
      ]);
      expect(await store.listNamedRouteVersions("org_1", "a")).toEqual([]);
    });

    test("keeps only the last versions of a route, and all of another", async () => {
      const store = await createStore();
      await store.putNamedRoute(aliasOf("ab", "acme/one"));
      for (let at = 1; at <= MAX_VERSIONS + 2; at++) await store.putNamedRoute(aliasOf("a", `acme/${at}`));
      const versions = await store.listNamedRouteVersions(null, "a");
      expect(versions.map(({ version }) => version)).toEqual(
        Array.from({ length: MAX_VERSIONS }, (_, at) => MAX_VERSIONS + 2 - at),
      );
      expect(await store.listNamedRouteVersions(null, "ab")).toHaveLength(1);
    });

    test("deletes all versions of a route once, and no other route", async () => {
      const store = await createStore();
      await store.putNamedRoute(aliasOf("a", "acme/one"));
      await store.putNamedRoute(aliasOf("a", "acme/two"));
      await store.putNamedRoute(aliasOf("a", "acme/one", "org_1"));
      expect(await store.deleteNamedRoute(null, "a")).toBe(true);
      expect(await store.deleteNamedRoute(null, "a")).toBe(false);
      expect(await store.listNamedRouteVersions(null, "a")).toEqual([]);
      expect(await store.listNamedRoutes("org_1")).toHaveLength(1);
    });

    test("gives versions that are stored at the same time different numbers", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const stored = await Promise.all([
        here.putNamedRoute(aliasOf("a", "acme/one")),
        there.putNamedRoute(aliasOf("a", "acme/two")),
        here.putNamedRoute(aliasOf("a", "acme/three")),
      ]);
      expect(stored.map(({ version }) => version).sort()).toEqual([1, 2, 3]);
    });

    test("changes its revision with each change, also for other connections", async () => {
      const [here, there] = [await createStore(), await createStore()];
      const seen = [await there.namedRouteRevision()];
      await here.putNamedRoute(aliasOf("a", "acme/one"));
      seen.push(await there.namedRouteRevision());
      await here.putNamedRoute(aliasOf("a", "acme/two"));
      seen.push(await there.namedRouteRevision());
      await here.deleteNamedRoute(null, "a");
      seen.push(await there.namedRouteRevision());
      expect(new Set(seen).size).toBe(4);
    });

    test("leaves out a definition of a later version of the program", async () => {
      const store = await createStore();
      const later = { kind: "weather", target: "acme/one" } as unknown as { kind: "alias"; target: string };
      await store.putNamedRoute({ ...aliasOf("a", "acme/one"), definition: later });
      await store.putNamedRoute(aliasOf("b", "acme/one"));
      expect((await store.listNamedRoutes(null)).map(({ name }) => name)).toEqual(["b"]);
    });
  });
}
