import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { copyStores } from "../../src/app/storage-copy/copy-stores.ts";
import { openStorage } from "../../src/app/storage-copy/open-storage.ts";
import { createIdSource } from "../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { OWN_SETTINGS } from "../../src/core/storage-copy/tables.ts";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { seedCatalog } from "../catalog/seed-catalog.ts";
import { sourceModel } from "../catalog/source-fixture.ts";
import {
  AT,
  conversationOf,
  idAt,
  objectAfter,
  objectAt,
  runningAt,
} from "../storage/contracts/response-store.ts";
import { openResponses } from "../storage/postgres/databases.ts";
import { openGatewayDatabase } from "../support/databases/gateway-database.ts";
import { openTestPostgres } from "../support/databases/open-postgres.ts";
import { POSTGRES_BIN, startTestPostgres, type TestPostgres } from "../support/databases/postgres.ts";
import { openTestStores } from "../support/databases/test-stores.ts";
import { eventually } from "../support/eventually.ts";
import { postChat, startTestGateway, type TestGateway } from "../support/gateway/gateway.ts";
import { callAdmin, createAccountTools } from "../support/gateway/management.ts";
import { expectPromisedOutput } from "../support/gateway/promised-output.ts";
import { createWorkspace, type Workspace } from "../support/gateway/run-gateway.ts";
import { signIn } from "../support/gateway/sign-in.ts";
import { IS_LONG_RUN } from "../support/long-run.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import { healthy, startVendor, type Vendor } from "../support/vendors/vendor.ts";

const MAIN = join(import.meta.dir, "..", "..", "src", "main.ts");
/** Enough that a copy takes several pages. */
const MORE_GENERATIONS = 3_000;
const DAY_MS = 86_400_000;

const RUNS = POSTGRES_BIN !== null && IS_LONG_RUN;
const messages = [{ role: "user", content: "Hello!" }];

let postgres: TestPostgres;
let vendor: Vendor;
let workspace: Workspace;
/** A data directory that a gateway has used. */
let dataDir: string;
let used: {
  readonly key: string;
  readonly userId: string;
  readonly userKey: string;
  readonly organizationId: string;
  readonly memberKey: string;
  /** A generation whose bodies are in the prompt log. */
  readonly generation: string;
};

const yaml = () => `
providers:
  vendor-a:
    base_url: "${vendor.baseUrl}"
    models: [{id: acme/model, prices: {prompt: "0.000001", completion: "0.000002"}}]`;

beforeAll(async () => {
  if (!RUNS) return;
  postgres = await startTestPostgres();
  vendor = startVendor(healthy("Alpha"));
  workspace = createWorkspace();
  dataDir = await seedCatalog({ openai: ["gpt-4", "gpt-4o"].map((id) => sourceModel(id)) });
  const gateway = await startTestGateway({ dataDir, yaml: yaml() });
  used = await useGateway(gateway);
  await gateway.stop({ keepData: true });
  await addGenerations();
  addFormerDay();
  await addIdentity();
  await addIncident();
  await addResponseObjects();
});
afterAll(async () => {
  if (!RUNS) return;
  vendor.stop();
  await postgres.remove();
  workspace.clear();
  rmSync(dataDir, { recursive: true });
});

