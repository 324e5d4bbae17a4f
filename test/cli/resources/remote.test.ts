import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { ADMIN_KEY } from "../../support/gateway/gateway.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";

let workspace: Workspace;
let gateway: GatewayProcess;
const environment = { GATEWAY_ADMIN_KEY: ADMIN_KEY, GATEWAY_KEY: ADMIN_KEY };

/** Runs a command. Which database it has checked only a command on the stores says. */
async function run(words: readonly string[]) {
  const { stderr, ...result } = await workspace.run(words, environment);
  return { ...result, stderr: stderr.replace(/^Database: .*\n/, "") };
}

/** Fills the stores by commands that run on them, and by commands that run at the gateway. */
beforeAll(async () => {
  workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "tier.yaml"), "name: Fast\nrule: {by: free}\n");
  gateway = await workspace.start(environment);
  const remote = ["--url", gateway.url];
  for (const words of [
    ["users", "create", "Ada", "--email", "ada@example.com"],
    ["orgs", "create", "Acme", "--owner", "ada@example.com", ...remote],
    ["keys", "create", "laptop", "--account", "Acme", "--user", "Ada"],
    ["budgets", "create", "--account", "Acme", "--limit", "5", "--name", "All", ...remote],
    ["credits", "grant", "Ada", "5", "--note", "welcome"],
    ["credits", "correct", "Ada", "-1.5", "--note", "by hand", ...remote],
    ["tiers", "set", "gateway-auto/fast", "--file", "tier.yaml", ...remote],
    ["named-routes", "set", "quick", "--target", "sandbox/echo"],
    ["identities", "add", "Ada", "subject", "--issuer", "https://id.example", ...remote],
  ])
    expect([words, await run(words)]).toEqual([words, expect.objectContaining({ exitCode: 0, stderr: "" })]);
});
afterAll(async () => {
  await gateway.stop();
  workspace.clear();
});

const READS: readonly (readonly string[])[] = [
  ["audit", "list"],
  ["audit", "verify"],
  ["budgets", "list"],
  ["catalog", "pending"],
  ["catalog", "status"],
  ["credits", "balance", "Ada"],
  ["credits", "balances", "--kind", "user"],
  ["credits", "list", "Ada"],
  ["gateways", "list"],
  ["holds"],
  ["identities", "list"],
  ["keys", "list"],
  ["keys", "list", "--account", "acme"],
  ["keys", "show", "laptop"],
  ["ledger", "Ada"],
  ["ledger", "check"],
  ["members", "list", "Acme"],
  ["models", "list"],
  ["named-routes", "list"],
  ["named-routes", "show", "quick"],
  ["named-routes", "versions", "quick"],
  ["orgs", "list"],
  ["orgs", "show", "Acme"],
  ["policy", "dry-run", "--account", "Acme"],
  ["provider-keys", "list"],
  ["requests", "count", "--from", "2026-01-01", "--to", "2026-01-02"],
  ["requests", "list", "--key", "laptop"],
  ["sessions", "list"],
  ["tiers", "list"],
  ["tiers", "show", "Fast"],
  ["usage", "--from", "2026-01-01", "--to", "2026-01-31"],
  ["users", "list"],
  ["users", "show", "ada@example.com"],
  ["users", "show", "unknown"],
  ["budgets", "show", "budget_none"],
];

describe("a command that reads", () => {
  test.each(READS.map((words) => [words.join(" "), words] as const))(
    "prints the same on the stores and at the gateway with --url: %s",
    async (_name, words) => {
      for (const format of [[], ["--json"]]) {
        // The gateway reads what other processes have stored within a second, and says in its heartbeats that it lives.
        const [here, there] = await eventually("both say the same", async () => {
          const answers = await Promise.all(
            [[], ["--url", gateway.url]].map((where) => run([...words, ...format, ...where])),
          );
          return Bun.deepEquals(answers[0], answers[1]) && answers;
        });
        expect(there).toEqual(here);
      }
    },
  );
});

test("a change of a command on the stores is recorded as the command, and one at a gateway as its request", async () => {
  const { data } = JSON.parse((await run(["audit", "list", "--json"])).stdout) as {
    readonly data: readonly { readonly action: string; readonly key_id: string | null }[];
  };
  expect(data.map(({ action, key_id }) => [action, key_id])).toEqual([
    ["POST /api/admin/users/:id/identities", "key_operator"],
    ["gateway named-routes set", null],
    ["PUT /api/admin/tiers/:id", "key_operator"],
    ["POST /api/admin/accounts/:id/corrections", "key_operator"],
    ["gateway credits grant", null],
    ["POST /api/admin/budgets", "key_operator"],
    ["gateway keys create", null],
    ["POST /api/admin/organizations", "key_operator"],
    ["gateway users create", null],
  ]);
});

test("a command that asks a gateway reports what is not there with the words of the gateway", async () => {
  const { exitCode, stdout, stderr } = await run(["keys", "list", "--url", "http://127.0.0.1:9"]);
  expect([exitCode, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("No gateway answers at http://127.0.0.1:9");
});
