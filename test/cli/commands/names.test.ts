import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { teamOf, usageOf } from "../../storage/contracts/samples.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";

let workspace: Workspace;
let environment: Readonly<Record<string, string>>;
/** Ids by the names that the tests give. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  workspace = createWorkspace();
  environment = { GATEWAY_DATA_DIR: mkdtempSync(join(workspace.folder, "data-")) };
  await workspace.run(["migrate"], environment);
  ids["ada"] = await create("users", "Ada", "--email", "Ada@Example.com", "--external-id", "C-1");
  ids["acme"] = await create("orgs", "Acme", "--owner", "ada@example.com", "--external-id", "C-2");
  ids["twin 1"] = await create("users", "Twin");
  ids["twin 2"] = await create("users", "Twin", "--email", "twin@example.com");
  ids["key"] = await create("keys", "CI", "--account", "acme", "--user", "C-1");
});
afterAll(() => workspace.clear());

async function run(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.run(args, environment);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return stdout;
}

async function runJson(...args: readonly string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await run(...args, "--json")).data;
}

async function create(group: string, ...args: readonly string[]): Promise<string> {
  return String((await runJson(group, "create", ...args))["id"]);
}

/** Runs a command that must fail, and returns what it prints. */
async function fail(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.run(args, environment);
  expect([exitCode, stdout]).toEqual([1, ""]);
  return stderr.trim();
}

describe("an argument of a command", () => {
  test.each([
    ["its id", () => ids["acme"]],
    ["its name", () => "Acme"],
    ["its name in another case", () => "aCME"],
    ["its external id", () => "C-2"],
  ])("names an account by %s", async (_by, text) => {
    expect(await run("credits", "grant", text() as string, "10")).toStartWith(
      `Added 10 US dollars to Acme (${ids["acme"]}): `,
    );
    expect(await runJson("credits", "balance", text() as string)).toMatchObject({ account_id: ids["acme"] });
  });

  test("names a user by the e-mail address in any case, which is shown in lower case", async () => {
    expect(await runJson("users", "show", "ADA@example.com")).toMatchObject({
      id: ids["ada"],
      email: "ada@example.com",
      external_id: "C-1",
    });
    expect(await run("users", "list")).toMatch(new RegExp(`${ids["ada"]} +Ada +ada@example.com `));
  });

  test("names an API key by its name, a member by both accounts, and the owner of a key by options", async () => {
    expect(await runJson("keys", "show", "ci")).toMatchObject({
      id: ids["key"],
      account_id: ids["acme"],
      user_id: ids["ada"],
    });
    const bob = await create("users", "Bob");
    expect(await run("members", "set", "acme", "bob", "--role", "billing")).toBe(
      `Bob (${bob}) is billing of Acme (${ids["acme"]}).\n`,
    );
    expect(await run("members", "list", "acme")).toMatch(new RegExp(`${bob} +Bob +billing `));
    expect(await run("members", "remove", "acme", "bob")).toContain(`Removed Bob (${bob}) from Acme`);
    expect(await run("keys", "list", "--user", "ada@example.com")).toContain(ids["key"] as string);
  });

  test("names a provider key by its name, and the members that it is for like users", async () => {
    const add = ["provider-keys", "add", "openai", "--account", "acme", "--name", "Team", "--json"];
    const { stdout, stderr } = await workspace.runInOwnProcess(add, {
      environment,
      stdin: "sk-not-a-real-key\n",
    });
    const { id, name } = JSON.parse(stdout || stderr).data;
    expect(name).toBe("Team");
    expect(await runJson("provider-keys", "update", "team", "--members", "ada@example.com")).toMatchObject({
      id,
      members: [ids["ada"]],
    });
    const [entry] = JSON.parse(await run("audit", "list", "--account", "acme", "--json")).data;
    expect(entry).toMatchObject({
      target: id,
      changes: { before: { members: null }, after: { members: [ids["ada"]] } },
    });
    expect(await runJson("provider-keys", "remove", "Team")).toEqual({ id, deleted: true });
  });

  test("names a tier by its name or by its id without the prefix", async () => {
    const [first] = JSON.parse(await run("tiers", "list", "--json")).data as { id: string; name: string }[];
    const { id, name } = first as { id: string; name: string };
    expect(await runJson("tiers", "show", name.toUpperCase())).toMatchObject({ id });
    expect(await runJson("tiers", "show", id.slice("gateway-auto/".length))).toMatchObject({ id });
    expect(await fail("tiers", "show", `${id}x`)).toStartWith(
      `There is no tier ${id}x. Did you mean ${name} (${id})`,
    );
  });

  test("names nothing that is similar only: the message suggests it, and how to list all", async () => {
    expect(await fail("credits", "grant", "acne", "10")).toBe(
      `There is no account acne. Did you mean Acme (${ids["acme"]})? List them: gateway users list or gateway orgs list`,
    );
    expect(await fail("users", "show", "ada@exampel.com")).toContain(`Did you mean Ada (${ids["ada"]})`);
    expect(await fail("keys", "revoke", "C1")).toContain(`Did you mean CI (${ids["key"]})?`);
    expect(await fail("orgs", "show", "ada")).toContain("There is no organization ada.");
  });

  test("that several accounts have as their name is rejected with their ids", async () => {
    expect((await fail("users", "close", "twin")).split("\n")).toEqual([
      "twin can be more than one user. Name it by its ID:",
      `  Twin (${ids["twin 2"]}): user, twin@example.com`,
      `  Twin (${ids["twin 1"]}): user`,
    ]);
  });

  test("means the account that has it as its e-mail or external id, not one that has taken it as its name", async () => {
    await create("users", "ada@example.com");
    await create("orgs", "C-2");
    expect(await runJson("users", "show", "ada@example.com")).toMatchObject({ id: ids["ada"] });
    expect(await runJson("orgs", "show", "C-2")).toMatchObject({ id: ids["acme"] });
  });

  test("means the open one of two accounts with a name, and the closed one if it is to be reopened", async () => {
    const former = await create("orgs", "Globex");
    await run("orgs", "close", former);
    const current = await create("orgs", "Globex");
    expect(await runJson("orgs", "show", "Globex")).toMatchObject({ id: current });
    expect(await runJson("orgs", "reopen", "Globex")).toMatchObject({ id: former, closed_at: null });
  });

  test("means the valid one of two API keys with a name", async () => {
    const former = await create("keys", "deploy");
    await run("keys", "revoke", "deploy");
    const current = await create("keys", "deploy");
    expect(await runJson("keys", "show", "deploy")).toMatchObject({ id: current });
    expect(await runJson("keys", "show", former)).toMatchObject({ id: former });
  });
});

