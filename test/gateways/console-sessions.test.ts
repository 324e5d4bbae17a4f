import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { eventually } from "../support/eventually.ts";
import type { TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { callWithSession, findSessionId, type SignedIn, signIn } from "../support/gateway/sign-in.ts";
import { type SharedGateways, shareDatabase } from "./shared-gateways.ts";

/** Twice what is promised, because a machine that runs tests is busy. Milliseconds. */
const BOUND_MS = 2_000;

describe.skipIf(POSTGRES_BIN === null)("a console session of two gateways on one database", () => {
  let server: TestPostgres;
  let shared: SharedGateways;
  let a: TestGateway;
  let b: TestGateway;

  beforeAll(async () => {
    server = await startTestPostgres();
    shared = shareDatabase(await server.createMigratedDatabase());
    a = await shared.start("a");
    b = await shared.start("b");
  });
  afterAll(async () => {
    await shared.clear();
    await server.remove();
  });

  const statusAt = async (gateway: TestGateway, signedIn: SignedIn): Promise<number> =>
    (await callWithSession(gateway, signedIn, { path: "/api/console/session" })).status;

  test("that one gateway opened is valid at the other at once, and ends at both at once", async () => {
    const signedIn = await signIn(a, { key: a.adminKey });
    expect([await statusAt(a, signedIn), await statusAt(b, signedIn)]).toEqual([200, 200]);
    const path = `/api/admin/sessions/${await findSessionId(b, signedIn)}`;
    expect((await callAdmin(b, b.adminKey, "DELETE", path.replace("/api/admin", ""))).status).toBe(200);
    expect([await statusAt(a, signedIn), await statusAt(b, signedIn)]).toEqual([401, 401]);
  });

  test("ends at the other gateway soon after its key was revoked at one", async () => {
    const key = await createAccountTools(a).key("acct_default", { kind: "management" });
    const signedIn = await signIn(b, { key });
    expect(await statusAt(b, signedIn)).toBe(200);
    await callAdmin(a, a.adminKey, "DELETE", `/keys/${signedIn.body["key_id"]}`);
    expect(await statusAt(a, signedIn)).toBe(401);
    const ended = async () => (await statusAt(b, signedIn)) === 401;
    await eventually("the session to end at the other gateway", ended, BOUND_MS);
  });
});
