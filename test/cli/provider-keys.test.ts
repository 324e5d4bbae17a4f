import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RecordingVendor, startRecordingVendor, yamlFor } from "../support/recording-vendor.ts";
import { createWorkplace, type Workplace } from "../support/run-gateway.ts";

const OWN = "own-command-0123456789";

let vendor: RecordingVendor;
let workplace: Workplace;

beforeAll(() => {
  vendor = startRecordingVendor();
  workplace = createWorkplace();
  writeFileSync(join(workplace.folder, "gateway.yaml"), yamlFor(vendor));
});
afterAll(async () => {
  await vendor.stop();
  workplace.clear();
});

/** Runs a command; in a process of its own where it is to read `stdin`. */
const run = (args: readonly string[], stdin?: string, environment: Readonly<Record<string, string>> = {}) =>
  stdin === undefined ? workplace.run(args, environment) : workplace.runAlone(args, { stdin, environment });

describe("gateway provider-keys", () => {
  test("stores a key from standard input, lists it, tries it, seals it anew and forgets it", async () => {
    const added = await run(["provider-keys", "add", "vendor", "--name", "team", "--json"], `${OWN}\n`);
    expect([added.exitCode, added.stderr]).toEqual([0, ""]);
    const { data } = JSON.parse(added.stdout);
    expect(data).toMatchObject({
      account_id: "acct_default",
      provider: "vendor",
      name: "team",
      last_four: "6789",
    });

    const tried = await run(["provider-keys", "test", data.id]);
    expect([tried.exitCode, tried.stdout]).toEqual([0, expect.stringMatching(/^ok: /)]);
    expect(vendor.last().headers.get("authorization")).toBe(`Bearer ${OWN}`);

    const rotated = await run(["secrets", "rotate"]);
    expect([rotated.exitCode, rotated.stdout]).toEqual([0, expect.stringContaining("1 provider keys")]);
    expect((await run(["provider-keys", "test", data.id])).exitCode).toBe(0);

    const listed = await run(["provider-keys", "list"]);
    expect(listed.stdout).toContain(data.id);
    expect(listed.stdout).toContain("…6789");

    vendor.reset(() => Response.json({ error: { message: `no ${OWN}` } }, { status: 401 }));
    const refused = await run(["provider-keys", "test", data.id, "--json"]);
    expect([refused.exitCode, JSON.parse(refused.stdout).data.status]).toEqual([1, "refused"]);

    const removed = await run(["provider-keys", "remove", data.id]);
    expect(removed.exitCode).toBe(0);
    expect((await run(["provider-keys", "list"])).stdout).toContain("No provider keys of");
    for (const { stdout, stderr } of [added, tried, rotated, listed, refused, removed])
      expect(stdout + stderr).not.toContain(OWN);
  });

  test.each<[string, readonly string[], string, RegExp]>([
    ["no key on standard input", ["add", "vendor"], "\n", /No key was given/],
    ["a provider that takes none", ["add", "nobody"], OWN, /does not accept BYOK keys/],
    [
      "an account that there is not",
      ["add", "vendor", "--account", "org_none"],
      OWN,
      /No account has the ID org_none/,
    ],
    ["a key that is not there", ["remove", "pkey_none"], "", /No provider key has the ID pkey_none/],
  ])("gives 1 and says what is wrong with %s", async (_name, args, stdin, words) => {
    const { exitCode, stdout, stderr } = await run(["provider-keys", ...args], stdin);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/own-command|\bat .*\.ts:\d+/);
  });

  test("takes no key as an argument", async () => {
    expect((await run(["provider-keys", "add", "vendor", OWN])).exitCode).toBe(2);
  });

  test("rotating with nothing stored says so", async () => {
    const { exitCode, stdout } = await run(["secrets", "rotate"]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("nothing to re-encrypt")]);
  });

  test("says in the list which key cannot be decrypted after a change of the master key, and what to do", async () => {
    const master = (letter: string) => ({ GATEWAY_SECRETS_KEY: letter.repeat(64) });
    const added = await run(["provider-keys", "add", "vendor", "--json"], `${OWN}\n`, master("a"));
    const { id } = JSON.parse(added.stdout).data;
    expect((await run(["provider-keys", "list"], undefined, master("a"))).stdout).toMatch(/enabled\n$/);
    const listed = await run(["provider-keys", "list"], undefined, master("b"));
    expect(listed.stdout).toMatch(new RegExp(`${id}.*cannot be decrypted\n\n.*store the key again`));
    const json = await run(["provider-keys", "list", "--json"], undefined, master("b"));
    expect(JSON.parse(json.stdout).data).toMatchObject([{ id, readable: false }]);
    await run(["provider-keys", "remove", id]);
  });
});
