import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { findLedgerProblems } from "../../support/money.ts";
import { chunkOf, healthy, startVendor, USAGE, type Vendor } from "../../support/vendors/vendor.ts";

const PEOPLE = ["owner", "admin", "billing", "auditor", "ada", "bob", "lead"] as const;
type Person = (typeof PEOPLE)[number] | "stranger" | "operator";

let vendor: Vendor;
let gateway: TestGateway;
let create: AccountTools;
let organization: string;
let team: string;
let ids: Record<string, string>;
/** Management keys. */
let keys: Record<Person, string>;
/** Inference keys: of Ada, of Ada in the team, of no person, and of another organization. */
let calls: Record<"ada" | "team" | "service" | "elsewhere", { readonly secret: string; readonly id: string }>;

beforeAll(async () => {
  vendor = startVendor(healthy("Alpha"));
  gateway = await startTestGateway({
    yaml: `
providers:
  mine: {base_url: "${vendor.baseUrl}", api_keys: [k], models: [{id: acme/model, context_length: 128000, prices: {prompt: "0.000001", completion: "0.00001"}}]}
responses: {account_bytes: 1000000, retention_days: 7}`,
  });
  create = createAccountTools(gateway);
  ids = {};
  for (const name of [...PEOPLE, "stranger"]) ids[name] = await create.user(name);
  organization = await create.organization(ids["owner"]);
  const elsewhere = await create.organization(ids["stranger"]);
  keys = { operator: gateway.adminKey } as typeof keys;
  for (const name of PEOPLE) {
    const role = name === "ada" || name === "bob" || name === "lead" ? "member" : name;
    if (name !== "owner") await create.member(organization, ids[name] as string, role);
    keys[name] = await create.key(organization, { kind: "management", user_id: ids[name] });
  }
  keys.stranger = await create.key(elsewhere, { kind: "management", user_id: ids["stranger"] });
  const teams = `/organizations/${organization}/teams`;
  team = (await admin("operator", "POST", teams, { name: "Search" })).data.id;
  await admin("operator", "PUT", `${teams}/${team}/members/${ids["lead"]}`, { is_lead: true });
  await admin("operator", "PUT", `${teams}/${team}/members/${ids["ada"]}`, {});
  for (const account of [organization, elsewhere])
    await admin("operator", "POST", `/accounts/${account}/credits`, { amount: 10 });
  const make = async (account_id: string, more: object) => {
    const { body, data } = await admin("operator", "POST", "/keys", { name: "k", account_id, ...more });
    return { secret: body["key"] as string, id: data.id };
  };
  calls = {
    ada: await make(organization, { user_id: ids["ada"] }),
    team: await make(organization, { user_id: ids["ada"], team_id: team }),
    service: await make(organization, {}),
    elsewhere: await make(elsewhere, {}),
  };
});
beforeEach(() => vendor.perform(healthy("Alpha")));
afterAll(async () => {
  expect(await findLedgerProblems(gateway)).toEqual([]);
  await gateway.stop();
  vendor.stop();
});

const admin = (person: Person, method: string, path: string, body?: unknown) =>
  callAdmin(gateway, keys[person], method, path, body);
const statusOf = async (person: Person, method: string, path: string) =>
  (await admin(person, method, path, method === "POST" ? {} : undefined)).status;

