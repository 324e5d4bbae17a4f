import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NO_REFRESH } from "../../src/core/catalog/refresh/catalog-store.ts";
import { CATALOG_FILE, createFileCatalogStore } from "../../src/storage/files/catalog-store.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { testCatalogStore } from "./contracts/catalog-store.ts";

let dir: string;
beforeEach(() => {
  dir = makeTempFolder("gateway-catalog-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

testCatalogStore(() => createFileCatalogStore(dir));

describe("the catalog store in files", () => {
  test("reports a damaged catalog by its file, and reads a damaged refresh state as none", async () => {
    writeFileSync(join(dir, CATALOG_FILE), "{");
    writeFileSync(join(dir, "catalog-refresh.json"), '{"attemptedAt": "yesterday"}');
    const store = createFileCatalogStore(dir);
    const { value, problems } = (await store.readCatalog()) ?? {};
    expect(value).toBeNull();
    expect(problems?.join("\n")).toContain(join(dir, CATALOG_FILE));
    expect(await store.readRefreshState()).toEqual(NO_REFRESH);
  });

  test("changes its version when the catalog becomes unreadable and when it is readable again", async () => {
    const store = createFileCatalogStore(dir);
    const file = join(dir, CATALOG_FILE);
    const before = await store.readVersion();
    symlinkSync(file, file);
    const unreadable = await store.readVersion();
    expect(unreadable).not.toBe(before);
    expect((await store.readCatalog())?.problems.join("\n")).toContain("cannot be read");
    rmSync(file);
    expect(await store.readVersion()).toBe(before);
  });
});
