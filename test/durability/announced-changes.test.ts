import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin } from "../support/gateway/management.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const admin = (method: string, path: string, body?: unknown) =>
  callAdmin(gateway, gateway.adminKey, method, path, body);

/** Gives access to the gateway's database. */
async function withDatabase<T>(work: (database: Database) => T): Promise<T> {
  const database = openGatewayDatabase(gateway.dataDir);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const countAnnounced = () =>
  withDatabase((database) => database.query("SELECT count(*) AS n FROM announced_changes").get());

async function restart(): Promise<void> {
  const { dataDir, key } = gateway;
  await gateway.stop({ keepData: true });
  gateway = await startTestGateway({ dataDir, key });
}

test("a change whose audit entry could not be written has one after the next start, and the audit log stays verifiable", async () => {
  const { data } = await admin("POST", "/users", { name: "before" });
  const { data: refused } = await admin("PATCH", `/users/${data.id}`, { name: 5 });
  expect(refused).toBeUndefined();
  expect(await countAnnounced()).toEqual({ n: 0 });

  await withDatabase((database) =>
    database.exec(`CREATE TRIGGER full BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'full'); END`),
  );
  expect((await admin("PATCH", `/users/${data.id}`, { name: "after" })).status).toBeGreaterThanOrEqual(500);
  expect((await admin("GET", `/users/${data.id}`)).data["name"]).toBe("after");
  expect(await countAnnounced()).toEqual({ n: 1 });
  await withDatabase((database) => database.exec("DROP TRIGGER full"));

  await restart();
  const { rows } = await admin("GET", "/audit?limit=2");
  expect(rows.map(({ action, target, changes }) => ({ action, target, changes }))).toEqual([
    {
      action: "PATCH /api/admin/users/:id",
      target: data.id,
      changes: { name: "(not kept)", "(outcome)": "unknown" },
    },
    { action: "POST /api/admin/users", target: data.id, changes: { name: "before" } },
  ]);
  expect((await admin("GET", "/audit/verify")).data).toMatchObject({ holds: true, entries: 2 });
  expect(gateway.log.filter(({ event }) => event.startsWith("changes were in progress"))).toHaveLength(1);
  expect(await countAnnounced()).toEqual({ n: 0 });
});

test("a rejected change leaves no audit entry", async () => {
  expect((await admin("PATCH", "/users/user_nobody", { name: "x" })).status).toBe(404);
  expect(await countAnnounced()).toEqual({ n: 0 });
  await restart();
  expect((await admin("GET", "/audit/verify")).data).toMatchObject({ entries: 2 });
});