/** Makes rows in all tables: accounts, keys, members, teams, an invitation, credits, an expiring grant, a refund, BYOK keys, a console session, stored responses and bodies. */
async function useGateway(gateway: TestGateway) {
  const admin = (path: string, body: unknown, headers = {}) =>
    callAdmin(gateway, gateway.adminKey, "POST", path, body, headers);
  const create = createAccountTools(gateway);
  const user = await create.user('Ada \\ "Lovelace" {1,2}');
  const organization = await create.organization(user, { monthly_limit: 5 });
  const member = await create.user("Eve", { email: "eve@example.com", external_id: "C 7" });
  await create.member(organization, member, "member");
  const expires_at = new Date(Date.now() + DAY_MS).toISOString();
  await admin(`/accounts/${user}/credits`, { amount: 2, note: "a grant", expires_at });
  await admin(`/accounts/${user}/credits`, { amount: 1 });
  await admin(`/accounts/${organization}/credits`, { amount: 3 });
  await admin(`/accounts/${user}/provider-keys`, { provider: "openai", key: "own-openai-0123456789" });
  await admin("/users", { name: "once" }, { "idempotency-key": "create-once" });
  const userKey = await create.key(user, { prompt_log: 3_600, spend_limit: 1 });
  const memberKey = await create.key(organization, { user_id: member });
  const team = await admin(`/organizations/${organization}/teams`, { name: "Research", tags: ["research"] });
  const teamId = (team.body["data"] as { id: string }).id;
  const place = `/organizations/${organization}/teams/${teamId}/members/${member}`;
  const joined = await callAdmin(gateway, gateway.adminKey, "PUT", place, { is_lead: true });
  const invited = await admin(`/organizations/${organization}/invitations`, {
    role: "member",
    teams: [{ id: teamId, is_lead: true }],
  });
  expect([team.status, joined.status, invited.status]).toEqual([201, 200, 201]);
  await callAdmin(gateway, gateway.adminKey, "PUT", `/named-routes/ours?account_id=${user}`, {
    kind: "alias",
    target: "acme/model",
  });
  const stored = await callAdmin(gateway, gateway.adminKey, "PATCH", "/config", {
    edits: [{ path: ["metrics", "token"], value: "a-token-of-the-copied-store" }],
  });
  expect(stored.status).toBe(200);
  expect((await postChat(gateway, { model: "none/such", messages })).status).toBe(400);
  expect((await signIn(gateway, { key: gateway.adminKey })).status).toBe(201);
  for (const account_id of ["acct_default", user, organization])
    expect((await admin("/budgets", { account_id, limit: 100 })).status).toBe(201);
  let last = "";
  for (const key of [gateway.key, userKey, memberKey, userKey]) {
    const response = await postChat({ ...gateway, key }, { model: "acme/model", messages });
    expect(response.status).toBe(200);
    await response.text();
    last = response.headers.get("x-gateway-generation-id") as string;
  }
  const refund = await eventually("the charge is saved", async () => {
    const answer = await admin(`/generations/${last}/refund`, { amount: "0.000000001" });
    return answer.status === 201 ? answer : null;
  });
  expect(refund.status).toBe(201);
  const { key } = gateway;
  return { key, userId: user, userKey, organizationId: organization, memberKey, generation: last };
}

/** Adds an incident of a provider, as a gateway reports it. */
async function addIncident(): Promise<void> {
  const stores = await openTestStores(dataDir);
  const failure = { type: "upstream_error", status: 500 };
  await stores.healthHistory.reportIncident({
    ...{ id: "inc_1", provider: "vendor-a", observer: "gateway_1", isSeen: true, isContinued: false },
    ...{ level: "down", models: ["acme/model"], at: Date.now() },
    failures: [{ ...failure, count: 1 }],
    sample: { ...failure, at: Date.now(), model: "acme/model", message: "broken", generationId: "gen_1" },
    ...{ failedAttempts: 1, savedRequests: 1, failedRequests: 0 },
  });
  await stores.close();
}

/** Adds response objects of several days, more than a page of them, with items, events and a conversation. */
async function addResponseObjects(): Promise<void> {
  const { responses, close } = await openTestStores(dataDir);
  let last = objectAt(0, { userId: null, ciphertext: new Uint8Array(300_000) });
  await responses.addObject(last, ["item_1", 'odd "\\, {item}'], Number.MAX_SAFE_INTEGER);
  for (let n = 1; n < 30; n++) {
    last = objectAfter(last, n * DAY_MS * 0.4, {
      model: n % 2 === 0 ? null : "a/b",
      accountId: `org_${n % 3}`,
      ...(n === 29 ? { status: "in_progress", gatewayId: "gateway_a" } : {}),
    });
    await responses.addObject(last, [`item_${n}`], Number.MAX_SAFE_INTEGER);
  }
  await responses.addEvents(last, [{ first: 0, last: 3, ciphertext: Uint8Array.of(0, 92, 34) }]);
  await responses.changeObject(last, { ...last, status: "completed", gatewayId: null }, []);
  await responses.addConversation(conversationOf("conv_1"), 1e9);
  const place = { rootId: "conv_1", conversationId: "conv_1", isBackground: true };
  await responses.addObject(objectAt(5, place), [], Number.MAX_SAFE_INTEGER);
  await close();
}

