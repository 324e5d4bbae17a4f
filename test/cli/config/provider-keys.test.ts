import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import {
  type RecordingVendor,
  startRecordingVendor,
  yamlFor,
} from "../../support/vendors/recording-vendor.ts";

const BYOK_KEY = "own-command-0123456789";

let vendor: RecordingVendor;
let workspace: Workspace;

beforeAll(async () => {
  vendor = startRecordingVendor();
  workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "gateway.yaml"), yamlFor(vendor));
  await workspace.run(["migrate"]);
});
afterAll(async () => {
  await vendor.stop();
  workspace.clear();
});

/** Runs a command, in its own process if it reads `stdin`. */
const run = (args: readonly string[], stdin?: string, environment: Readonly<Record<string, string>> = {}) =>
  stdin === undefined
    ? workspace.run(args, environment)
    : workspace.runInOwnProcess(args, { stdin, environment });

describe("gateway provider-keys", () => {
  test("stores a key from standard input, lists it, tests it, re-encrypts it and removes it", async () => {
    const added = await run(["provider-keys", "add", "vendor", "--name", "team", "--json"], `${BYOK_KEY}\n`);
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
    expect(vendor.last().headers.get("authorization")).toBe(`Bearer ${BYOK_KEY}`);

    const rotated = await run(["secrets", "rotate"]);
    expect([rotated.exitCode, rotated.stdout]).toEqual([0, expect.stringContaining("1 secrets")]);
    expect((await run(["provider-keys", "test", data.id])).exitCode).toBe(0);

    const listed = await run(["provider-keys", "list"]);
    expect(listed.stdout).toContain(data.id);
    expect(listed.stdout).toContain("…6789");

    vendor.reset(() => Response.json({ error: { message: `no ${BYOK_KEY}` } }, { status: 401 }));
    const refused = await run(["provider-keys", "test", data.id, "--json"]);
    expect([refused.exitCode, JSON.parse(refused.stdout).data.status]).toEqual([1, "refused"]);
    expectPromisedOutput([
      { command: "provider-keys add", json: JSON.parse(added.stdout) },
      { command: "provider-keys test", json: JSON.parse(refused.stdout) },
    ]);

    const removed = await run(["provider-keys", "remove", data.id]);
    expect(removed.exitCode).toBe(0);
    expect((await run(["provider-keys", "list"])).stdout).toContain("No provider keys of");
    for (const { stdout, stderr } of [added, tried, rotated, listed, refused, removed])
      expect(stdout + stderr).not.toContain(BYOK_KEY);
  });

  test.each<[string, readonly string[], string, RegExp]>([
    ["an empty standard input", ["add", "vendor"], "\n", /No key was given/],
    ["a provider without keys", ["add", "no-such-provider"], BYOK_KEY, /does not accept BYOK keys/],
    [
      "an unknown account",
      ["add", "vendor", "--account", "org_none"],
      BYOK_KEY,
      /There is no account org_none/,
    ],
    ["an unknown provider key", ["remove", "pkey_none"], "", /There is no provider key pkey_none/],
  ])("exits with 1 and an explanation for %s", async (_name, args, stdin, words) => {
    const { exitCode, stdout, stderr } = await run(["provider-keys", ...args], stdin);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/own-command|\bat .*\.ts:\d+/);
  });

  test("rejects a key as an argument", async () => {
    expect((await run(["provider-keys", "add", "vendor", BYOK_KEY])).exitCode).toBe(2);
  });

  test("reports that there is nothing to re-encrypt", async () => {
    const { exitCode, stdout } = await run(["secrets", "rotate"]);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("nothing to re-encrypt")]);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "lists which keys cannot be decrypted after a change of the master key, and what to do",
    async () => {
      const master = (letter: string) => ({ GATEWAY_SECRETS_KEY: letter.repeat(64) });
      const added = await run(["provider-keys", "add", "vendor", "--json"], `${BYOK_KEY}\n`, master("a"));
      const { id } = JSON.parse(added.stdout).data;
      expect((await run(["provider-keys", "list"], undefined, master("a"))).stdout).toMatch(/enabled\n$/);
      const listed = await run(["provider-keys", "list"], undefined, master("b"));
      expect(listed.stdout).toMatch(new RegExp(`${id}.*cannot be decrypted\n\n.*store the key again`));
      const json = await run(["provider-keys", "list", "--json"], undefined, master("b"));
      expect(JSON.parse(json.stdout).data).toMatchObject([{ id, readable: false }]);
      await run(["provider-keys", "remove", id]);
    },
  );
});
