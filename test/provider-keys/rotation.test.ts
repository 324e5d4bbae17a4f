import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { openMasterKeys } from "../../src/app/stores/open-master-keys.ts";
import { rotateMasterKey } from "../../src/app/stores/rotate-master-key.ts";
import { requireMasterKey } from "../../src/app/stores/sealing-gateway.ts";
import type { Stores } from "../../src/app/stores/stores.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import type { ProviderKeyRecord } from "../../src/core/provider-keys/records.ts";
import { createMasterKey, createVault } from "../../src/core/provider-keys/vault.ts";
import { conversationOf, objectAt } from "../storage/contracts/response-store.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { makeAccount, makeKey, restart, type Site, secretsAt, startSite } from "./site.ts";

const random = createSystemRandom();
let dir: string;
let stores: Stores;

beforeEach(async () => {
  dir = makeTempFolder("gateway-rotation-");
  stores = await openTestStores(dir);
});
afterEach(async () => {
  await stores.close();
  rmSync(dir, { recursive: true, force: true });
});

const configOf = (...keys: string[]) =>
  checkConfig("", "gateway.yaml", {
    GATEWAY_DATA_DIR: dir,
    ...(keys.length > 0 ? { GATEWAY_SECRETS_KEY: keys.join(",") } : {}),
  });
