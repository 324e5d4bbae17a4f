import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { documentOf, startVendor, type Vendor } from "../../support/vendors/vendor.ts";

let gateway: TestGateway;
let vendor: Vendor;
let tools: AccountTools;
let user: string;
let stranger: string;
let manager: string;
let secrets: { readonly first: string; readonly second: string };

/** The calls of each key, in order: `acme/shared` is at both providers, cheaper at alpha. */
const CALLS = {
  first: ["acme/one", "acme/shared", "gateway-auto/ours"],
  second: ["acme/one"],
} as const;

beforeAll(async () => {
  vendor = startVendor((call) => call.respond(200, documentOf("Hello")));
  const model = (id: string, price: string) =>
    `{id: ${id}, prices: {prompt: "${price}", completion: "${price}"}}`;
  gateway = await startTestGateway({
    yaml: `
tiers:
  - id: gateway-auto/ours
    name: Ours
    rule: {by: balance, paid: {models: [acme/two]}, else: {models: [acme/two]}}
policy: {denied_providers: [gamma]}
providers:
  alpha:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-alpha-0123456789]
    trains_on_data: false
    models: [${[model("acme/one", "0.000001"), model("acme/shared", "0.000001"), model("acme/two", "0.000001")]}]
  beta:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-beta-0123456789]
    models: [${model("acme/shared", "0.00001")}]
  gamma:
    base_url: ${vendor.baseUrl}
    api_keys: [sk-gamma-0123456789]
    models: [${model("acme/one", "0.00001")}]
`,
  });
  tools = createAccountTools(gateway);
  user = await tools.user("Ada", { overdraft: 1 });
  stranger = await tools.user("Eve");
  manager = await tools.key(user, { kind: "management" });
  secrets = {
    first: await tools.key(user, { name: "first" }),
    second: await tools.key(user, { name: "second" }),
  };
  for (const name of ["first", "second"] as const) for (const id of CALLS[name]) await ask(secrets[name], id);
  // It is rejected before it has a record, because the model is unknown.
  await ask(secrets.first, "acme/none");
});
afterAll(() => Promise.all([gateway.stop(), vendor.stop()]));

async function ask(key: string, model: string): Promise<void> {
  const messages = [{ role: "user", content: "Hi" }];
  await (await postChat({ ...gateway, key }, { model, messages })).text();
}

async function dryRun(body: object, key = gateway.adminKey): Promise<ApiAnswer> {
  return callAdmin(gateway, key, "POST", "/policy/dry-run", body);
}

async function keyId(name: string): Promise<string> {
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `/keys?account_id=${user}`);
  return rows.find((row) => row["name"] === name)?.id as string;
}

/** Creates an organization with a team, and a key inside and one outside of the team. */
async function createTeam() {
  const organization = await tools.organization(undefined, { overdraft: null });
  const make = (path: string, body: object) => callAdmin(gateway, gateway.adminKey, "POST", path, body);
  const team = (await make(`/organizations/${organization}/teams`, { name: "Search" })).data.id;
  const makeKey = async (more: object) => {
    const { body, data } = await make("/keys", { name: "k", account_id: organization, ...more });
    return { id: data.id, secret: String(body["key"]) };
  };
  const keys = { inside: await makeKey({ team_id: team }), outside: await makeKey({}) };
  return { organization, team, keys, manager: await tools.key(organization, { kind: "management" }) };
}

async function refusedModels(body: object): Promise<unknown[]> {
  const { body: answer } = await dryRun({ account_id: user, ...body });
  return (answer["refused"] as Record<string, unknown>[]).map((row) => row["requested_model"]);
}