async function addIdentity(): Promise<void> {
  const stores = await openTestStores(dataDir);
  await stores.identities.addIdentity({
    issuer: "https://id.example",
    subject: "1",
    userId: used.userId,
    createdAt: systemClock.now(),
  });
  await stores.close();
}

/** Adds generations of several days, like one that the gateway has recorded. */
async function addGenerations(): Promise<void> {
  const database = new Database(join(dataDir, "gateway.db"), { readonly: true });
  const found = database.query<{ record: string }, []>("SELECT record FROM generations WHERE cost > 0").get();
  database.close();
  const like = JSON.parse(found?.record as string) as UsageRecord;
  const stores = await openTestStores(dataDir);
  const random = createSystemRandom();
  const records = Array.from({ length: MORE_GENERATIONS }, (_, at): UsageRecord => {
    const createdAt = like.createdAt - (at % 5) * DAY_MS;
    const id = createIdSource({ ...systemClock, now: () => createdAt }, random).next("gen");
    const tags = at % 7 === 0 ? ["team a", `job:${at % 300}`] : undefined;
    return { ...like, id, createdAt, finishedAt: createdAt, requestedModel: 'odd "\\, {model}', tags };
  });
  const [rejected, ...saved] = records.map((record) => ({ record, json: JSON.stringify(record) }));
  const [budget] = await stores.budgets.listBudgets(like.accountId ?? "");
  await stores.budgets.claimMarks([{ budgetId: budget?.id ?? "", value: "", since: 1, level: "warning" }]);
  await stores.usage.saveUsage(saved);
  if (rejected !== undefined) await stores.usage.quarantineUsage(rejected, "a test", 1);
  await stores.close();
}

/** Adds the sum of a day as versions without sums of hours have saved it. */
function addFormerDay(): void {
  const database = openGatewayDatabase(dataDir);
  database.exec(
    `INSERT INTO usage_days (day, account_id, key_id, user_id, model, provider, requests, errors, prompt_tokens,
       completion_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, cost, upstream_cost)
     VALUES (19000, 'org_a', 'key_a', '', 'acme/model', 'vendor-a', 7, 2, 70, 1, 2, 3, 4, 210, 211)`,
  );
  database.close();
}

const copyArguments = (from: string, to: string) => ["storage", "copy", "--from", from, "--to", to];

/** Returns all rows of a data directory, without what belongs to one store alone. */
function readAll(dir: string): Record<string, unknown[]> {
  return { ...readFile(dir, "responses.db"), ...readFile(dir, "gateway.db") };
}

function readFile(dir: string, file: string): Record<string, unknown[]> {
  const database = new Database(join(dir, file), { readonly: true });
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all();
  const rows = Object.fromEntries(
    tables.map(({ name }) => {
      const all = database.query<Record<string, unknown>, []>(`SELECT * FROM ${name}`).all();
      const shared = all.filter((row) => name !== "settings" || !OWN_SETTINGS.includes(String(row["name"])));
      return [name, shared.map((row) => Bun.inspect(row)).sort()];
    }),
  );
  database.close();
  return rows;
}

