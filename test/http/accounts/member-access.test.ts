import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type OpenStream, openEventStream } from "../../support/clients/read-event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { type ApiAnswer, callAdmin, createAccountTools } from "../../support/gateway/management.ts";
import { callWithSession, signIn } from "../../support/gateway/sign-in.ts";

/** A member of the organization, with a management key, an inference key and one generation. */
interface Person {
  readonly userId: string;
  readonly management: string;
  readonly inferenceKey: string;
  readonly inferenceKeyId: string;
  readonly generation: string;
}

let gateway: TestGateway;
let organization: string;
let ada: Person;
let eve: Person;
let admin: Person;

beforeAll(async () => {
  gateway = await startTestGateway();
  const create = createAccountTools(gateway);
  const adminId = await create.user("admin");
  organization = await create.organization(adminId);
  await callAdmin(gateway, gateway.adminKey, "POST", `/accounts/${organization}/credits`, { amount: 1 });

  const join = async (userId: string, role: string | null): Promise<Person> => {
    if (role !== null) await create.member(organization, userId, role);
    const management = await create.key(organization, { kind: "management", user_id: userId });
    const body = { name: "laptop", account_id: organization, user_id: userId };
    const made = await callAdmin(gateway, gateway.adminKey, "POST", "/keys", body);
    const inferenceKey = made.body["key"] as string;
    const generation = await chat(inferenceKey);
    return { userId, management, inferenceKey, inferenceKeyId: made.data.id, generation };
  };
  admin = await join(adminId, null);
  ada = await join(await create.user("Ada"), "member");
  eve = await join(await create.user("Eve"), "member");
});
afterAll(() => gateway.stop());

/** Returns the id of a new generation. */
async function chat(key: string): Promise<string> {
  const messages = [{ role: "user", content: "Hello!" }];
  const answer = await postChat({ ...gateway, key }, { model: "sandbox/echo", messages });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { id: string }).id;
}

const get = (person: Person, path: string): Promise<ApiAnswer> =>
  callAdmin(gateway, person.management, "GET", path);

const idsOf = async (person: Person, path: string): Promise<readonly string[]> =>
  (await get(person, path)).rows.map(({ id }) => id);

describe("a user whose account is closed", () => {
  test("spends and manages nothing of an organization any more, with any key", async () => {
    const create = createAccountTools(gateway);
    const [owner, user] = [await create.user("Owner"), await create.user("Gone")];
    const shared = await create.organization(owner);
    await create.member(shared, user, "admin");
    const ofShared = { "x-gateway-organization": shared };
    const inference = [
      [await create.key(shared, { user_id: user }), {}],
      [await create.key(user), ofShared],
    ] as const;
    const management = await create.key(shared, { kind: "management", user_id: user });
    const statuses = async () => {
      const body = { model: "sandbox/echo:free", messages: [{ role: "user", content: "Hello!" }] };
      const spent = inference.map(([key, headers]) => postChat({ ...gateway, key }, body, headers));
      const managed = callAdmin(gateway, management, "GET", `/organizations/${shared}/members`);
      return [...(await Promise.all(spent)), await managed].map(({ status }) => status);
    };
    expect(await statuses()).not.toContain(403);
    await callAdmin(gateway, gateway.adminKey, "PATCH", `/users/${user}`, { closed: true });
    expect(await statuses()).toEqual([403, 403, 403]);
  });
});