describe("a filter of a list", () => {
  test.each([
    ["usage", ["usage", "--account", "acme", "--user", "ada@example.com", "--key", "ci"]],
    ["requests", ["requests", "list", "--account", "C-2", "--user", "C-1", "--key", "CI"]],
    ["sessions", ["sessions", "list", "--account", "Acme"]],
    ["provider keys", ["provider-keys", "list", "--account", "acme"]],
    ["named routes", ["named-routes", "list", "--account", "acme"]],
  ])("of %s takes names, and rejects unknown ones", async (_of, words) => {
    expect(JSON.parse(await run(...words, "--json"))).toEqual({ data: [] });
    const at = words.indexOf("--account") + 1;
    expect(await fail(...words.with(at, "acne"))).toContain("Did you mean Acme");
  });

  test("takes the name of a team, which means the existing one, and names similar teams and those of several organizations", async () => {
    const stores = await openTestStores(environment["GATEWAY_DATA_DIR"] as string);
    const organizationId = ids["acme"] as string;
    const other = await create("orgs", "Initech");
    for (const team of [
      teamOf("team_former", { organizationId, name: "Search", deletedAt: 5_000 }),
      teamOf("team_search", { organizationId, name: "Search" }),
      teamOf("team_old", { organizationId, name: "Old", deletedAt: 5_000 }),
      teamOf("team_ads_1", { organizationId, name: "Ads" }),
      teamOf("team_ads_2", { organizationId: other, name: "Ads" }),
    ])
      await stores.teams.insertTeam(team);
    await stores.close();
    for (const name of ["search", "team_search", "team_former", "Old"])
      for (const words of [
        ["usage"],
        ["requests", "list"],
        ["requests", "list", "--rejected"],
        ["keys", "list"],
      ])
        expect(JSON.parse(await run(...words, "--team", name, "--json"))).toEqual({ data: [] });
    const key = await runJson("keys", "create", "inside", "--account", "acme", "--team", "SEARCH");
    expect(key).toMatchObject({ team_id: "team_search" });
    expect(await run("keys", "list", "--team", "search")).toContain(String(key["id"]));
    const budget = await runJson(
      "budgets",
      "create",
      "--account",
      "acme",
      "--team",
      "Search",
      "--limit",
      "5",
    );
    expect(budget).toMatchObject({ subject: "team", team_id: "team_search" });
    expect(await run("budgets", "list", "--team", "search")).toContain(String(budget["id"]));
    expect(JSON.parse(await run("budgets", "list", "--team", "team_ads_1", "--json")).data).toEqual([]);
    expect(await run("policy", "dry-run", "--team", "search")).toContain("0");
    expect(await fail("usage", "--team", "serch")).toContain("Did you mean Search (team_search)");
    const record = usageOf("gen_of_a_team", {
      ...{ accountId: organizationId, keyId: String(key["id"]), teamId: "team_search" },
      createdAt: Date.now(),
    });
    const again = await openTestStores(environment["GATEWAY_DATA_DIR"] as string);
    await again.usage.saveUsage([record]);
    await again.close();
    expect(await run("usage", "--by", "team")).toContain("Search (team_search)");
    expect((await fail("usage", "--team", "ads")).split("\n")).toEqual([
      "ads can be more than one team. Name it by its ID:",
      `  Ads (team_ads_2): of ${other}`,
      `  Ads (team_ads_1): of ${organizationId}`,
    ]);
  });

  test("of requests takes the id of the configured admin key, which is not stored", async () => {
    expect(await run("requests", "list", "--key", "key_operator")).toBe("No requests.\n");
  });
});

test("a named route that does not exist is answered with a similar name", async () => {
  await run("named-routes", "set", "fast-lane", "--target", "sandbox/echo");
  expect(await fail("named-routes", "show", "fast-line")).toContain("Did you mean fast-lane?");
});

test("an e-mail address that another user has is rejected with the field", async () => {
  const one = ids["twin 1"] as string;
  expect(await fail("users", "update", one, "--email", "twin@")).toContain("--email must be an e-mail");
  expect(await fail("users", "update", one, "--email", "TWIN@example.com")).toContain("this e-mail address");
  expect(await runJson("users", "update", "twin@example.com", "--email", "none")).toMatchObject({
    id: ids["twin 2"],
    email: null,
  });
});

test("a tier is stored under its id only, so that a name never replaces another tier", async () => {
  const file = join(workspace.folder, "tier.yaml");
  writeFileSync(file, "name: Mine\nrule: {by: price, models: [sandbox/echo]}\n");
  expect(await fail("tiers", "set", "Mine", "--file", file)).toContain("id");
});