/** Starts a copy in its own process and kills it while it copies generations. */
async function interruptCopy(to: string): Promise<void> {
  const child = Bun.spawn([process.execPath, MAIN, ...copyArguments(dataDir, to)], {
    cwd: workspace.folder,
    stdout: "ignore",
    stderr: "ignore",
  });
  const database = openTestPostgres(to);
  await eventually("the copy has come to the generations", async () => {
    const rows = await database.run("SELECT FROM generations LIMIT 1").catch(() => []);
    return rows.length > 0;
  });
  child.kill("SIGKILL");
  await child.exited;
  await database.close();
}

const onPage = (): void => {};

describe.skipIf(!RUNS)("`gateway storage copy`", () => {
  test("copies a data directory to PostgreSQL, continues after it was killed, and copies back all rows", async () => {
    const url = await postgres.createDatabase();
    await interruptCopy(url);
    const start = await workspace.runInOwnProcess(["start"], { environment: { DATABASE_URL: url } });
    expect(start.exitCode).toBe(1);
    expect(start.stderr).toContain("is an incomplete copy of another store");
    const again = await workspace.run(copyArguments(dataDir, url));
    expect(again.stdout).toContain(`has everything that ${dataDir} has`);
    expect(again.stdout).not.toContain("DIFFERENT");
    expect(again.stdout).toContain(`Set those in ${join(dataDir, "secrets.key")} as secrets.keys`);
    expect(again.exitCode).toBe(0);

    const back = join(workspace.folder, "back");
    const returned = await workspace.run([...copyArguments(url, back), "--json"]);
    expect(returned).toMatchObject({ exitCode: 0 });
    expectPromisedOutput([{ command: "storage copy", json: JSON.parse(returned.stdout) }]);
    const rows = readAll(dataDir);
    expect(Object.keys(rows).filter((table) => rows[table]?.length === 0)).toEqual([
      "announced_changes",
      "console_codes",
      "dropped_charges",
      "oidc_trials",
      "retention",
    ]);
    expect(readAll(back)).toEqual(rows);
    expect(readFileSync(join(back, "catalog.json"), "utf8")).toBe(
      readFileSync(join(dataDir, "catalog.json"), "utf8"),
    );
  });

  test("the copy serves the same keys with the same balances, and reads its secrets", async () => {
    const url = await postgres.createDatabase();
    const result = await copyStores({ from: dataDir, to: url, isPooled: false, onPage }, systemClock);
    expect(result.comparisons.filter(({ from, to }) => from !== to)).toEqual([]);
    const secrets = readFileSync(join(dataDir, "secrets.key"), "utf8")
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("#"));
    const gateway = await startTestGateway({
      yaml: yaml(),
      environment: { DATABASE_URL: url, GATEWAY_SECRETS_KEY: secrets.join(",") },
      key: used.key,
    });
    const before = await openTestStores(dataDir);
    const admin = (path: string) => callAdmin(gateway, gateway.adminKey, "GET", path);
    const accounts = [
      [used.userId, used.userKey],
      [used.organizationId, used.memberKey],
    ] as const;
    for (const [id, key] of accounts) {
      const { balance } = await before.ledger.findBalance(id);
      expect((await admin(`/accounts/${id}/balance`)).data["balance_nanodollars"]).toBe(balance);
      const answer = await postChat({ ...gateway, key }, { model: "acme/model", messages });
      expect(answer.status).toBe(200);
      await answer.text();
    }
    expect((await admin(`/generations/${used.generation}/bodies`)).status).toBe(200);
    await before.close();
    await gateway.stop();
  });

  test("what is left of grants is the same in the copy", async () => {
    const url = await postgres.createDatabase();
    await copyStores({ from: dataDir, to: url, isPooled: false, onPage }, systemClock);
    const from = await openStorage({ place: dataDir, isPooled: false, mustExist: true }, systemClock);
    const to = await openStorage({ place: url, isPooled: false, mustExist: true }, systemClock);
    const left = await from.ledger.findGrantsLeft(used.userId);
    expect(left).toHaveLength(1);
    expect(await to.ledger.findGrantsLeft(used.userId)).toEqual(left);
    expect(await to.ledger.sumTransfers(used.userId)).toEqual(await from.ledger.sumTransfers(used.userId));
    await from.close();
    await to.close();
  });

  test("a second copy of the same data changes nothing, and a target with other data is rejected", async () => {
    const url = await postgres.createDatabase();
    const copy = () => copyStores({ from: dataDir, to: url, isPooled: false, onPage }, systemClock);
    await copy();
    expect((await copy()).isEqual).toBe(true);
    const database = openTestPostgres(url);
    await database.run("INSERT INTO settings (name, value) VALUES ('other', 'data')");
    await database.close();
    expect(copy()).rejects.toThrow("has other data. Choose an empty target.");
  });

  test("the copy has the response objects, and finds them by their chain, items, events and conversation", async () => {
    const url = await postgres.createDatabase();
    await copyStores({ from: dataDir, to: url, isPooled: false, onPage }, systemClock);
    const database = openTestPostgres(url);
    const [from, to] = [(await openTestStores(dataDir)).responses, openResponses(database)];
    const last = idAt(AT + 29 * DAY_MS * 0.4);
    const chain = await to.readChain(last, AT);
    expect(chain.map((object) => ({ ...object, ciphertext: [...object.ciphertext] }))).toEqual(
      (await from.readChain(last, AT)).map((object) => ({ ...object, ciphertext: [...object.ciphertext] })),
    );
    expect(chain).toHaveLength(30);
    expect((await to.findLast("conv_1", AT))?.isBackground).toBe(true);
    expect(await to.readEvents(last, 2, 9)).toHaveLength(1);
    const owner = { accountId: "org_a", userId: null, keyId: "key_a" };
    expect(await to.findByItems(owner, ['odd "\\, {item}'], AT)).toHaveLength(1);
    expect(await to.sumBytes("org_1")).toBe(await from.sumBytes("org_1"));
    expect(await to.addObject(objectAt(999), [], Number.MAX_SAFE_INTEGER)).toBe("added");
    await database.close();
  });

  test("a store with a response that has not ended is rejected", async () => {
    const [folder, url] = [makeTempFolder("gateway-copy-"), await postgres.createDatabase()];
    const stores = await openTestStores(folder);
    await stores.responses.addObject(runningAt(0), [], Number.MAX_SAFE_INTEGER);
    await stores.close();
    const copy = copyStores({ from: folder, to: url, isPooled: false, onPage }, systemClock);
    await expect(copy).rejects.toThrow(`the response ${idAt(AT)} has not ended`);
    rmSync(folder, { recursive: true });
  });

  test("a store on which a gateway runs is rejected", async () => {
    const url = await postgres.createDatabase();
    const gateway = await startTestGateway();
    const copy = copyStores({ from: gateway.dataDir, to: url, isPooled: false, onPage }, systemClock);
    expect(copy).rejects.toThrow("a gateway is running on");
    await gateway.stop();
  });
});

test.skipIf(!RUNS)(
  "tables of a newer version are not copied, also where this version works on them",
  async () => {
    const url = await postgres.createMigratedDatabase();
    const database = openTestPostgres(url);
    await database.run(
      "INSERT INTO schema_migrations (version, name, oldest_version) SELECT max(version) + 1, 'later', 1 FROM schema_migrations",
    );
    await database.close();
    const copy = copyStores(
      { from: url, to: makeTempFolder("gateway-copy-"), isPooled: false, onPage },
      systemClock,
    );
    await expect(copy).rejects.toThrow("a copy by this one would be incomplete");
  },
);

test("a copy between two data directories is rejected with advice", async () => {
  const two = [makeTempFolder("gateway-copy-"), makeTempFolder("gateway-copy-")];
  const copy = copyStores(
    { from: two[0] as string, to: two[1] as string, isPooled: false, onPage },
    systemClock,
  );
  expect(copy).rejects.toThrow("Copy a data directory with cp -a");
  for (const folder of two) rmSync(folder, { recursive: true });
});
