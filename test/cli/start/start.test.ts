import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { createWorkspace, type GatewayProcess, type Workspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";

let workspace: Workspace;
let gateway: GatewayProcess;
/** The output of the first start. */
let greeting: string;

beforeAll(async () => {
  workspace = createWorkspace();
  gateway = await workspace.start();
  await eventually("the complete first output", () => gateway.greeting().endsWith("'\n\n"));
  greeting = gateway.greeting();
});
afterAll(async () => {
  await gateway.stop();
  workspace.clear();
});

function printed(pattern: RegExp): string {
  const found = pattern.exec(greeting)?.[1];
  if (found === undefined) throw new Error(`not printed: ${pattern}\n${greeting}`);
  return found;
}

function ask(key: string): Promise<number> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "x" }] }),
  }).then((response) => response.status);
}

describe("the first start", () => {
  test("prints a management key and an inference key that work", async () => {
    expect(await ask(printed(/inference key +(gw_\w+)/))).toBe(200);
    const management = printed(/management key +(gw_\w+)/);
    const listed = await fetch(`${gateway.url}/api/admin/keys`, {
      headers: { authorization: `Bearer ${management}` },
    });
    expect(listed.status).toBe(200);
  });

  test.skipIf(Bun.which("curl") === null)("prints a curl command that works unchanged", async () => {
    const line = printed(/\n {2}(curl [\s\S]*?')\n/);
    const child = Bun.spawn(["sh", "-c", line], {
      stdout: "pipe",
      stderr: "pipe",
      env: { PATH: process.env["PATH"] },
    });
    const answer = JSON.parse(await child.stdout.text());
    expect(await child.exited).toBe(0);
    expect(answer.choices[0].message.content).toBe("You said: Hello!");
  });

  test("keeps its secrets out of its files, and its data directory private", () => {
    const folder = join(workspace.folder, "data");
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const bytes = readFileSync(join(file.parentPath, file.name), "latin1");
      for (const secret of [/inference key +(gw_\w+)/, /management key +(gw_\w+)/]) {
        expect([file.name, bytes.includes(printed(secret))]).toEqual([file.name, false]);
      }
    }
  });
});

describe("a running gateway", () => {
  test.skipIf(!RUNS_SLOW_TESTS)(
    "accepts keys that commands create and rejects keys that they revoke, within a refresh",
    async () => {
      const made = JSON.parse((await workspace.run(["keys", "create", "from outside", "--json"])).stdout);
      await eventually("the new key works", async () => (await ask(made.key)) === 200);
      expect((await workspace.run(["keys", "revoke", made.data.id])).exitCode).toBe(0);
      await eventually("the revoked key is rejected", async () => (await ask(made.key)) === 401);
    },
  );

  test("locks its data directory", async () => {
    const second = await workspace.runInOwnProcess(["start"]);
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain("data");
    expect(second.stderr).not.toMatch(/\bat .*\.ts:\d+|gw_/);
  });
});

describe("the second start", () => {
  test("prints no secret, and the keys of the first start still work", async () => {
    const key = printed(/inference key +(gw_\w+)/);
    const first = await gateway.stop();
    expect(first.exitCode).toBe(0);
    for (const line of first.stdout.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    expect(first.stdout).not.toMatch(/gw_\w{20}/);
    gateway = await workspace.start();
    expect(await ask(key)).toBe(200);
    expect(gateway.greeting()).not.toContain("gw_");
    expect(gateway.greeting()).toContain(gateway.url);
  });
});

describe.skipIf(!RUNS_SLOW_TESTS)("another first start", () => {
  test("prints no management key if the operator configured one", async () => {
    const own = createWorkspace();
    const process = await own.start({ GATEWAY_ADMIN_KEY: "an-operators-own-key" });
    await eventually("the greeting", () => process.greeting().includes("inference key"));
    expect(process.greeting()).not.toContain("management key");
    expect(process.greeting()).not.toContain("an-operators-own-key");
    const listed = await fetch(`${process.url}/api/admin/keys`, {
      headers: { "x-api-key": "an-operators-own-key" },
    });
    expect(listed.status).toBe(200);
    await process.stop();
    own.clear();
  });

  test("prints advice if no model is served", async () => {
    const own = createWorkspace();
    const process = await own.start({ GATEWAY_SANDBOX: "off" });
    await eventually("the greeting", () => process.greeting().includes("Add a provider in the console"));
    expect(process.greeting()).not.toContain("curl");
    await process.stop();
    own.clear();
  });

  test("leaves no files behind if the configuration is invalid", async () => {
    const own = createWorkspace();
    writeFileSync(join(own.folder, "gateway.yaml"), "serve: {}\n");
    const { exitCode, stdout, stderr } = await own.runInOwnProcess(["start"]);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "Invalid configuration:\ngateway.yaml:1:1: serve is not a known key. Did you mean server?\n",
    );
    expect(existsSync(join(own.folder, "data"))).toBe(false);
    own.clear();
  });

  test("that finds its port in use says so, and the next one still prints the keys", async () => {
    const own = createWorkspace();
    const { exitCode, stderr } = await own.runInOwnProcess(["start"], {
      environment: { GATEWAY_PORT: new URL(gateway.url).port },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/port \d+ in use/);
    expect(stderr).not.toMatch(/gw_|\bat .*\.ts:\d+/);
    const process = await own.start();
    await eventually("the keys", () => /inference key +gw_/.test(process.greeting()));
    await process.stop();
    own.clear();
  });
});