async function post(who: keyof typeof calls, path: string, body: object) {
  const response = await fetch(gateway.base + path, {
    method: "POST",
    headers: { authorization: `Bearer ${calls[who].secret}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { id: string };
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return answer;
}
const respond = async (who: keyof typeof calls, body: object = {}) =>
  (await post(who, "/responses", { model: "acme/model", input: "Hi", store: true, ...body })).id;
const list = async (person: Person, query = "") =>
  (await admin(person, "GET", `/responses?${query}`)).rows.map(({ id }) => id);

/** Answers with a beginning, and with the rest once the gate is open. */
async function slowly(one: Parameters<Parameters<Vendor["perform"]>[0]>[0]): Promise<void> {
  await one.begin();
  await one.events(chunkOf({ content: "Alpha" }));
  await one.gate();
  await one.events(chunkOf({}, "stop"), { choices: [], usage: USAGE }, "[DONE]");
  await one.end();
}

/** Begins a background response that waits for its vendor. */
async function begin(who: keyof typeof calls) {
  vendor.perform(slowly);
  const at = vendor.calls.length;
  const id = await respond(who, { background: true });
  const call = await vendor.call(at);
  await call.atGate;
  return { id, call };
}

describe("the list of kept responses", () => {
  test("has those of the account without contents, newest first, page by page", async () => {
    const made = [await respond("ada"), await respond("service"), await respond("team")];
    await respond("elsewhere");
    const first = await admin("owner", "GET", "/responses?limit=2");
    expect(first.rows.map(({ id }) => id)).toEqual([made[2], made[1]] as string[]);
    expect(first.rows[0]).toMatchObject({
      kind: "response",
      status: "completed",
      model: "acme/model",
      background: false,
      account_id: organization,
      account_name: "Acme",
      user_name: "ada",
      key_id: calls.team.id,
      key_name: "k",
      sequence: 0,
      root_id: made[2],
      previous_id: null,
      conversation_id: null,
    });
    expect(JSON.stringify(first.body)).not.toContain("Alpha");
    const rest = await admin("owner", "GET", `/responses?limit=2&after=${first.body["next"]}`);
    expect(rest.rows.map(({ id }) => id)).toContain(made[0] as string);
    expect(rest.rows.every(({ account_id }) => account_id === organization)).toBe(true);
  });

  test("is filtered by user, key, conversation, background and status", async () => {
    const { id: conversation } = await post("service", "/conversations", {});
    const inConversation = await respond("service", { conversation });
    const { id: running, call } = await begin("service");
    expect(await list("owner", `conversation_id=${conversation}`)).toEqual([inConversation]);
    expect(await list("owner", "background=true")).toEqual([running]);
    expect(await list("owner", "status=in_progress")).toEqual([running]);
    expect(await list("owner", "background=false")).not.toContain(running);
    const ofAda = await admin("owner", "GET", `/responses?user_id=${ids["ada"]}`);
    expect(ofAda.rows.length).toBeGreaterThan(0);
    expect(ofAda.rows.every(({ user_id }) => user_id === ids["ada"])).toBe(true);
    const ofKey = await admin("operator", "GET", `/responses?key_id=${calls.service.id}`);
    expect(ofKey.rows.map(({ key_id }) => key_id)).toContain(calls.service.id);
    call.openGate();
    await eventually(
      "the response has ended",
      async () => (await list("owner", "status=in_progress")).length === 0,
    );
  });

  test("is of an account that the operator names", async () => {
    const id = await respond("ada");
    const own = await admin("operator", "GET", "/responses");
    expect([own.status, own.rows]).toEqual([200, []]);
    expect(await list("operator", `account_id=${organization}`)).toContain(id);
  });

  test("has for members what is theirs, and for leads also what keys of their teams keep", async () => {
    const [own, ofTeam, ofService] = [await respond("ada"), await respond("team"), await respond("service")];
    expect(await list("ada")).toEqual(expect.arrayContaining([own, ofTeam]));
    expect(await list("ada")).not.toContain(ofService);
    expect([await list("bob"), await list("lead")]).toEqual([[], []]);
    expect(await list("lead", `key_id=${calls.team.id}`)).toContain(ofTeam);
    for (const path of [
      `/responses?key_id=${calls.ada.id}`,
      `/responses?key_id=${calls.service.id}`,
      `/responses?user_id=${ids["ada"]}`,
    ])
      expect([path, await statusOf("lead", "GET", path)]).toEqual([path, 404]);
  });
});

describe("a kept response", () => {
  test("is shown with its cost, its place and its chain from the root on", async () => {
    const root = await respond("ada");
    const second = await respond("ada", { previous_response_id: root });
    const branch = await respond("ada", { previous_response_id: root });
    const { data } = await admin("owner", "GET", `/responses/${second}`);
    expect(data).toMatchObject({
      id: second,
      sequence: 1,
      root_id: root,
      previous_id: root,
      team_id: null,
      conversation: null,
      is_truncated: false,
      may_change: true,
      generation: { outcome: "completed", provider_name: "mine", total_cost: 0.00006 },
    });
    const chain = data["chain"] as { id: string; previous_id: string | null }[];
    expect(chain.map(({ id, previous_id }) => [id, previous_id])).toEqual([
      [root, null],
      [second, root],
      [branch, root],
    ]);
    expect(Number(data["chain_bytes"])).toBeGreaterThan(Number(data["bytes"]));
    const generation = await admin("owner", "GET", `/generations/${second}`);
    expect(generation.data["has_response"]).toBe(true);
    const other = (await post("ada", "/responses", { model: "acme/model", input: "Hi" })).id;
    expect((await admin("owner", "GET", `/generations/${other}`)).data["has_response"]).toBe(false);
    expect((await admin("owner", "GET", `/responses/${other}`)).status).toBe(404);
  });

  test("is found by its conversation, with items that were added without a response", async () => {
    const item = { type: "message", role: "user", content: "My name is Ada." };
    const metadata = { topic: "names" };
    const { id: conversation } = await post("ada", "/conversations", { items: [item], metadata });
    const id = await respond("ada", { conversation });
    const { data } = await admin("ada", "GET", `/responses/${conversation}`);
    expect(data).toMatchObject({ id, sequence: 1, conversation: { id: conversation, metadata } });
    const [items] = data["chain"] as { id: string; kind: string }[];
    expect(items?.kind).toBe("items");
    const { data: ofItems } = await admin("ada", "GET", `/responses/${items?.id}`);
    expect(ofItems).toMatchObject({ kind: "items", model: null, generation: null });
    const read = await admin("owner", "GET", `/responses/${items?.id}/items`);
    expect(read.data["input"]).toMatchObject([item]);
    expect(read.data["output"]).toEqual([]);
  });

  test("has contents for those who may read stored bodies, and each reading is audited", async () => {
    const id = await respond("ada", { input: "A secret" });
    const { data } = await admin("auditor", "GET", `/responses/${id}/items`);
    expect(data).toMatchObject({
      id,
      account_id: organization,
      input: [{ role: "user", content: "A secret" }],
      output: [{ type: "message", role: "assistant" }],
      response: { object: "response", status: "completed" },
    });
    const [entry] = (await admin("owner", "GET", "/audit?limit=1")).rows;
    expect(entry).toMatchObject({ action: "GET /api/admin/responses/:id/items", target: id });
    expect(JSON.stringify(entry)).not.toContain("A secret");
    for (const person of ["billing", "ada", "lead"] as const)
      expect([person, await statusOf(person, "GET", `/responses/${id}/items`)]).toEqual([person, 403]);
  });

  test("is read by those who read the requests of its key, and is unknown to everyone else", async () => {
    const ofAda = await respond("ada");
    const ofTeam = await respond("team", { previous_response_id: ofAda });
    const seen: Record<string, number[]> = {};
    for (const person of [...PEOPLE, "stranger", "operator"] as const)
      seen[person] = [
        await statusOf(person, "GET", `/responses/${ofAda}`),
        await statusOf(person, "GET", `/responses/${ofTeam}`),
      ];
    expect(seen).toEqual({
      ...{ owner: [200, 200], admin: [200, 200], billing: [200, 200], auditor: [200, 200] },
      ...{ ada: [200, 200], bob: [404, 404], lead: [404, 200] },
      ...{ stranger: [404, 404], operator: [200, 200] },
    });
    const { data } = await admin("lead", "GET", `/responses/${ofTeam}`);
    expect((data["chain"] as { id: string }[]).map(({ id }) => id)).toEqual([ofTeam]);
    expect((await admin("stranger", "GET", `/responses/${ofAda}`)).body).toEqual(
      (await admin("stranger", "GET", "/responses/gen_none")).body,
    );
  });

  test("of one account is out of reach for every role of another", async () => {
    const id = await respond("elsewhere");
    const { id: conversation } = await post("elsewhere", "/conversations", {});
    await respond("elsewhere", { conversation });
    for (const person of PEOPLE) {
      for (const path of [`/responses/${id}`, `/responses/${conversation}`])
        expect([person, await statusOf(person, "GET", path)]).toEqual([person, 404]);
      expect([403, 404]).toContain(await statusOf(person, "GET", `/responses/${id}/items`));
      expect(await statusOf(person, "POST", `/responses/${id}/cancel`)).toBe(404);
      expect(await statusOf(person, "DELETE", `/responses/${id}`)).toBe(404);
      expect(await list(person, `conversation_id=${conversation}`)).toEqual([]);
    }
    expect((await admin("stranger", "GET", `/responses/${id}`)).status).toBe(200);
  });
});

describe("a background response", () => {
  test("is cancelled while it runs, its vendor's work ends, and the change is audited", async () => {
    const { id, call } = await begin("ada");
    expect((await admin("owner", "GET", `/responses/${id}`)).data).toMatchObject({
      status: "in_progress",
      background: true,
      ended_at: null,
      generation: { outcome: "open" },
    });
    const { status, data } = await admin("owner", "POST", `/responses/${id}/cancel`, {});
    expect([status, data["status"], data["is_cancel_requested"]]).toEqual([200, "cancelled", true]);
    await call.connection.closed;
    const again = await admin("owner", "POST", `/responses/${id}/cancel`, {});
    expect([again.status, again.data["status"]]).toEqual([200, "cancelled"]);
    const [entry] = (await admin("owner", "GET", "/audit?limit=1")).rows;
    expect(entry).toMatchObject({
      action: "POST /api/admin/responses/:id/cancel",
      target: id,
      changes: { cancelled: true },
    });
  });

  test("is not deleted while it runs, and others are not cancelled", async () => {
    const { id, call } = await begin("ada");
    expect(await statusOf("owner", "DELETE", `/responses/${id}`)).toBe(409);
    call.openGate();
    await eventually(
      "the response has ended",
      async () => (await admin("owner", "GET", `/responses/${id}`)).data["status"] === "completed",
    );
    expect(await statusOf("owner", "DELETE", `/responses/${id}`)).toBe(200);
    vendor.perform(healthy("Alpha"));
    expect(await statusOf("owner", "POST", `/responses/${await respond("ada")}/cancel`)).toBe(400);
  });

  test("is changed by those who manage the account, leads of its team and its person alone", async () => {
    const tried: Record<string, number> = {};
    for (const person of [
      "billing",
      "auditor",
      "bob",
      "lead",
      "ada",
      "admin",
      "owner",
      "operator",
    ] as const) {
      const ofTeam = person === "lead" ? "team" : "ada";
      const id = await respond(ofTeam);
      const { data } = await admin(person, "GET", `/responses/${id}`);
      tried[person] = await statusOf(person, "DELETE", `/responses/${id}`);
      expect([person, data?.["may_change"] ?? false]).toEqual([person, tried[person] === 200]);
    }
    expect(tried).toEqual({
      ...{ billing: 403, auditor: 403, bob: 404, lead: 200 },
      ...{ ada: 200, admin: 200, owner: 200, operator: 200 },
    });
  });
});

test("a deleted response is gone, and what continues it stays", async () => {
  const root = await respond("ada");
  const next = await respond("ada", { previous_response_id: root });
  expect((await admin("owner", "DELETE", `/responses/${root}`)).data).toMatchObject({
    id: root,
    deleted: true,
  });
  expect(await statusOf("owner", "GET", `/responses/${root}`)).toBe(404);
  expect(await statusOf("owner", "DELETE", `/responses/${root}`)).toBe(404);
  const { data } = await admin("owner", "GET", `/responses/${next}`);
  expect((data["chain"] as { id: string }[]).map(({ id }) => id)).toEqual([next]);
});

test("the bytes of an account are shown with its limit to those who read the account", async () => {
  const usage = async () => (await admin("owner", "GET", "/responses/usage")).data;
  const before = await usage();
  expect(before).toMatchObject({ account_id: organization, limit_bytes: 1_000_000, retention_days: 7 });
  const id = await respond("ada");
  const { data } = await admin("owner", "GET", `/responses/${id}`);
  expect((await usage())["bytes"]).toBe(Number(before["bytes"]) + Number(data["bytes"]));
  expect(await statusOf("ada", "GET", "/responses/usage")).toBe(403);
  expect(await statusOf("stranger", "GET", `/responses/usage?account_id=${organization}`)).toBe(404);
  expect(await statusOf("operator", "GET", `/responses/usage?account_id=${organization}`)).toBe(200);
});
