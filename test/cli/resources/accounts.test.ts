import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { ADMIN_KEY } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";

let workspace: Workspace;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace = createWorkspace();
  environment = { GATEWAY_DATA_DIR: mkdtempSync(join(workspace.folder, "data-")) };
  // The first command on a new data directory would say so.
  await workspace.run(["migrate"], environment);
});
afterAll(() => workspace.clear());

/** Runs a command that must succeed, and parses the JSON that it prints. */
async function runJson(...args: readonly string[]) {
  const { exitCode, stdout, stderr } = await workspace.run([...args, "--json"], environment);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as { data: Record<string, unknown> & { id: string }; key: string };
}

async function runTable(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.run(args, environment);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
}

describe("gateway users, orgs and members", () => {
  test("create, list, change, close and reopen accounts like the management API", async () => {
    expect(await runTable("orgs", "list")).toContain("gateway orgs create");
    const limit = ["--requests-per-minute", "60", "--concurrent", "5"];
    const owner = (await runJson("users", "create", "Ada", "--overdraft", "2.50", ...limit)).data;
    expect(owner).toMatchObject({
      name: "Ada",
      overdraft: 2.5,
      rate_limit: { requests_per_minute: 60, tokens_per_minute: null, concurrent: 5 },
    });
    const freed = await runJson("users", "update", owner.id, "--concurrent", "none");
    expect(freed.data["rate_limit"]).toMatchObject({ requests_per_minute: 60, concurrent: null });
    const org = (
      await runJson(
        "orgs",
        "create",
        "Acme",
        "--owner",
        owner.id,
        "--monthly-limit",
        "100",
        "--denied-models",
        "openai/*,google/*",
      )
    ).data;
    expect(org).toMatchObject({ monthly_limit: 100, policy: { denied_models: ["openai/*", "google/*"] } });
    const changed = (
      await runJson(
        "orgs",
        "update",
        org.id,
        "--monthly-limit",
        "none",
        "--retention",
        "deny",
        "--denied-models",
        "none",
      )
    ).data;
    expect(changed).toMatchObject({
      name: "Acme",
      monthly_limit: null,
      policy: { denied_models: [], zero_retention: true },
    });
    const other = (await runJson("users", "create", "Bob")).data.id;
    const member = await runJson(
      "members",
      "set",
      org.id,
      other,
      "--role",
      "billing",
      "--daily-limit",
      "0.1",
    );
    expect(member.data).toMatchObject({ user_id: other, role: "billing", daily_limit: 0.1 });
    expect(await runTable("members", "list", org.id)).toMatch(
      new RegExp(`${other} +Bob +billing +\\$0\\.1 `),
    );
    expect(await runTable("members", "remove", org.id, other)).toContain(
      `Removed Bob (${other}) from Acme (${org.id})`,
    );
    expect(await runTable("orgs", "close", org.id)).toContain("Closed");
    expect(await runTable("orgs", "list")).toMatch(/Acme +\$0 +none +\S+ +closed \d{4}/);
    expect(await runTable("orgs", "reopen", org.id)).toContain("open");
    expect(JSON.parse(await runTable("users", "show", owner.id, "--json")).data).toMatchObject({
      id: owner.id,
    });
  });

  test.each<[string, readonly string[], RegExp]>([
    ["an unknown user", ["users", "close", "user_none"], /There is no user/],
    ["closing the operator account", ["orgs", "show", "acct_default"], /There is no organization/],
    ["an invalid amount", ["users", "close", "acct_default"], /operator account/],
    ["a negative amount", ["users", "create", "x", "--overdraft", "much"], /--overdraft/],
    ["an amount below zero", ["users", "create", "x", "--overdraft=-1"], /--overdraft/],
    ["an invalid limit", ["users", "create", "x", "--allowed-models", "a,,b"], /--allowed-models/],
    ["a limit that is none", ["users", "create", "x", "--concurrent", "0"], /--concurrent/],
    ["an invalid role", ["users", "create", " "], /name/],
    ["an invalid choice", ["members", "set", "org_a", "user_a", "--role", "root"], /--role/],
    ["an unknown account", ["users", "create", "x", "--retention", "maybe"], /--retention/],
    [
      "exit with 1 and an explanation for %s",
      ["keys", "create", "x", "--account", "user_none"],
      /There is no account user_none/,
    ],
  ])("give 1 and say what is wrong with %s", async (_name, args, word) => {
    const { exitCode, stdout, stderr } = await workspace.run(args, environment);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(word);
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+/);
  });
});

test.skipIf(!RUNS_SLOW_TESTS)(
  "a running gateway applies changes made by commands, and its audit log contains them",
  async () => {
    const gateway = await workspace.start({ ...environment, GATEWAY_ADMIN_KEY: ADMIN_KEY });
    try {
      const user = (await runJson("users", "create", "Ada", "--overdraft", "none")).data.id;
      const { key, data } = await runJson(
        "keys",
        "create",
        "laptop",
        "--account",
        user,
        "--models",
        "openai/*",
      );
      const ask = async () => {
        const response = await fetch(`${gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "x" }] }),
        });
        return ((await response.json()) as { error_type?: string }).error_type ?? "ok";
      };
      const waitForResult = (expected: string) =>
        eventually(expected, async () => (await ask()) === expected);
      expect(await ask()).toBe("model_not_allowed");
      await runJson("keys", "update", data.id, "--models", "none", "--spend-limit", "1.5");
      await waitForResult("ok");
      const limited = await runJson("keys", "update", data.id, "--requests-per-minute", "1");
      expect(limited.data).toMatchObject({
        rate_limit: { requests_per_minute: 1 },
        rate_limit_set_by: "operator",
      });
      await waitForResult("rate_limit_exceeded");
      await runJson("users", "close", user);
      await waitForResult("permission_denied");
      const audit = await callAdmin(gateway, ADMIN_KEY, "GET", `/audit?account_id=${user}`);
      expect(audit.rows.map(({ action, key_id }) => [action, key_id])).toEqual([
        ["gateway users close", null],
        ["gateway keys update", null],
        ["gateway keys update", null],
        ["gateway keys create", null],
        ["gateway users create", null],
      ]);
      const verdict = await callAdmin(gateway, ADMIN_KEY, "GET", "/audit/verify");
      expect(verdict.data).toMatchObject({ holds: true } as never);
      const listed = await runTable("keys", "list", "--account", user);
      expect(listed).toContain(data.id);
      expect(listed.trim().split("\n")).toHaveLength(2);
    } finally {
      await gateway.stop();
    }
  },
);
