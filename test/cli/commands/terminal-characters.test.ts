import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createLog } from "../../../src/telemetry/log.ts";
import { accountOf, keyOf, memberOf, usageOf } from "../../storage/contracts/samples.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { createTestClock } from "../../support/test-clock.ts";

/** Clears a terminal, overrides the direction of text, begins a line of its own, and a sequence with an 8-bit control. */
const EVIL = "a\u001b[2J\u202eb\r\nforged row\u009b31m\u2066c\u007f";
/** What a terminal may get besides text: the end of a line. */
const OBEYED =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const DAY = 86_400_000;
let workspace: Workspace;
let environment: Readonly<Record<string, string>>;
const now = Date.now();
const generation = "gen_00000000000000000000000001";

/** Fills a store as former versions could: with names that are not allowed any more. */
beforeAll(async () => {
  workspace = createWorkspace();
  const dataDir = mkdtempSync(join(workspace.folder, "data-"));
  environment = { GATEWAY_DATA_DIR: dataDir };
  await workspace.run(["migrate"], environment);
  const stores = await openTestStores(dataDir);
  await stores.accounts.insertAccount(accountOf("user_a", { name: EVIL, externalId: EVIL }));
  await stores.accounts.insertAccount(accountOf("user_b", { name: EVIL }));
  const owner = memberOf("org_a", "user_a", { role: "owner" });
  await stores.accounts.insertAccount(accountOf("org_a", { name: EVIL }), owner);
  await stores.keys.insertKey(keyOf("key_a", { name: EVIL, accountId: "org_a", models: [EVIL] }));
  await stores.budgets.insertBudget({
    ...{ id: "budget_a", accountId: "org_a", name: EVIL, subject: "end_user", subjectId: "u", endUser: EVIL },
    ...{
      limit: 1_000,
      period: "day",
      days: null,
      action: "block",
      warnAt: 800,
      setBy: "operator",
      createdAt: 1,
    },
  });
  await stores.consoleSessions.insertSession({
    ...{ id: "sess_a", hash: "h", keyId: "key_a", keyHash: "k", accountId: "org_a", userId: "user_a" },
    ...{ userAgent: EVIL, authenticatedAt: null, createdAt: now, lastUsedAt: now, expiresAt: now + DAY },
  });
  await stores.identities.addIdentity({
    issuer: "https://idp",
    subject: EVIL,
    userId: "user_a",
    createdAt: 1,
  });
  await stores.ledger.addTransfer({
    ...{ id: "credit-1", kind: "grant", from: "platform", to: "org_a", amount: 5, createdAt: now },
    ...{ note: EVIL, expiresAt: null },
  });
  const { record } = usageOf(generation, {
    accountId: "org_a",
    keyId: "key_a",
    userId: "user_a",
    createdAt: now,
  });
  const evil = { ...record, requestedModel: EVIL, modelId: EVIL, tags: [EVIL], errorMessage: EVIL };
  await stores.usage.saveUsage([{ record: evil, json: JSON.stringify(evil) }]);
  await stores.audit.appendAudit({
    ...{ at: now, keyId: null, userId: null, action: EVIL, accountId: "org_a", target: EVIL },
    ...{ requestId: null, changes: { name: EVIL } },
  });
  await stores.close();
});
afterAll(() => workspace.clear());

