import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import {
  createMasterKey,
  createVault,
  type MasterKey,
  type MasterKeySource,
  readMasterKey,
} from "../../src/core/provider-keys/vault.ts";

const random = createSystemRandom();
const make = (): MasterKey => readMasterKey(createMasterKey(random)) as MasterKey;

function sourceOf(...masters: MasterKey[]): MasterKeySource {
  return { list: () => masters, reload() {}, newest: () => masters[0] as MasterKey };
}

const OWNER = { id: "pkey_1", accountId: "org_1" };
const SECRET = "sk-own-0123456789";

describe("an encrypted secret", () => {
  const master = make();
  const vault = createVault(sourceOf(master), random);

  test("can be decrypted for its owner, whatever it contains", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x10_ff_ff), { minLength: 1 }), (codePoints) => {
        const secret = String.fromCodePoint(...codePoints);
        const text = Buffer.from(secret).toString("utf8");
        expect(vault.open(vault.seal(text, OWNER), OWNER)).toBe(text);
      }),
    );
  });

  test.each([
    ["another account", { ...OWNER, accountId: "org_2" }],
    ["another id", { ...OWNER, id: "pkey_2" }],
    ["id and account exchanged", { id: OWNER.accountId, accountId: OWNER.id }],
    ["id and account with the same characters, divided differently", { id: "pkey_1org", accountId: "_1" }],
  ])("cannot be decrypted for %s", (_name, owner) => {
    expect(vault.open(vault.seal(SECRET, OWNER), owner)).toBeNull();
  });

  test("cannot be decrypted after any byte of it was changed", () => {
    const { masterKeyId, ciphertext } = vault.seal(SECRET, OWNER);
    const bytes = Buffer.from(ciphertext, "base64");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(vault.open({ masterKeyId, ciphertext: changed.toString("base64") }, OWNER)).toBeNull();
      expect(
        vault.open({ masterKeyId, ciphertext: bytes.subarray(0, at).toString("base64") }, OWNER),
      ).toBeNull();
    }
  });

  test("cannot be decrypted with another master key, even one with the same id", () => {
    const sealed = vault.seal(SECRET, OWNER);
    const other = make();
    expect(createVault(sourceOf(other), random).open(sealed, OWNER)).toBeNull();
    expect(createVault(sourceOf({ ...other, id: master.id }), random).open(sealed, OWNER)).toBeNull();
  });

  test("is different each time, and does not contain the secret", () => {
    const ciphertexts = [vault.seal(SECRET, OWNER).ciphertext, vault.seal(SECRET, OWNER).ciphertext];
    expect(ciphertexts[0]).not.toBe(ciphertexts[1] as string);
    expect(Buffer.from(ciphertexts[0] as string, "base64").includes(SECRET)).toBe(false);
  });

  test("can be decrypted with any of several master keys, of which the first encrypts", () => {
    const newer = make();
    const both = createVault(sourceOf(newer, master), random);
    expect(both.open(vault.seal(SECRET, OWNER), OWNER)).toBe(SECRET);
    expect(both.seal(SECRET, OWNER).masterKeyId).toBe(newer.id);
  });

  test("can be decrypted with a master key that was added meanwhile, because the keys are read again", () => {
    const newer = make();
    const sealed = createVault(sourceOf(newer), random).seal(SECRET, OWNER);
    let masters = [master];
    const reload = (): void => {
      masters = [newer, master];
    };
    const source = { ...sourceOf(), list: () => masters, reload };
    expect(createVault(source, random).open(sealed, OWNER)).toBe(SECRET);
  });
});

describe("a master key", () => {
  const bytes = Buffer.alloc(32, 7);

  test.each([
    ["base64", bytes.toString("base64")],
    ["base64url", bytes.toString("base64url")],
    ["hex", bytes.toString("hex")],
    ["upper-case hex", bytes.toString("hex").toUpperCase()],
    ["text with surrounding whitespace", ` ${bytes.toString("base64")}\n`],
  ])("is parsed from %s", (_name, text) => {
    expect(readMasterKey(text)?.bytes.equals(bytes)).toBe(true);
  });

  test.each(["", "secret", "x".repeat(32), "A".repeat(42), "A".repeat(44), "g".repeat(64), "ä".repeat(43)])(
    "is not parsed from %p",
    (text) => {
      expect(readMasterKey(text)).toBeNull();
    },
  );

  test("has an id that does not reveal it", () => {
    const master = make();
    expect(master.id).toMatch(/^[0-9a-f]{16}$/);
    expect(master.bytes.toString("hex")).not.toContain(master.id);
  });
});