describe("POST /api/admin/policy/dry-run", () => {
  test("refuses nothing with the policy in force", async () => {
    const { status, body } = await dryRun({ account_id: user });
    expect(status).toBe(200);
    expect(body).toEqual({ checked: 4, rerouted: 0, refused: [] });
  });

  test("lists the generations that a policy would have refused, with rule and reason, newest first", async () => {
    const { body } = await dryRun({ account_id: user, policy: { denied_models: ["acme/one"] } });
    expect(body).toMatchObject({
      checked: 4,
      rerouted: 0,
      refused: [
        { requested_model: "acme/one", key_name: "second", account_name: "Ada" },
        {
          requested_model: "acme/one",
          key_name: "first",
          rule: "account.denied_models",
          reason: `The account's policy (denied_models) does not allow "acme/one".`,
        },
      ],
    });
  });

  test("counts generations that another provider would have answered", async () => {
    const { body } = await dryRun({ account_id: user, policy: { denied_providers: ["alpha"] } });
    expect(body).toMatchObject({ checked: 4, rerouted: 1 });
    expect(await refusedModels({ policy: { denied_providers: ["alpha"] } })).toEqual([
      "acme/one",
      "gateway-auto/ours",
      "acme/one",
    ]);
  });

  test.each<[string, object, readonly string[]]>([
    [
      "a list of allowed models",
      { allowed_models: ["acme/shared"] },
      ["acme/one", "gateway-auto/ours", "acme/one"],
    ],
    ["a denied tier", { denied_models: ["gateway-auto/*"] }, ["gateway-auto/ours"]],
    ["a model of a tier", { denied_models: ["acme/two"] }, ["gateway-auto/ours"]],
    ["a rule on training that the provider meets", { deny_data_collection: true }, []],
    [
      "a rule on retention that no provider is known to meet",
      { zero_retention: true },
      ["acme/one", "gateway-auto/ours", "acme/shared", "acme/one"],
    ],
    [
      "a rule that only BYOK keys are used, of which there are none",
      { own_keys_only: true },
      ["acme/one", "gateway-auto/ours", "acme/shared", "acme/one"],
    ],
  ])("applies %s", async (_name, policy, models) => {
    expect(await refusedModels({ policy })).toEqual([...models]);
  });

  test("agrees with what requests get when the policy is changed", async () => {
    for (const policy of [
      { denied_models: ["acme/one"] },
      { allowed_providers: ["beta"] },
      { deny_data_collection: true, denied_models: ["acme/shared"] },
    ]) {
      const other = await tools.user("Bob", { overdraft: 1 });
      const key = await tools.key(other);
      for (const model of CALLS.first) await ask(key, model);
      const { body } = await dryRun({ account_id: other, policy, last: 3 });
      const refused = (body["refused"] as Record<string, unknown>[]).map((row) => row["requested_model"]);
      await callAdmin(gateway, gateway.adminKey, "PATCH", `/users/${other}`, { policy });
      const rejected: string[] = [];
      for (const model of CALLS.first) {
        const messages = [{ role: "user", content: "Hi" }];
        const { status } = await postChat({ ...gateway, key }, { model, messages });
        if (status === 403) rejected.unshift(model);
      }
      expect(refused).toEqual(rejected);
    }
  });

  test("checks the generations of one key, also with other models of the key", async () => {
    const key_id = await keyId("first");
    expect((await dryRun({ key_id })).body).toMatchObject({ checked: 3 });
    const { body } = await dryRun({ key_id, models: ["acme/shared"] });
    expect((body["refused"] as unknown[]).length).toBe(2);
    expect(body["refused"]).toMatchObject([{ rule: "key.allowed_models" }, { rule: "key.allowed_models" }]);
  });

  test("checks at most the number of generations that is asked for", async () => {
    expect((await dryRun({ account_id: user, last: 2 })).body).toMatchObject({ checked: 2 });
  });

  test("checks the account of the manager who asks, and no other", async () => {
    expect((await dryRun({}, manager)).body).toMatchObject({ checked: 4 });
    expect((await dryRun({ account_id: stranger }, manager)).status).toBe(404);
    await tools.key(stranger, { name: "hers" });
    const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `/keys?account_id=${stranger}`);
    expect((await dryRun({ key_id: rows[0]?.id }, manager)).status).toBe(404);
  });

  test("changes no policy and leaves no audit entry", async () => {
    const read = async () => [
      (await callAdmin(gateway, gateway.adminKey, "GET", "/audit?limit=1")).rows[0]?.["place"],
      (await callAdmin(gateway, gateway.adminKey, "GET", `/users/${user}`)).data["policy"],
    ];
    const before = await read();
    await dryRun({ account_id: user, policy: { denied_models: ["acme/one"] } });
    expect(await read()).toEqual(before);
  });

  test("of a team changes the team's policy, and checks its generations alone, through the policies of all levels", async () => {
    const { organization, team, keys } = await createTeam();
    for (const { secret } of [keys.inside, keys.outside])
      for (const model of ["acme/one", "acme/shared"]) await ask(secret, model);
    const refused = async (body: object) => {
      const answer = await dryRun(body);
      expect(answer.status).toBe(200);
      const rows = answer.body["refused"] as Record<string, unknown>[];
      return [answer.body["checked"], rows.map(({ requested_model, rule }) => `${requested_model} ${rule}`)];
    };
    const deniesOne = { policy: { denied_models: ["acme/one"] } };
    expect(await refused({ team_id: team })).toEqual([2, []]);
    expect(await refused({ team_id: team, ...deniesOne })).toEqual([2, ["acme/one team.denied_models"]]);
    expect(await refused({ account_id: organization, ...deniesOne })).toEqual([
      4,
      ["acme/one account.denied_models", "acme/one account.denied_models"],
    ]);
    expect(await refused({ team_id: team, policy: { own_keys_only: true } })).toEqual([
      2,
      ["acme/shared team.own_keys_only", "acme/one team.own_keys_only"],
    ]);
    // The policies in force below and above the changed one count too.
    const set = (path: string, policy: object) =>
      callAdmin(gateway, gateway.adminKey, "PATCH", `/organizations/${organization}${path}`, { policy });
    await set(`/teams/${team}`, { allowed_providers: ["alpha"] });
    const deniesAlpha = { policy: { denied_providers: ["alpha"] } };
    expect(await refused({ key_id: keys.inside.id, ...deniesAlpha })).toEqual([
      2,
      ["acme/shared team.allowed_providers", "acme/one account.denied_providers"],
    ]);
    expect(await refused({ key_id: keys.outside.id, ...deniesAlpha })).toEqual([
      2,
      ["acme/one account.denied_providers"],
    ]);
    await set("", { denied_models: ["acme/shared"] });
    expect(await refused({ team_id: team, ...deniesOne })).toEqual([
      2,
      ["acme/shared account.denied_models", "acme/one team.denied_models"],
    ]);
    expect(await refused({ key_id: keys.inside.id, models: ["acme/shared"] })).toEqual([
      2,
      ["acme/shared account.denied_models", "acme/one key.allowed_models"],
    ]);
  });

  test("of a team agrees with what its requests get when its policy is changed", async () => {
    const { organization, team, keys } = await createTeam();
    const { secret } = keys.inside;
    for (const model of CALLS.first) await ask(secret, model);
    const policy = { denied_providers: ["alpha"], denied_models: ["gateway-auto/*"] };
    const { body } = await dryRun({ team_id: team, policy });
    const refused = (body["refused"] as Record<string, unknown>[]).map((row) => row["requested_model"]);
    const path = `/organizations/${organization}/teams/${team}`;
    await callAdmin(gateway, gateway.adminKey, "PATCH", path, { policy });
    const rejected: string[] = [];
    for (const model of CALLS.first) {
      const messages = [{ role: "user", content: "Hi" }];
      const { status } = await postChat({ ...gateway, key: secret }, { model, messages });
      if (status === 403) rejected.unshift(model);
    }
    expect(refused).toEqual(rejected);
    expect(rejected).toHaveLength(2);
  });

  test("of a team of another account, or a key of another team, is rejected", async () => {
    const { team, keys, manager: own } = await createTeam();
    expect((await dryRun({ team_id: team }, own)).status).toBe(200);
    const foreign = await dryRun({ team_id: team }, manager);
    expect([foreign.status, foreign.body]).toEqual([
      404,
      (await dryRun({ team_id: "team_none" }, manager)).body,
    ]);
    expect((await dryRun({ team_id: team, account_id: user })).status).toBe(404);
    const other = await dryRun({ team_id: team, key_id: keys.outside.id });
    expect([other.status, other.body["error"]]).toMatchObject([400, { metadata: { field: "key_id" } }]);
  });

  test.each<[string, object, number, string]>([
    ["an unknown account", { account_id: "user_none" }, 404, "no account"],
    ["an unknown key", { key_id: "key_none" }, 404, "no key"],
    ["models without a key", { models: ["acme/one"] }, 400, "models needs key_id"],
    [
      "a model that the catalog does not have",
      { policy: { denied_models: ["acme/oen"] } },
      400,
      "denied_models",
    ],
    ["more generations than are checked", { last: 1_001 }, 400, "last"],
    ["an unknown rule", { policy: { denied_colours: [] } }, 400, "denied_colours"],
  ])("rejects %s", async (_name, body, status, words) => {
    const answer = await dryRun(body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(words);
  });
});
