import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace } from "../../support/gateway/run-gateway.ts";

const workspace = createWorkspace();
afterAll(() => workspace.clear());

function write(yaml: string): string {
  const file = join(workspace.folder, "checked.yaml");
  writeFileSync(file, yaml);
  return file;
}

const check = (yaml: string, environment: Readonly<Record<string, string>> = {}) =>
  workspace.run(["config", "check", write(yaml)], environment);

describe("gateway config check", () => {
  test("prints every problem of schema, names and providers at once, and exits with 1", async () => {
    const yaml = [
      "server:",
      "  prot: 80",
      "policy:",
      "  denied_providers: [opnai]",
      "providers:",
      "  openai: { api_keys: [x], format: gemini }",
      "  opnrouter: { api_keys: [x] }",
    ].join("\n");
    const { exitCode, stdout } = await check(yaml);
    const lines = stdout.trimEnd().split("\n");
    expect(exitCode).toBe(1);
    const places = lines.slice(0, -1).map((line) => /yaml:(\d+:\d+): (\S+)/.exec(line)?.slice(1).join(" "));
    expect(places.sort()).toEqual([
      "2:3 server.prot",
      "4:22 policy.denied_providers.0",
      "6:28 providers.openai.format",
      "7:3 providers.opnrouter",
    ]);
    expect(stdout).toContain("Did you mean port?");
    expect(stdout).toContain('Did you mean "openai"');
    expect(stdout).toContain("Did you mean openrouter?");
    expect(lines.at(-1)).toEndWith("have 4 problems.");
  });

  test("does not repeat a problem as one that only follows from it", async () => {
    const { stdout } = await check("providers:\n  mine: { base_url: ftp://x, models: [{ id: a/b }] }");
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
  });

  test("accepts a valid file, exits with 0 and creates no data directory", async () => {
    const dataDir = join(workspace.folder, "never-created");
    const { exitCode, stdout } = await check("log_level: warn", { GATEWAY_DATA_DIR: dataDir });
    expect(stdout).toEndWith("checked.yaml and the environment are valid.\n");
    expect(exitCode).toBe(0);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("rejects a misspelt variable of the gateway, and no variable that Kubernetes sets", async () => {
    const environment = {
      GATEWAY_LOGLEVEL: "debug",
      GATEWAY_DATABASE_URL: "x",
      GATEWAY_SERVICE_HOST: "10.0.0.1",
      GATEWAY_PORT_80_TCP_ADDR: "10.0.0.1",
    };
    const { exitCode, stdout } = await check("", environment);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "GATEWAY_LOGLEVEL is not a variable that the gateway reads. Did you mean GATEWAY_LOG_LEVEL?",
    );
    expect(stdout).toContain("Did you mean DATABASE_URL?");
    expect(stdout).not.toContain("SERVICE_HOST");
    expect(stdout).not.toContain("TCP_ADDR");
  });

  test("warns of a provider without a key, and exits with 0", async () => {
    const { exitCode, stdout } = await check("providers:\n  openai: {}");
    expect(stdout).toContain("warning: ");
    expect(stdout).toContain("providers.openai has no key: set OPENAI_API_KEY");
    expect(exitCode).toBe(0);
  });

  test("reports a file that does not exist", async () => {
    const { exitCode, stdout } = await workspace.run(["config", "check", "gone.yaml"]);
    expect(stdout).toStartWith("gone.yaml does not exist\n");
    expect(exitCode).toBe(1);
  });

  test("prints problems with their places as JSON", async () => {
    const file = write("server:\n  prot: 80");
    const { stdout } = await workspace.run(["config", "check", file, "--json"]);
    const { data } = JSON.parse(stdout);
    expect(data).toMatchObject({
      file,
      valid: false,
      errors: [{ file, line: 2, column: 3, field: "server.prot", variable: null }],
    });
  });

  test("reports a database that is away with --connect, without its password", async () => {
    const file = write("");
    const { exitCode, stdout } = await workspace.run(["config", "check", file, "--connect"], {
      DATABASE_URL: "postgres://gateway:hidden@127.0.0.1:1/gateway",
      REDIS_URL: "",
    });
    expect(stdout).toContain("postgres://127.0.0.1:1/gateway cannot be used");
    expect(stdout).not.toContain("hidden");
    expect(exitCode).toBe(1);
    expect((await workspace.run(["config", "check", file])).exitCode).toBe(0);
  });
});

test("a start names a misspelt variable of the gateway, and goes on", async () => {
  const gateway = await workspace.start({ GATEWAY_LOGLEVEL: "debug" });
  await gateway.stop();
  expect(gateway.greeting()).toContain("Note: GATEWAY_LOGLEVEL is not a variable that the gateway reads.");
});

test("a start with a wrong configuration prints the same problems as the check", async () => {
  const file = write("server:\n  prot: 80\npolicy:\n  denied_providers: [opnai]\n");
  const checked = await workspace.run(["config", "check", file]);
  const started = await workspace.runInOwnProcess(["start"], { environment: { GATEWAY_CONFIG: file } });
  const problems = checked.stdout.trimEnd().split("\n").slice(0, -1);
  expect(problems).toHaveLength(2);
  expect(started).toMatchObject({
    exitCode: 1,
    stderr: `${["Invalid configuration:", ...problems].join("\n")}\n`,
  });
});
