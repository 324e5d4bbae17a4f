import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CODE_MS, createOneTimeCode } from "../../../src/core/console/one-time-codes.ts";
import { openTestStores } from "../../support/databases/test-stores.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";
import { callAdmin } from "../../support/gateway/management.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { callWithSession, signIn } from "../../support/gateway/sign-in.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

const CODE = /#code=([\w-]{43})\n/;

describe("a start", () => {
  let workspace: Workspace;
  let gateway: GatewayProcess;
  let greeting: string;

  beforeAll(async () => {
    workspace = createWorkspace();
    gateway = await workspace.start();
    greeting = await eventually("the greeting", () => {
      const text = gateway.greeting();
      return text.endsWith("'\n\n") && text;
    });
  });
  afterAll(async () => {
    await gateway.stop();
    workspace.clear();
  });

  test("that shows new keys prints a link whose code signs one browser in as the operator", async () => {
    expect(greeting).toContain(`Console: ${gateway.url}/console#code=`);
    const code = CODE.exec(greeting)?.[1] as string;
    const signedIn = await signIn(gateway, { code });
    expect(signedIn.status).toBe(201);
    expect(signedIn.body).toMatchObject({ role: "operator", account: null });
    const path = "/api/admin/users";
    expect((await callWithSession(gateway, signedIn, { path })).status).toBe(200);
    const again = await signIn(gateway, { code });
    expect([again.status, JSON.stringify(again.body)]).toEqual([
      401,
      expect.stringContaining("gateway console"),
    ]);
  });

  test("keeps the code out of its files", () => {
    const code = CODE.exec(greeting)?.[1] as string;
    const folder = join(workspace.folder, "data");
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name), "latin1");
      expect([file.name, bytes.includes(code)]).toEqual([file.name, false]);
    }
  });

  test("that shows no keys and is not read in a terminal prints the address without a code", async () => {
    await gateway.stop();
    gateway = await workspace.start();
    await eventually("the greeting", () => gateway.greeting().includes("gateway console"));
    expect(gateway.greeting()).toContain(`Console: ${gateway.url}/console\n`);
    expect(gateway.greeting()).not.toContain("#code=");
  });

  test("is followed by `gateway console`, whose link signs in to the running gateway", async () => {
    const { stdout } = await workspace.run(["console", "--url", gateway.url]);
    expect(stdout).toContain(`${gateway.url}/console#code=`);
    const code = CODE.exec(stdout)?.[1] as string;
    expect((await signIn(gateway, { code })).status).toBe(201);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "with the console disabled prints no address, and `gateway console` says why",
    async () => {
      const own = createWorkspace();
      const config = join(own.folder, "closed.yaml");
      await Bun.write(config, "console: { enabled: false }");
      const closed = await own.start({ GATEWAY_CONFIG: config });
      await eventually("the greeting", () => closed.greeting().endsWith("'\n\n"));
      expect(closed.greeting()).not.toContain("Console");
      const { exitCode, stderr } = await own.run(["console"], { GATEWAY_CONFIG: config });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining("console.enabled")]);
      await closed.stop();
      own.clear();
    },
  );
});

describe("`gateway console`", () => {
  test.each([
    [{ GATEWAY_PORT: "9000" }, "http://127.0.0.1:9000/console#code="],
    [{ GATEWAY_PORT: "9000", GATEWAY_HOST: "0.0.0.0" }, "http://127.0.0.1:9000/console#code="],
    [{ GATEWAY_PORT: "9000", GATEWAY_HOST: "::" }, "http://[::1]:9000/console#code="],
  ])("with %j prints a link to an address that a browser can open", async (environment, link) => {
    const workspace = createWorkspace();
    await workspace.run(["migrate"], environment);
    const { stdout } = await workspace.run(["console"], environment);
    expect(stdout).toContain(link);
    workspace.clear();
  });

  test("needs --url if the gateway has no fixed port", async () => {
    const workspace = createWorkspace();
    await workspace.run(["migrate"]);
    const { exitCode, stderr } = await workspace.run(["console"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--url")]);
    workspace.clear();
  });
});

describe("a one-time code", () => {
  let clock: TestClock;
  let gateway: TestGateway;
  beforeEach(() => {
    clock = createTestClock();
  });
  afterEach(() => gateway.stop());

  async function start(adminKey?: string | null): Promise<void> {
    gateway = await startTestGateway({ clock, ...(adminKey === undefined ? {} : { adminKey }) });
  }

  async function createCode(): Promise<string> {
    const stores = await openTestStores(gateway.dataDir);
    const code = await createOneTimeCode({ ...stores, clock, store: stores.consoleSessions });
    await stores.close();
    return code;
  }

  test("is valid for an hour", async () => {
    await start();
    const codes = [await createCode(), await createCode()] as const;
    clock.leap(CODE_MS - 1);
    expect((await signIn(gateway, { code: codes[0] })).status).toBe(201);
    clock.leap(1);
    expect((await signIn(gateway, { code: codes[1] })).status).toBe(401);
  });

  test("signs in one of the browsers that use it at the same time", async () => {
    await start();
    const code = await createCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(gateway, { code })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(401)]);
  });

  test("without a configured admin key binds the session to the operator's key that lasts longest", async () => {
    await start(null);
    const signedIn = await signIn(gateway, { code: await createCode() });
    const keys = await callAdmin(gateway, gateway.adminKey, "GET", "/keys");
    const own = keys.rows.find(({ name }) => name === "first management key");
    expect(signedIn.body["key_id"]).toBe(own?.id as string);
    await callAdmin(gateway, gateway.adminKey, "DELETE", `/keys/${own?.id}`);
    const path = "/api/console/session";
    expect((await callWithSession(gateway, signedIn, { path })).status).toBe(401);
    const without = await signIn(gateway, { code: await createCode() });
    expect([without.status, JSON.stringify(without.body)]).toEqual([
      409,
      expect.stringContaining("gateway keys create console --management"),
    ]);
  });
});