const vaultOf = (...keys: string[]) => createVault(openMasterKeys(configOf(...keys), random), random);
const rotate = (...keys: string[]) => rotateMasterKey(configOf(...keys), stores, random);
const lines = () =>
  readFileSync(join(dir, "secrets.key"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

/** Stores keys encrypted by a vault, more than one page. */
async function fill(vault: ReturnType<typeof vaultOf>, count = 230): Promise<void> {
  for (let owner = 0; owner < count; owner++) await store(vault, `pkey_${owner}`);
}

async function store(vault: ReturnType<typeof vaultOf>, id: string): Promise<void> {
  await stores.providerKeys.insertProviderKey({
    id,
    accountId: "org_1",
    provider: "near",
    name: "",
    lastFour: "",
    sealed: vault.seal(`secret of ${id}`, { id, accountId: "org_1" }),
    order: 0,
    enabled: true,
    models: null,
    members: null,
    teams: null,
    createdAt: 0,
    updatedAt: 0,
    lastUsedAt: null,
    lastError: null,
  });
}

async function expectReadable(vault: ReturnType<typeof vaultOf>): Promise<readonly ProviderKeyRecord[]> {
  const all = await stores.providerKeys.listProviderKeys("org_1");
  for (const key of all) expect(vault.open(key.sealed, key)).toBe(`secret of ${key.id}`);
  return all;
}

describe("a master key without configuration", () => {
  test("is created on first use in a file that only its owner can read, and is kept", async () => {
    const vault = vaultOf();
    expect(() => statSync(join(dir, "secrets.key"))).toThrow();
    vault.seal("x", { id: "a", accountId: "b" });
    expect(statSync(join(dir, "secrets.key")).mode & 0o777).toBe(0o600);
    const [first] = lines();
    vaultOf().seal("x", { id: "a", accountId: "b" });
    expect(lines()).toEqual([first as string]);
  });

  test("is created only once if two processes need it at the same time", async () => {
    const vaults = [vaultOf(), vaultOf()];
    const sealed = vaults.map((vault) => vault.seal("x", { id: "a", accountId: "b" }));
    expect(sealed[0]?.masterKeyId).toBe(sealed[1]?.masterKeyId as string);
  });

  test("gives an error with the name of its file if the file is damaged", () => {
    vaultOf().seal("x", { id: "a", accountId: "b" });
    const file = join(dir, "secrets.key");
    Bun.spawnSync(["sh", "-c", `echo nonsense >> ${file}`]);
    expect(() => vaultOf()).toThrow("secrets.key");
  });
});

describe("a rotation of the master key", () => {
  test("does nothing if nothing is stored", async () => {
    expect(await rotate()).toBeNull();
  });

  test("creates another master key and encrypts everything with it", async () => {
    await fill(vaultOf());
    const [old] = lines();
    const outcome = await rotate();
    expect(outcome).toMatchObject({ resealed: 230, unreadable: [], isNew: true });
    expect(lines()).toEqual([expect.any(String), old as string]);
    const all = await expectReadable(vaultOf());
    expect(new Set(all.map(({ sealed }) => sealed.masterKeyId))).toEqual(new Set([outcome!.masterKeyId]));
    // The next rotation removes the master key before the last one.
    await rotate();
    expect(lines()).toHaveLength(2);
    expect(lines()).not.toContain(old as string);
    await expectReadable(vaultOf());
  });

  test("encrypts the data keys of response objects and conversations too, and keeps what only they need", async () => {
    const old = vaultOf();
    const ids = Array.from({ length: 130 }, (_, n) => `gen_${n}`);
    const sealedBy = (vault: typeof old, id: string) => ({
      ...{ accountId: "org_1", expiresAt: Number.MAX_SAFE_INTEGER },
      sealed: vault.seal(`data key of ${id}`, { id, accountId: "org_1" }),
    });
    for (const id of ids)
      await stores.responses.addObject(objectAt(0, { id, ...sealedBy(old, id) }), [], 1_000_000);
    await stores.responses.addConversation(conversationOf("conv_1", sealedBy(old, "conv_1")), 1e9);
    const outcome = await rotate();
    expect(outcome).toMatchObject({ resealed: 0, unreadable: [], isNew: true });
    expect(await stores.responses.listMasterKeysInUse()).toEqual([outcome!.masterKeyId]);
    const stored = [
      ...(await Promise.all(ids.map((id) => stores.responses.findObject(id, 0)))),
      await stores.responses.findConversation("conv_1", 0),
    ];
    for (const row of stored) expect(vaultOf().open(row!.sealed, row!)).toBe(`data key of ${row!.id}`);
    const other = createMasterKey(random);
    const unused = stores.responses.reseal;
    stores.responses.reseal = async () => false;
    expect(await rotate(other)).toMatchObject({ idleFile: null });
    stores.responses.reseal = unused;
    expect(await rotate(other)).toMatchObject({ idleFile: join(dir, "secrets.key") });
  });

  test("continues with the same master key after it was interrupted", async () => {
    await fill(vaultOf());
    let left = 100;
    const breaking = {
      ...stores.providerKeys,
      reseal: (...args: Parameters<typeof stores.providerKeys.reseal>) => {
        if (left-- === 0) throw new Error("killed");
        return stores.providerKeys.reseal(...args);
      },
    };
    await expect(rotateMasterKey(configOf(), { ...stores, providerKeys: breaking }, random)).rejects.toThrow(
      "killed",
    );
    await expectReadable(vaultOf());
    const keys = lines();
    expect(await rotate()).toMatchObject({ resealed: 130, isNew: false });
    expect(lines()).toEqual(keys);
    await expectReadable(vaultOf());
  });

  test("uses the first configured key, and reports when the file is no longer needed", async () => {
    await fill(vaultOf(), 3);
    const [first, second] = [createMasterKey(random), createMasterKey(random)];
    expect(await rotate(first)).toMatchObject({
      resealed: 3,
      isNew: false,
      idleFile: join(dir, "secrets.key"),
    });
    rmSync(join(dir, "secrets.key"));
    await expectReadable(vaultOf(first));
    expect(await rotate(second, first)).toMatchObject({ resealed: 3, idleFile: null });
    await expectReadable(vaultOf(second));
    expect(await rotate(second)).toMatchObject({ resealed: 0 });
  });

  test("does not change secrets that it cannot decrypt, and reports them", async () => {
    const [lost, kept] = [createMasterKey(random), createMasterKey(random)];
    await store(vaultOf(lost), "pkey_lost");
    await store(vaultOf(kept), "pkey_kept");
    const next = createMasterKey(random);
    const outcome = await rotate(next, kept);
    expect([outcome?.resealed, outcome?.unreadable.map(({ id }) => id)]).toEqual([1, ["pkey_lost"]]);
    expect(await rotate(next, lost)).toMatchObject({ resealed: 1, unreadable: [] });
  });

  test("does not change a secret that was replaced meanwhile", async () => {
    await fill(vaultOf(), 1);
    const [before] = await stores.providerKeys.listProviderKeys("org_1");
    const newer = vaultOf().seal("secret of pkey_0", { id: "pkey_0", accountId: "org_1" });
    await stores.providerKeys.updateProviderKey(before!, newer);
    const stale = vaultOf().seal("stale", { id: "pkey_0", accountId: "org_1" });
    expect(await stores.providerKeys.reseal("pkey_0", before!.sealed, stale)).toBe(false);
    await expectReadable(vaultOf());
  });

  test("affects neither the callers of a running gateway nor keys that are stored after it", async () => {
    const site = await startSite();
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", "own-rotated-0123456789");
    expect((await site.chat(key)).status).toBe(200);
    const config = checkConfig("", "gateway.yaml", { GATEWAY_DATA_DIR: site.gateway.dataDir });
    const outcome = await rotateMasterKey(config, site.stores, random);
    expect(outcome?.resealed).toBe(1);
    // Clears the cache, so that the gateway reads the key again and needs the new master key.
    await site.manage(`/accounts/${account}/provider-keys/${id}`, { method: "PATCH", body: { name: "b" } });
    expect((await site.chat(key)).status).toBe(200);
    expect(secretsAt(site.near)).toEqual(["own-rotated-0123456789", "own-rotated-0123456789"]);
    await site.bring(account, "far", "own-later-0123456789");
    expect(await site.stores.providerKeys.listMasterKeysInUse()).toEqual([outcome!.masterKeyId]);
    await site.stop();
  });

  test("runs in only one process at a time", async () => {
    await fill(vaultOf(), 3);
    const outcomes = await Promise.allSettled([rotate(), rotate()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("a rotation while a gateway runs that encrypts with another master key", () => {
  const rotateAt = (site: Site, ...keys: string[]) => {
    const environment = { GATEWAY_DATA_DIR: site.gateway.dataDir, GATEWAY_SECRETS_KEY: keys.join(",") };
    return rotateMasterKey(checkConfig("", "gateway.yaml", environment), site.stores, random);
  };

  test("changes nothing and does not report the file as unused", async () => {
    const site = await startSite();
    const account = await makeAccount(site);
    const key = await makeKey(site, account);
    const id = await site.bring(account, "near", "own-kept-0123456789");
    const inUse = await site.stores.providerKeys.listMasterKeysInUse();
    await expect(rotateAt(site, createMasterKey(random))).rejects.toThrow(
      /gateway that is running .* encrypts with another master key.*restart the gateway/,
    );
    expect(await site.stores.providerKeys.listMasterKeysInUse()).toEqual(inUse);
    // Clears the cache, so that the gateway reads the key again.
    await site.manage(`/accounts/${account}/provider-keys/${id}`, { method: "PATCH", body: { name: "b" } });
    expect((await site.chat(key)).status).toBe(200);
    expect(secretsAt(site.near)).toEqual(["own-kept-0123456789"]);
    await site.stop();
  });

  test("continues after the gateway was restarted with the new master key, and reports the unused file", async () => {
    const before = await startSite();
    await before.bring(await makeAccount(before), "near", "own-moved-0123456789");
    const next = createMasterKey(random);
    const site = await restart(before, { environment: { GATEWAY_SECRETS_KEY: next } });
    expect(await rotateAt(site, next)).toMatchObject({
      resealed: 1,
      unreadable: [],
      idleFile: join(site.gateway.dataDir, "secrets.key"),
    });
    await expect(rotateAt(site, createMasterKey(random), next)).rejects.toThrow("another master key");
    await site.stop();
  });

  test("does not report the file as unused if another key was encrypted with it after the others were rotated", async () => {
    await fill(vaultOf(), 1);
    const first = createMasterKey(random);
    const late = {
      ...stores.providerKeys,
      async reseal(...args: Parameters<typeof stores.providerKeys.reseal>) {
        // Sorts before the page that was read, as a key may that a process stores during the rotation.
        await store(vaultOf(), "pkey_");
        return stores.providerKeys.reseal(...args);
      },
    };
    const outcome = await rotateMasterKey(configOf(first), { ...stores, providerKeys: late }, random);
    expect(outcome).toMatchObject({ resealed: 1, unreadable: [], idleFile: null });
    expect(await rotate(first)).toMatchObject({ resealed: 1, idleFile: join(dir, "secrets.key") });
  });
});

describe("the configuration of master keys", () => {
  test.each([["too short"], ["x".repeat(44)], [`${"a".repeat(64)},nonsense`]])(
    "rejects %p without repeating it",
    (text) => {
      const check = () => checkConfig("", "gateway.yaml", { GATEWAY_SECRETS_KEY: text });
      expect(check).toThrow("GATEWAY_SECRETS_KEY must be 32 bytes");
      expect(check).not.toThrow(text);
    },
  );

  test("creates no master key for a gateway on shared stores while response objects need another one", async () => {
    const lost = createMasterKey(random);
    const sealed = vaultOf(lost).seal("data key", { id: "conv_1", accountId: "org_a" });
    await stores.responses.addConversation(conversationOf("conv_1", { sealed }), 1e9);
    const masters = openMasterKeys(configOf(), random);
    await expect(requireMasterKey(stores, masters)).rejects.toThrow(sealed.masterKeyId);
    expect(masters.list()).toEqual([]);
    await requireMasterKey(stores, openMasterKeys(configOf(lost), random));
    await stores.responses.deleteConversation("conv_1");
    await requireMasterKey(stores, masters);
    expect(masters.list()).toHaveLength(1);
  });

  test("rejects the admin key as a master key", () => {
    const key = createMasterKey(random);
    const config = checkConfig("", "gateway.yaml", { GATEWAY_SECRETS_KEY: key, GATEWAY_ADMIN_KEY: key });
    expect(() => openMasterKeys(config, random)).toThrow("management key");
  });
});