describe("a member of an organization", () => {
  test("lists only the own generations, whatever the filter is", async () => {
    expect(await idsOf(ada, "/generations")).toEqual([ada.generation]);
    expect(await idsOf(eve, "/generations")).toEqual([eve.generation]);
    expect(await idsOf(ada, `/generations?account_id=${organization}`)).toEqual([ada.generation]);
    expect(await idsOf(ada, `/generations?user_id=${ada.userId}`)).toEqual([ada.generation]);
    expect(await idsOf(ada, `/generations?key_id=${eve.inferenceKeyId}`)).toEqual([]);
    expect(await idsOf(ada, `/generations?id=${eve.generation}`)).toEqual([]);
    expect(await idsOf(ada, "/generations?model=sandbox/echo&outcome=completed")).toEqual([ada.generation]);
  });

  test("cannot ask for the records of another user", async () => {
    for (const path of ["/generations", "/generations/histogram", "/keys"]) {
      const answer = await get(ada, `${path}?user_id=${eve.userId}`);
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test("retrieves the own generation, and gets the same 404 for another's as for none", async () => {
    expect((await get(ada, `/generations/${ada.generation}`)).status).toBe(200);
    const [other, none] = [
      await get(ada, `/generations/${eve.generation}`),
      await get(ada, "/generations/gen_none"),
    ];
    expect([other.status, none.status]).toEqual([404, 404]);
    expect(other.body["error"]).toEqual(none.body["error"]);
  });

  test("counts only the own generations in the histogram", async () => {
    const count = async (person: Person): Promise<number> => {
      const { body } = await get(person, "/generations/histogram");
      const buckets = body["buckets"] as { completed: number }[];
      return buckets.reduce((sum, { completed }) => sum + completed, 0);
    };
    expect([await count(ada), await count(eve), await count(admin)]).toEqual([1, 1, 3]);
  });

  test("sees only the own usage, grouped by anything and as CSV", async () => {
    const groups = ["hour", "day", "model", "provider", "key", "user", "account", "outcome"];
    for (const group of groups) {
      const { rows } = await get(ada, `/usage?group_by=${group}`);
      expect([group, rows.map(({ requests }) => requests)]).toEqual([group, [1]]);
    }
    expect((await get(admin, "/usage?group_by=user")).rows).toHaveLength(3);
    const csv = await fetch(`${gateway.url}/api/admin/usage?group_by=user&format=csv`, {
      headers: { authorization: `Bearer ${ada.management}` },
    });
    const text = await csv.text();
    expect([text.includes(ada.userId), text.includes(eve.userId)]).toEqual([true, false]);
  });

  test("lists only the keys of its user", async () => {
    const owners = async (person: Person) =>
      new Set((await get(person, "/keys")).rows.map(({ user_id }) => user_id));
    expect(await owners(ada)).toEqual(new Set([ada.userId]));
    expect(await owners(eve)).toEqual(new Set([eve.userId]));
    expect(await owners(admin)).toEqual(new Set([admin.userId, ada.userId, eve.userId]));
    expect(await idsOf(admin, `/keys?user_id=${eve.userId}`)).toContain(eve.inferenceKeyId);
  });

  test("changes no key of others, and reads no balance, member or audit entry", async () => {
    const answer = await callAdmin(gateway, ada.management, "DELETE", `/keys/${eve.inferenceKeyId}`);
    expect(answer.status).toBe(404);
    for (const path of [
      `/accounts/${organization}/balance`,
      `/organizations/${organization}/members`,
      "/audit",
    ])
      expect([path, (await get(ada, path)).status]).toEqual([path, 403]);
  });

  test("sees the same with a console session as with the key", async () => {
    const session = await signIn(gateway, { key: ada.management });
    expect(session.body).toMatchObject({ role: "member", user: { id: ada.userId, name: "Ada" } });
    const { body } = await callWithSession(gateway, session, { path: "/api/admin/generations" });
    expect((body["data"] as { id: string }[]).map(({ id }) => id)).toEqual([ada.generation]);
    const path = `/api/admin/generations/${eve.generation}`;
    expect((await callWithSession(gateway, session, { path })).status).toBe(404);
  });
});

describe("an admin of an organization", () => {
  test("sees the generations of all members, and those of one by the filter", async () => {
    expect([...(await idsOf(admin, "/generations"))].sort()).toEqual(
      [ada, eve, admin].map(({ generation }) => generation).sort(),
    );
    expect(await idsOf(admin, `/generations?user_id=${eve.userId}`)).toEqual([eve.generation]);
    expect((await get(admin, `/generations/${eve.generation}`)).status).toBe(200);
  });
});

describe("the stream of a member", () => {
  test("has only the own generations", async () => {
    const path = `${gateway.url}/api/admin/generations/stream`;
    const open = (person: Person) => openEventStream(path, { authorization: `Bearer ${person.management}` });
    const streams = [await open(ada), await open(admin)] as const;
    // The admin's stream has both, which shows that Eve's has been sent.
    const ids = [await chat(eve.inferenceKey), await chat(ada.inferenceKey)];
    const idsOn = ({ events }: OpenStream) =>
      new Set(events.flatMap(({ data }) => (data as { data: { id: string }[] }).data.map(({ id }) => id)));
    await eventually("both streams", () => streams.every((stream) => idsOn(stream).has(ids[1] as string)));
    expect(idsOn(streams[1])).toContain(ids[0] as string);
    expect(idsOn(streams[0])).not.toContain(ids[0] as string);
    for (const stream of streams) stream.close();
  });
});

describe("a member who is removed", () => {
  test("has no valid key of the organization when they join again, and keeps those of other accounts", async () => {
    const create = createAccountTools(gateway);
    const userId = await create.user("Grace");
    await create.member(organization, userId, "member");
    const keys = [
      await create.key(organization, { user_id: userId }),
      await create.key(organization, { kind: "management", user_id: userId }),
      await create.key(userId, { user_id: userId }),
    ] as const;
    const listStatuses = async () => {
      const read = (path: string, key: string) =>
        fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } });
      const answers = [
        await read("/api/gateway/key", keys[0]),
        await read("/api/admin/keys", keys[1]),
        await read("/api/gateway/key", keys[2]),
      ];
      return answers.map(({ status }) => status);
    };
    expect(await listStatuses()).toEqual([200, 200, 200]);
    const path = `/organizations/${organization}/members/${userId}`;
    expect((await callAdmin(gateway, gateway.adminKey, "DELETE", path)).status).toBe(200);
    expect(await listStatuses()).toEqual([401, 401, 200]);
    await create.member(organization, userId, "member");
    expect(await listStatuses()).toEqual([401, 401, 200]);
    const audit = await callAdmin(
      gateway,
      gateway.adminKey,
      "GET",
      `/audit?account_id=${organization}&limit=5`,
    );
    const removal = audit.rows.find(({ action }) => String(action).startsWith("DELETE"));
    expect(removal).toMatchObject({ changes: { revoked_keys: 2 } });
  });
});
