import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";

let workspace: Workspace;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  workspace = createWorkspace();
  const file = join(workspace.folder, "public.yaml");
  await Bun.write(file, "console: { url: https://gateway.example.com/ai }");
  environment = { GATEWAY_CONFIG: file };
  for (const words of [
    ["migrate"],
    ["users", "create", "Olga"],
    ["orgs", "create", "Acme", "--owner", "Olga"],
    ["orgs", "create", "Other", "--owner", "Olga"],
    ["teams", "create", "Acme", "Search"],
    ["teams", "create", "Other", "Search"],
  ])
    await print(words);
});
afterAll(() => workspace.clear());

/** Runs a command that must succeed. Returns what it prints. */
async function print(words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.run(words, { ...environment, ...more });
  expect([words.join(" "), exitCode, stderr]).toEqual([words.join(" "), 0, ""]);
  return stdout;
}

const LINK = /^(\S+)\/invite#code=([\w-]{43})$/m;

test("`gateway invitations create` prints a link to the configured console, for a team of that organization", async () => {
  const words = [
    "invitations",
    "create",
    "Acme",
    "--teams",
    "search",
    "--lead",
    "--email",
    "ada@example.com",
  ];
  const created = await print(words);
  expect(LINK.exec(created)?.[1]).toBe("https://gateway.example.com/ai/console");
  expect(created).toContain("Invited ada@example.com to Acme");
  const listed = await print(["invitations", "list", "Acme"]);
  expect(listed).toMatch(/open +member +Search +ada@example.com/);
  expect(listed).not.toContain("#code=");
  const id = /inv_\w+/.exec(listed)?.[0] ?? "";
  expect(await print(["invitations", "withdraw", "Acme", id])).toContain("no longer works");
  expect(await print(["invitations", "list", "Acme"])).toContain("withdrawn");
});

test("a team that only another organization has is unknown", async () => {
  await print(["teams", "create", "Other", "Data"]);
  const run = await workspace.run(["invitations", "create", "Acme", "--teams", "Data"], environment);
  expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining("There is no team Data.")]);
});

test("without a fixed address, the command asks for one, and changes nothing", async () => {
  const { exitCode, stderr } = await workspace.run(["invitations", "create", "Acme"]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Set console.url, or name")]);
  const listed = await print(["invitations", "list", "Acme", "--json"]);
  expect((JSON.parse(listed) as { data: unknown[] }).data).toHaveLength(1);
});

test("at a running gateway, the link has its address and is accepted there", async () => {
  let gateway: GatewayProcess | null = null;
  try {
    gateway = await workspace.start({ GATEWAY_ADMIN_KEY: "operator-key-0123456789" });
    const run = await workspace.run(["invitations", "create", "Acme", "--url", gateway.url], {
      GATEWAY_KEY: "operator-key-0123456789",
    });
    const [, base, code] = LINK.exec(run.stdout) ?? [];
    expect(base).toBe(`${gateway.url}/console`);
    const response = await fetch(`${gateway.url}/api/console/invitations/accept`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ code, name: "Ada" }),
    });
    expect(response.status).toBe(200);
    expect(await print(["members", "list", "Acme"])).toContain("Ada");
  } finally {
    await gateway?.stop();
  }
});
