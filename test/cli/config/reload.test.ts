import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../support/eventually.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace, type GatewayProcess } from "../../support/gateway/run-gateway.ts";

const workspace = createWorkspace();
let gateway: GatewayProcess;

const write = (yaml: string) => writeFileSync(join(workspace.folder, "gateway.yaml"), yaml);
const reload = (...options: readonly string[]) => workspace.run(["reload", "--url", gateway.url, ...options]);

beforeAll(async () => {
  write("limits: { attempts: 3 }\n");
  gateway = await workspace.start();
});
afterAll(async () => {
  await gateway.stop();
  workspace.clear();
});

describe("gateway reload", () => {
  test("shows with --dry-run what would change, and then changes it", async () => {
    write("limits: { attempts: 2 }\nupstream: { transport: fetch }\nadmin_key: hush-hush-hush-hush\n");
    const planned = await reload("--dry-run");
    expect(planned.exitCode).toBe(0);
    expect(planned.stdout).toMatch(/^limits\.attempts +3 +2 +on reload$/m);
    const made = await reload();
    expect(made.stdout).toMatch(/^limits\.attempts +3 +2 +in force$/m);
    expect(made.stdout).toMatch(/^upstream\.transport +"auto" +"fetch" +after a restart$/m);
    expect(made.stdout).toMatch(/^admin_key +– +a secret \(changed\) +in force$/m);
    expect(made.stdout).not.toContain("hush");
  });

  test("prints all problems and exits with 1 if the configuration is wrong", async () => {
    write("limits: { atempts: 2 }\nlog_level: loud\n");
    // The command reads the same file, which it could not use.
    const environment = { GATEWAY_CONFIG: join(workspace.folder, "other.yaml") };
    writeFileSync(environment.GATEWAY_CONFIG, "");
    const { exitCode, stderr } = await workspace.run(["reload", "--url", gateway.url], environment);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("limits.atempts is not a known key. Did you mean attempts?");
    expect(stderr).toContain("gateway.yaml:2:1: log_level");
  });
});

test("SIGHUP reloads the only process, and a wrong file changes nothing", async () => {
  write("limits: { attempts: 4 }\n");
  const reloaded = await reload("--json");
  expect(reloaded.exitCode).toBe(0);
  expectPromisedOutput([{ command: "reload", json: JSON.parse(reloaded.stdout) }]);
  write("limits: { attempts: 5 }\n");
  process.kill(gateway.pid, "SIGHUP");
  const changes = async () => JSON.parse((await reload("--dry-run", "--json")).stdout).data.changes;
  await eventually("the reload", async () => (await changes()).length === 0);
  write("limits: { attempts: 6 }\n");
  expect(await changes()).toMatchObject([{ name: "limits.attempts", before: 5, after: 6 }]);
});
