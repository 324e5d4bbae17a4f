import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { nextTurn } from "../../../src/base/time/next-turn.ts";
import { openEventStream } from "../../support/clients/read-event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import {
  type AccountTools,
  type ApiAnswer,
  type ApiObject,
  callAdmin,
  createAccountTools,
} from "../../support/gateway/management.ts";
import { createTestClock } from "../../support/test-clock.ts";

/** Lea leads Search, of which Ada is a member. Bob is a member of Ads. The auditor reads everything. */
type Person = "owner" | "auditor" | "lea" | "ada" | "bob";
/** API keys, by person and team. */
type KeyName = "lea@Search" | "ada@Search" | "bob@Ads" | "ada" | "old@Old";

interface MadeKey {
  readonly id: string;
  readonly secret: string;
}

interface Company {
  readonly gateway: TestGateway;
  readonly organization: string;
  readonly people: Readonly<Record<Person, string>>;
  readonly teams: Readonly<Record<"Search" | "Ads" | "Old", string>>;
  readonly keys: Readonly<Record<KeyName, MadeKey>>;
  call(person: Person | "operator", method: string, path: string, body?: unknown): Promise<ApiAnswer>;
  /** Sends a request, and returns the id of its generation. */
  chat(key: KeyName, more?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** Creates an organization with two teams, and a third one that is deleted later. */
async function createCompany(gateway: TestGateway): Promise<Company> {
  const create: AccountTools = createAccountTools(gateway);
  const owner = await create.user("Olga");
  const organization = await create.organization(owner);
  const ids: Record<string, string> = { owner };
  for (const name of ["auditor", "lea", "ada", "bob"]) {
    ids[name] = await create.user(name);
    await create.member(organization, ids[name], name === "auditor" ? "auditor" : "member");
  }
  const secrets: Record<string, string> = { operator: gateway.adminKey };
  for (const [name, user_id] of Object.entries(ids))
    secrets[name] = await create.key(organization, { kind: "management", user_id });
  const call: Company["call"] = (person, method, path, body) =>
    callAdmin(gateway, secrets[person] as string, method, path, body);
  await call("operator", "POST", `/accounts/${organization}/credits`, { amount: 100 });
  const path = `/organizations/${organization}/teams`;
  const teams: Record<string, string> = {};
  for (const name of ["Search", "Ads", "Old"])
    teams[name] = (await call("owner", "POST", path, { name })).data.id;
  const join = (team: string, person: string, is_lead = false) =>
    call("owner", "PUT", `${path}/${teams[team]}/members/${ids[person]}`, { is_lead });
  for (const [team, person] of [
    ["Search", "ada"],
    ["Ads", "bob"],
    ["Old", "owner"],
  ] as const)
    await join(team, person);
  await join("Search", "lea", true);
  const makeKey = async (person: string, team: string | null): Promise<MadeKey> => {
    const body = { name: `of ${person}`, account_id: organization, user_id: ids[person] };
    const made = await call("owner", "POST", "/keys", {
      ...body,
      ...(team === null ? {} : { team_id: teams[team] }),
    });
    return { id: made.data.id, secret: String(made.body["key"]) };
  };
  const keys = {
    "lea@Search": await makeKey("lea", "Search"),
    "ada@Search": await makeKey("ada", "Search"),
    "bob@Ads": await makeKey("bob", "Ads"),
    "old@Old": await makeKey("owner", "Old"),
    ada: await makeKey("ada", null),
  };
  return {
    gateway,
    organization,
    people: ids as unknown as Company["people"],
    teams: teams as unknown as Company["teams"],
    keys,
    call,
    async chat(key, more = {}) {
      const body = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello!" }], ...more };
      const response = await postChat({ ...gateway, key: keys[key].secret }, body);
      await response.text();
      return response.headers.get("x-gateway-generation-id") ?? response.headers.get("x-request-id") ?? "";
    },
  };
}

let company: Company;
/** The ids of generations by key: two of Ada in Search, and one of each other key. */
let made: Readonly<Record<KeyName, readonly string[]>>;
/** The ids of rejected requests. */
let rejected: Readonly<Record<"ada@Search" | "bob@Ads" | "ada", string>>;

beforeAll(async () => {
  company = await createCompany(await startTestGateway());
  const { call, chat, organization, teams } = company;
  made = {
    "lea@Search": [await chat("lea@Search", { tags: ["job"] })],
    "ada@Search": [await chat("ada@Search"), await chat("ada@Search", { stream: true })],
    "bob@Ads": [await chat("bob@Ads", { tags: ["job"] })],
    "old@Old": [await chat("old@Old")],
    ada: [await chat("ada")],
  };
  rejected = {
    "ada@Search": await chat("ada@Search", { temperature: "hot" }),
    "bob@Ads": await chat("bob@Ads", { temperature: "hot" }),
    ada: await chat("ada", { temperature: "hot" }),
  };
  await call("owner", "DELETE", `/organizations/${organization}/teams/${teams.Old}`);
});
afterAll(() => company.gateway.stop());

const linesOf = async (person: Person | "operator", query: string): Promise<readonly ApiObject[]> => {
  const answer = await company.call(person, "GET", `/usage?${query}`);
  expect(answer.status).toBe(200);
  return answer.rows;
};
const OF_ALL = () => `account_id=${company.organization}`;

describe("a usage report by team", () => {
  test("has a line for each team with its name, also a deleted one, and one for keys without a team", async () => {
    const { Search, Ads, Old } = company.teams;
    const lines = await linesOf("operator", `group_by=team&${OF_ALL()}`);
    expect(lines.map(({ team, team_name, requests }) => [team, team_name, requests])).toEqual(
      expect.arrayContaining([
        [Search, "Search", 3],
        [Ads, "Ads", 1],
        [Old, "Old", 1],
        [null, null, 1],
      ]),
    );
    expect(lines).toHaveLength(4);
  });

  test("costs exactly what its keys cost, and has percentiles", async () => {
    const sum = (lines: readonly ApiObject[]) =>
      lines.reduce((total, line) => total + Number(line["cost_nanodollars"]), 0);
    const byTeam = await linesOf("owner", "group_by=team");
    const byKey = await linesOf("owner", "group_by=key");
    const ofSearch = byTeam.find(({ team }) => team === company.teams.Search);
    const keys = [company.keys["ada@Search"].id, company.keys["lea@Search"].id];
    const ofKeys = byKey.filter(({ key }) => keys.includes(String(key)));
    expect(sum(ofKeys)).toBeGreaterThan(0);
    expect([Number(ofSearch?.["cost_nanodollars"]), sum(byTeam)]).toEqual([sum(ofKeys), sum(byKey)]);
    expect(ofSearch).toMatchObject({ latency_ms: { p50: expect.any(Number) } });
  });

  test.each([
    ["team,user", 5],
    ["key,team", 5],
    ["day,team,outcome", 4],
    ["team,tag", 5],
    ["client,team", 4],
  ])("is combined with other dimensions: %s", async (groups, count) => {
    const lines = await linesOf("owner", `group_by=${groups}`);
    expect(lines).toHaveLength(count);
    const requests = lines.filter(({ team }) => team === company.teams.Search);
    expect(requests.reduce((total, line) => total + Number(line["requests"]), 0)).toBe(3);
  });

  test("of one team has only its keys, in reports by tag and client too", async () => {
    const team = `team_id=${company.teams.Search}`;
    const count = async (query: string) =>
      (await linesOf("owner", `${query}&${team}`)).map(({ requests }) => requests);
    expect(await count("group_by=user")).toEqual(expect.arrayContaining([2, 1]));
    expect(await count("group_by=account")).toEqual([3]);
    expect((await count("group_by=tag")).toSorted()).toEqual([1, 2]);
    expect(await count("group_by=client")).toEqual([3]);
    expect(await count("group_by=day&tag=job")).toEqual([1]);
    expect(await linesOf("owner", "group_by=day&team_id=team_none")).toEqual([]);
  });

  test("is CSV with the name after the id", async () => {
    const { gateway } = company;
    const response = await fetch(`${gateway.url}/api/admin/usage?group_by=team&format=csv&${OF_ALL()}`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    const [title = "", ...lines] = (await response.text()).trim().split("\r\n");
    expect(title.startsWith("team,team_name,requests,")).toBe(true);
    const begins = lines.map((line) => line.split(",").slice(0, 3).join(","));
    expect(begins.toSorted()).toEqual(
      [
        `${company.teams.Search},Search,3`,
        `${company.teams.Ads},Ads,1`,
        `${company.teams.Old},Old,1`,
        ",,1",
      ].toSorted(),
    );
  });
});

describe("requests of a team", () => {
  const listed = async (person: Person | "operator", query: string) => {
    const { status, rows } = await company.call(person, "GET", `/generations?limit=100&${query}`);
    return status === 200 ? rows.map(({ id }) => id).toSorted() : status;
  };

  test("are listed with the team's id and name, by the operator without the organization too", async () => {
    const { Search } = company.teams;
    const expected = [...made["lea@Search"], ...made["ada@Search"]].toSorted();
    expect(await listed("owner", `team_id=${Search}`)).toEqual(expected);
    expect(await listed("operator", `team_id=${Search}`)).toEqual(expected);
    expect(await listed("operator", `team_id=${Search}&user_id=${company.people.ada}`)).toEqual(
      made["ada@Search"].toSorted(),
    );
    const { rows } = await company.call("owner", "GET", `/generations?team_id=${Search}`);
    expect(rows[0]).toMatchObject({ team_id: Search, team_name: "Search" });
    const all = await company.call("owner", "GET", "/generations?limit=100");
    const names = all.rows.map(({ team_name }) => team_name);
    expect(names.toSorted()).toEqual(["Ads", "Old", "Search", "Search", "Search", null]);
  });

  test("are found by id only together with their own team", async () => {
    const id = made["ada@Search"][0];
    expect(await listed("owner", `id=${id}&team_id=${company.teams.Search}`)).toEqual([id as string]);
    expect(await listed("owner", `id=${id}&team_id=${company.teams.Ads}`)).toEqual([]);
  });

  test("are counted, and a single one names its team", async () => {
    const path = `/generations/histogram?team_id=${company.teams.Search}&buckets=1`;
    const { body } = await company.call("owner", "GET", path);
    const buckets = body["buckets"] as readonly { readonly completed: number }[];
    expect(buckets.reduce((total, { completed }) => total + completed, 0)).toBe(3);
    const one = await company.call("owner", "GET", `/generations/${made["bob@Ads"][0]}`);
    expect(one.data["team"]).toEqual({ id: company.teams.Ads, name: "Ads" });
    const without = await company.call("owner", "GET", `/generations/${made.ada[0]}`);
    expect(without.data["team"]).toBeNull();
  });

  test("that are rejected have the team of their key", async () => {
    const { rows } = await company.call("owner", "GET", `/rejections?team_id=${company.teams.Search}`);
    expect(rows).toMatchObject([
      { id: rejected["ada@Search"], team_id: company.teams.Search, team_name: "Search" },
    ]);
    const other = await company.call("owner", "GET", `/rejections/${rejected.ada}`);
    expect(other.data).toMatchObject({ team_id: null, team_name: null });
  });

  test("have the team in their log lines", async () => {
    const { gateway, teams } = company;
    const lines = gateway.log
      .map(({ fields }) => fields ?? {})
      .filter(({ team_id }) => team_id === teams.Ads);
    const ids = lines.map(({ generation_id, request_id }) => generation_id ?? request_id);
    expect(ids).toEqual(expect.arrayContaining([made["bob@Ads"][0], rejected["bob@Ads"]]));
    const ofAda = gateway.log.find(({ fields }) => fields?.["generation_id"] === made.ada[0]);
    expect(ofAda?.fields).not.toHaveProperty("team_id");
  });

  test("are streamed as they come, with rejected ones, and no others", async () => {
    const { gateway, teams, chat } = company;
    const query = `team_id=${teams.Ads}`;
    const stream = await openEventStream(`${gateway.url}/api/admin/generations/stream?${query}`, {
      authorization: `Bearer ${gateway.adminKey}`,
    });
    const ids = () =>
      stream.events.flatMap(({ data }) => (data as { data: ApiObject[] }).data.map(({ id }) => id));
    await chat("ada@Search");
    const expected = [await chat("bob@Ads"), await chat("bob@Ads", { temperature: "hot" })];
    await eventually("both", () => expected.every((id) => ids().includes(id)));
    expect([...new Set(ids())].toSorted()).toEqual(expected.toSorted());
    stream.close();
  });
});

describe("who reads", () => {
  /** The lists that can be restricted to a user and a team. */
  const LISTS = [
    "/generations?limit=1",
    "/generations/histogram?buckets=2",
    "/generations/stream?",
    "/rejections?limit=1",
    "/usage?group_by=day",
    "/keys?limit=1",
  ];

  test.each(LISTS)("the team of %s: all with the right to read, and its lead", async (list) => {
    const { teams, call } = company;
    const statuses: Record<string, readonly number[]> = {};
    for (const person of ["operator", "owner", "auditor", "lea", "ada", "bob"] as const)
      statuses[person] = [
        (await call(person, "GET", `${list}&team_id=${teams.Search}`)).status,
        (await call(person, "GET", `${list}&team_id=${teams.Ads}`)).status,
      ];
    expect(statuses).toEqual({
      operator: [200, 200],
      owner: [200, 200],
      auditor: [200, 200],
      lea: [200, 404],
      ada: [404, 404],
      bob: [404, 404],
    });
  });

  test("a team that does not exist gets members the same answer as a team of others", async () => {
    const { call, teams } = company;
    const answers = [];
    for (const id of [teams.Ads, "team_none"])
      answers.push((await call("ada", "GET", `/generations?team_id=${id}`)).body);
    expect(answers[0]).toMatchObject({ error: { metadata: { field: "team_id" } } });
    expect(answers[0]).toEqual(answers[1]);
  });

  test("a lead reads own requests by default, and with the team those of all its members", async () => {
    const { call, teams, people, keys } = company;
    const ids = async (query: string) => {
      const { status, rows } = await call("lea", "GET", `/generations?limit=100&${query}`);
      return status === 200 ? rows.map(({ id }) => id).toSorted() : status;
    };
    expect(await ids("")).toEqual([...made["lea@Search"]]);
    expect(await ids(`team_id=${teams.Search}&user_id=${people.ada}`)).toEqual(
      expect.arrayContaining([...made["ada@Search"]]),
    );
    expect(await ids(`user_id=${people.ada}`)).toBe(404);
    const requests = async (query: string) =>
      (await linesOf("lea", `group_by=user&${query}`)).map(({ user }) => user);
    expect(await requests("")).toEqual([people.lea]);
    expect((await requests(`team_id=${teams.Search}`)).toSorted()).toEqual(
      [people.ada, people.lea].toSorted(),
    );
    const listed = (await call("lea", "GET", "/keys?limit=100")).rows.map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining([keys["ada@Search"].id, keys["lea@Search"].id]));
    expect(listed).not.toContain(keys.ada.id);
  });

  test("a lead reads single requests of the team, not others of its members, and no stored bodies", async () => {
    const { call } = company;
    const read = async (person: Person, path: string) => (await call(person, "GET", path)).status;
    const [inside, outside] = [made["ada@Search"][0], made.ada[0]];
    expect(await read("lea", `/generations/${inside}`)).toBe(200);
    expect(await read("lea", `/generations/${outside}`)).toBe(404);
    expect(await read("lea", `/rejections/${rejected["ada@Search"]}`)).toBe(200);
    expect(await read("lea", `/rejections/${rejected.ada}`)).toBe(404);
    expect(await read("bob", `/generations/${inside}`)).toBe(404);
    expect(await read("ada", `/generations/${outside}`)).toBe(200);
    expect(await read("lea", `/generations/${inside}/bodies`)).toBe(403);
    expect(await read("auditor", `/generations/${inside}/bodies`)).toBe(404);
  });

  test("budgets: members those of the account, of themselves and of their teams", async () => {
    const { call, teams, people, keys, organization } = company;
    const budgets: Record<string, string> = {};
    for (const [name, subject] of Object.entries({
      all: {},
      ada: { user_id: people.ada },
      bob: { user_id: people.bob },
      Search: { team_id: teams.Search },
      Ads: { team_id: teams.Ads },
      key: { key_id: keys.ada.id },
    })) {
      const body = { account_id: organization, name, limit: 50, ...subject };
      budgets[name] = (await call("owner", "POST", "/budgets", body)).data.id;
    }
    const names = async (person: Person | "operator", query = "") => {
      const { status, rows } = await call(person, "GET", `/budgets?limit=100${query}`);
      return status === 200 ? rows.map(({ name }) => name) : status;
    };
    expect(await names("auditor")).toEqual(["all", "ada", "bob", "Search", "Ads", "key"]);
    expect(await names("ada")).toEqual(["all", "ada", "Search"]);
    expect(await names("lea")).toEqual(["all", "Search"]);
    expect(await names("bob")).toEqual(["all", "bob", "Ads"]);
    expect(await names("ada", `&team_id=${teams.Search}`)).toEqual(["Search"]);
    expect(await names("ada", `&team_id=${teams.Ads}`)).toBe(404);
    expect(await names("operator", `&team_id=${teams.Ads}`)).toEqual(["Ads"]);
    expect(await names("operator", "&team_id=team_none")).toEqual([]);
    const read = async (name: string) => (await call("ada", "GET", `/budgets/${budgets[name]}`)).status;
    expect([await read("Search"), await read("Ads"), await read("key")]).toEqual([200, 404, 404]);
    const change = await call("lea", "PATCH", `/budgets/${budgets["Search"]}`, { limit: 1 });
    expect(change.status).toBe(403);
    for (const id of Object.values(budgets)) await call("owner", "DELETE", `/budgets/${id}`);
  });

  test("teams: all with the right to read, members their own, also by a name", async () => {
    const { call, teams, organization } = company;
    const names = async (person: Person | "operator", query = "") =>
      (await call(person, "GET", `/teams?limit=100${query}`)).rows.map(({ name }) => name);
    expect(await names("auditor")).toEqual(["Old", "Ads", "Search"]);
    expect(await names("ada")).toEqual(["Search"]);
    expect(await names("ada", "&named=ads")).toEqual([]);
    expect(await names("operator", `&account_id=${organization}&named=SEARCH`)).toEqual(["Search"]);
    expect(await names("operator", `&named=${teams.Old}`)).toEqual(["Old"]);
    const first = await call("auditor", "GET", "/teams?limit=1");
    const second = await call("auditor", "GET", `/teams?limit=1&after=${first.body["next"]}`);
    expect(second.rows.map(({ name }) => name)).toEqual(["Ads"]);
  });

  test("a stream of a team ends soon after its reader no longer leads the team", async () => {
    const clock = createTestClock();
    const other = await createCompany(await startTestGateway({ clock }));
    const { gateway, call, organization, teams, people } = other;
    try {
      const made = await call("owner", "POST", "/keys", {
        name: "watcher",
        kind: "management",
        account_id: organization,
        user_id: people.lea,
      });
      const url = `${gateway.url}/api/admin/generations/stream?team_id=${teams.Search}`;
      const stream = await openEventStream(url, { authorization: `Bearer ${made.body["key"]}` });
      let isEnded = false;
      void stream.ended.then(() => {
        isEnded = true;
      });
      const pass = async () => {
        for (let step = 0; step < 60; step++) {
          clock.advance(250);
          for (let turn = 0; turn < 3; turn++) await nextTurn();
        }
      };
      await pass();
      await eventually("a ping", () => stream.text().includes(": ping"));
      expect(isEnded).toBe(false);
      const path = `/organizations/${organization}/teams/${teams.Search}/members/${people.lea}`;
      expect((await call("owner", "PUT", path, { is_lead: false })).status).toBe(200);
      while (!isEnded) await pass();
    } finally {
      await gateway.stop();
    }
  });
});
