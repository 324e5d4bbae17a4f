import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createSystemRandom } from "../../src/base/random.ts";
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

const PLACE = { id: "pkey_1", accountId: "org_1" };
const SECRET = "sk-own-0123456789";

describe("a sealed secret", () => {
  const master = make();
  const vault = createVault(sourceOf(master), random);

  test("opens where it belongs, whatever is in it", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0x10_ff_ff), { minLength: 1 }), (codePoints) => {
        const secret = String.fromCodePoint(...codePoints);
        const text = Buffer.from(secret).toString("utf8");
        expect(vault.open(vault.seal(text, PLACE), PLACE)).toBe(text);
      }),
    );
  });

  test.each([
    ["another account", { ...PLACE, accountId: "org_2" }],
    ["another id", { ...PLACE, id: "pkey_2" }],
    ["id and account changed about", { id: PLACE.accountId, accountId: PLACE.id }],
    ["the same letters, parted otherwise", { id: "pkey_1org", accountId: "_1" }],
  ])("does not open for %s", (_name, place) => {
    expect(vault.open(vault.seal(SECRET, PLACE), place)).toBeNull();
  });

  test("does not open when any byte of it was changed", () => {
    const { masterKeyId, ciphertext } = vault.seal(SECRET, PLACE);
    const bytes = Buffer.from(ciphertext, "base64");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(vault.open({ masterKeyId, ciphertext: changed.toString("base64") }, PLACE)).toBeNull();
      expect(
        vault.open({ masterKeyId, ciphertext: bytes.subarray(0, at).toString("base64") }, PLACE),
      ).toBeNull();
    }
  });

  test("does not open with another master key, also not under the right one's name", () => {
    const sealed = vault.seal(SECRET, PLACE);
    const other = make();
    expect(createVault(sourceOf(other), random).open(sealed, PLACE)).toBeNull();
    expect(createVault(sourceOf({ ...other, id: master.id }), random).open(sealed, PLACE)).toBeNull();
  });

  test("is another one each time, and holds nothing of the secret", () => {
    const ciphertexts = [vault.seal(SECRET, PLACE).ciphertext, vault.seal(SECRET, PLACE).ciphertext];
    expect(ciphertexts[0]).not.toBe(ciphertexts[1] as string);
    expect(Buffer.from(ciphertexts[0] as string, "base64").includes(SECRET)).toBe(false);
  });

  test("opens with any of several master keys; the first seals", () => {
    const newer = make();
    const both = createVault(sourceOf(newer, master), random);
    expect(both.open(vault.seal(SECRET, PLACE), PLACE)).toBe(SECRET);
    expect(both.seal(SECRET, PLACE).masterKeyId).toBe(newer.id);
  });

  test("of a master key that came meanwhile opens once the keys were looked for again", () => {
    const newer = make();
    const sealed = createVault(sourceOf(newer), random).seal(SECRET, PLACE);
    let masters = [master];
    const reload = (): void => {
      masters = [newer, master];
    };
    const source = { ...sourceOf(), list: () => masters, reload };
    expect(createVault(source, random).open(sealed, PLACE)).toBe(SECRET);
  });
});

describe("a master key", () => {
  const bytes = Buffer.alloc(32, 7);

  test.each([
    ["base64", bytes.toString("base64")],
    ["base64 for addresses", bytes.toString("base64url")],
    ["hex", bytes.toString("hex")],
    ["hex in capitals", bytes.toString("hex").toUpperCase()],
    ["spaces about it", ` ${bytes.toString("base64")}\n`],
  ])("is read from %s", (_name, text) => {
    expect(readMasterKey(text)?.bytes.equals(bytes)).toBe(true);
  });

  test.each(["", "secret", "x".repeat(32), "A".repeat(42), "A".repeat(44), "g".repeat(64), "ä".repeat(43)])(
    "is not read from %p",
    (text) => {
      expect(readMasterKey(text)).toBeNull();
    },
  );

  test("has an id that tells nothing of it", () => {
    const master = make();
    expect(master.id).toMatch(/^[0-9a-f]{16}$/);
    expect(master.bytes.toString("hex")).not.toContain(master.id);
  });
});