describe("a command prints no character that a terminal would obey", () => {
  const commands = [
    ["keys", "list"],
    ["keys", "show", "key_a"],
    ["users", "list"],
    ["users", "show", "user_a"],
    ["orgs", "list"],
    ["orgs", "show", "org_a"],
    ["members", "list", "org_a"],
    ["budgets", "list"],
    ["budgets", "show", "budget_a"],
    ["sessions", "list"],
    ["identities", "list"],
    ["ledger", "org_a"],
    ["credits", "show", "org_a"],
    ["requests", "list"],
    ["requests", "show", generation],
    ["audit", "list"],
    ["usage", "--by", "model"],
    ["usage", "--by", "tag"],
    ["usage", "--by", "key"],
    ["usage", "--by", "model", "--csv"],
    // What is unknown is an error that repeats the argument; a name of two users lists both.
    ["users", "show", `unknown ${EVIL}`],
    ["users", "show", EVIL],
    ["keys", EVIL],
    ["keys", "list", `--${EVIL}`],
    ["credits", "grant", "org_a", "1", "--note", EVIL],
  ];
  const names = commands.map((args) => ({ args, name: args.join(" ").replaceAll(EVIL, "EVIL") }));

  test.each(names)("gateway $name", async ({ args }) => {
    const formats = args.includes("--csv") ? [[]] : [[], ["--json"]];
    for (const format of formats) {
      const { stdout, stderr } = await workspace.run([...args, ...format], environment);
      expect(OBEYED.exec(stdout + stderr)?.[0]).toBeUndefined();
      expect(stdout + stderr).not.toBe("");
      // A stored name begins no line of its own. An argument of the command is the operator's own.
      if (!args.some((arg) => arg.includes(EVIL)))
        expect((stdout + stderr).split("\n").some((line) => line.startsWith("forged row"))).toBe(false);
    }
  });

  test("shows what it does not print as codes, and JSON means the same as before", async () => {
    const { stdout } = await workspace.run(["keys", "list"], environment);
    expect(stdout).toContain("a\\u001b[2J\\u202eb\\u000d\\u000aforged row\\u009b31m\\u2066c\\u007f");
    const json = await workspace.run(["keys", "show", "key_a", "--json"], environment);
    expect(JSON.parse(json.stdout).data.name).toBe(EVIL);
  });

  test("in one place: no other file of the commands writes to the terminal", () => {
    const folder = join(import.meta.dir, "../../../src/cli");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const writing = files.filter(
      (file) =>
        file.endsWith(".ts") &&
        /console\.(log|error|warn|info)\(|process\.std(out|err)\.write\(/.test(
          readFileSync(join(folder, file), "utf8"),
        ),
    );
    expect(writing).toEqual(["render/print.ts"]);
  });

  test("rejects a note with such characters", async () => {
    const args = ["credits", "grant", "org_a", "1", "--note", EVIL];
    const { exitCode, stderr } = await workspace.run(args, environment);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("without control characters")]);
  });
});

describe("a configuration with such a character is rejected", () => {
  const LITELLM = 'model_list: [{model_name: "a\\u202e", litellm_params: {model: openai/gpt-5}}]';
  test.each([
    [
      "as a display name",
      'providers: {mine: {base_url: "http://127.0.0.1:1", name: "My\\u001b[2J"}}',
      ["config", "check"],
    ],
    [
      "as an override of direction in a list",
      'policy: {allowed_models: ["a/\\u202eb"]}',
      ["config", "check"],
    ],
    ["as a key", '"tiers\\u009b": []', ["config", "check"]],
    ["in a configuration that is imported", LITELLM, ["import", "litellm"]],
  ])("%s", async (_what, yaml, command) => {
    const file = join(workspace.folder, "odd.yaml");
    writeFileSync(file, yaml);
    const args = command[0] === "import" ? [...command, file] : command;
    const { exitCode, stdout, stderr } = await workspace.run(args, { ...environment, GATEWAY_CONFIG: file });
    expect([exitCode, stdout + stderr]).toEqual([1, expect.stringContaining("control characters")]);
    expect(OBEYED.test(stdout + stderr)).toBe(false);
  });
});

test("a line of the log has no character that a terminal would obey", () => {
  let lines = "";
  const log = createLog("info", createTestClock(), (text) => {
    lines += text;
  });
  log.error(EVIL, { detail: EVIL });
  expect(OBEYED.exec(lines)).toBeNull();
  expect(JSON.parse(lines)).toMatchObject({ message: EVIL, detail: EVIL });
});
