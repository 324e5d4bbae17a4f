import { afterAll, beforeAll, expect, test } from "bun:test";
import { postChat, startTestGateway, type TestGateway } from "../../../support/gateway/gateway.ts";
import { type AccountTools, callAdmin, createAccountTools } from "../../../support/gateway/management.ts";
import { callWithSession, type SignedIn, signIn } from "../../../support/gateway/sign-in.ts";
import { createTestClock } from "../../../support/test-clock.ts";

const PATH = "/api/console/playground-key";
const HOUR_MS = 3_600_000;
const clock = createTestClock();

let gateway: TestGateway;
let create: AccountTools;

beforeAll(async () => {
  gateway = await startTestGateway({ clock, yaml: "console: { playground_limit: 0.5 }" });
  create = createAccountTools(gateway);
});
afterAll(() => gateway.stop());

const createKey = (signedIn: SignedIn, body: object = {}) =>
  callWithSession(gateway, signedIn, { method: "POST", path: PATH, body });

const chatWith = async (key: string): Promise<number> => {
  const messages = [{ role: "user", content: "Hello!" }];
  const response = await postChat({ ...gateway, key }, { model: "sandbox/echo", messages });
  await response.text();
  return response.status;
};

test("a session creates an inference key that calls models for an hour and has a spending limit", async () => {
  const operator = await signIn(gateway, { key: gateway.adminKey });
  const { status, body } = await createKey(operator);
  const key = body["key"] as string;
  expect(status).toBe(201);
  expect(body).toMatchObject({ limit: 0.5, expires_at: new Date(clock.now() + HOUR_MS).toISOString() });
  expect(await chatWith(key)).toBe(200);
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", "/keys");
  const made = rows.find(({ name }) => name === "playground");
  expect(made).toMatchObject({ kind: "inference", spend_limit: 0.5 });
  clock.leap(HOUR_MS);
  expect(await chatWith(key)).toBe(401);
});

test("a member's key belongs to the member, so that the member's limits apply", async () => {
  const user = await create.user();
  const organization = await create.organization(await create.user("owner"));
  await create.member(organization, user, "member");
  const key = await create.key(organization, { kind: "management", user_id: user });
  const member = await signIn(gateway, { key });
  expect((await createKey(member)).status).toBe(201);
  const { rows } = await callAdmin(gateway, gateway.adminKey, "GET", `/keys?account_id=${organization}`);
  const made = rows.find(({ name }) => name === "playground");
  expect(made).toMatchObject({ kind: "inference", user_id: user, account_id: organization });
});

test("only the operator creates a key for another account", async () => {
  const [user, other] = [await create.user(), await create.user()];
  const signedIn = await signIn(gateway, { key: await create.key(user, { kind: "management" }) });
  expect((await createKey(signedIn, { account_id: other })).status).toBe(404);
  expect((await createKey(signedIn, { account_id: user })).status).toBe(201);
  const operator = await signIn(gateway, { key: gateway.adminKey });
  expect((await createKey(operator, { account_id: other })).status).toBe(201);
  expect((await createKey(operator, { account_id: "user_none" })).status).toBe(400);
});

test("the keys that one management key creates in an hour are bounded", async () => {
  const own = await create.key(await create.user(), { kind: "management" });
  const signedIn = await signIn(gateway, { key: own });
  for (let count = 0; count < 60; count++) expect((await createKey(signedIn)).status).toBe(201);
  const { status, headers } = await createKey(signedIn);
  expect([status, headers.get("retry-after")]).toEqual([429, "3600"]);
  clock.leap(HOUR_MS);
  expect((await createKey(signedIn)).status).toBe(201);
});
