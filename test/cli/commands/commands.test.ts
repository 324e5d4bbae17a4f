import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Help } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { COMMAND_GROUPS } from "../../../src/cli/commands.ts";
import { copyMigratedDatabase } from "../../support/databases/sqlite-template.ts";
import { createWorkspace, type Workspace } from "../../support/gateway/run-gateway.ts";

let workspace: Workspace;

beforeAll(() => {
  workspace = createWorkspace();
});
afterAll(() => workspace.clear());

/** Creates a data directory. */
function dataDir(): { GATEWAY_DATA_DIR: string } {
  const folder = mkdtempSync(join(workspace.folder, "data-"));
  copyMigratedDatabase(folder);
  return { GATEWAY_DATA_DIR: folder };
}

describe.concurrent("the gateway command", () => {
  test.each(["--help", "help", "-h"])("lists its subcommands with %s", async (word) => {
    const { exitCode, stdout, stderr } = await workspace.run([word]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    for (const part of ["start", "keys", "config", "catalog"]) expect(stdout).toContain(part);
  });

  test.each([
    ["0 after success", ["config", "print"], 0],
    ["1 after a failure", ["keys", "revoke", "key_none"], 1],
    ["2 after a usage error", ["keys", "destroy"], 2],
  ])("exits with %s, and prints to stdout or stderr accordingly", async (_what, args, exitCode) => {
    const alone = await workspace.runInOwnProcess(args, { environment: dataDir() });
    expect(alone.exitCode).toBe(exitCode);
    expect([alone.stdout !== "", alone.stderr !== ""]).toEqual([exitCode === 0, exitCode !== 0]);
  });

  test("lists the subcommands of a subcommand with --help", async () => {
    const { exitCode, stdout } = await workspace.run(["keys", "--help"]);
    expect(exitCode).toBe(0);
    for (const word of ["create", "list", "revoke"]) expect(stdout).toContain(word);
  });

  test("prints its version", async () => {
    expect((await workspace.run(["--version"])).stdout).toBe(`${packageJson.version}\n`);
  });

  test.each([
    ["an unknown command", ["strat"], "strat"],
    ["an unknown subcommand", ["keys", "destroy"], "destroy"],
    ["an unknown option", ["keys", "list", "--colour"], "--colour"],
    ["a missing argument", ["keys", "create"], "name"],
    ["too many arguments", ["keys", "revoke", "a", "b"], "arguments"],
    ["no arguments", [], "Usage"],
  ])("exits with 2 for %s", async (_name, args, word) => {
    const { exitCode, stdout, stderr } = await workspace.run(args);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+/);
  });
});

describe.concurrent("gateway keys", () => {
  test("creates, lists and revokes keys, and shows a secret only once", async () => {
    const environment = dataDir();
    const empty = await workspace.run(["keys", "list"], environment);
    expect([empty.exitCode, empty.stdout]).toEqual([0, expect.stringContaining("gateway keys create")]);

    const created = await workspace.run(["keys", "create", "my laptop"], environment);
    expect([created.exitCode, created.stderr]).toEqual([0, ""]);
    const secret = created.stdout.split("\n")[0] as string;
    expect(secret).toMatch(/^gw_[A-Za-z0-9]{46,}$/);
    const id = /key_\w+/.exec(created.stdout)?.[0] as string;

    const listed = await workspace.run(["keys", "list"], environment);
    expect(listed.stdout).toMatch(
      new RegExp(`${id} +my laptop +inference +gw_\\S+ +\\d{4}-\\d\\d-\\d\\d +valid`),
    );
    expect(listed.stdout).not.toContain(secret);

    const revoked = await workspace.run(["keys", "revoke", id], environment);
    expect([revoked.exitCode, revoked.stdout]).toEqual([0, expect.stringContaining("Revoked")]);
    expect((await workspace.run(["keys", "list"], environment)).stdout).toMatch(/revoked \d{4}-\d\d-\d\d/);
  });

  test("prints JSON with --json", async () => {
    const environment = dataDir();
    const args = ["keys", "create", "ops", "--management", "--expires", "2199-01-31", "--json"];
    const created = JSON.parse((await workspace.run(args, environment)).stdout);
    expect(created.key).toMatch(/^gw_/);
    expect(created).toMatchObject({
      data: { name: "ops", kind: "management", expires_at: "2199-01-31T00:00:00.000Z", revoked_at: null },
    });
    const { stdout } = await workspace.run(["keys", "list", "--json"], environment);
    const names = { account_name: "default", user_name: null, team_name: null };
    expect(JSON.parse(stdout)).toEqual({ data: [{ ...created.data, ...names }] });
    expect(stdout).not.toContain(created.key);
    expect(stdout).not.toContain("hash");
  });

  test.each([
    ["an unknown key", ["revoke", "key_none"], "gateway keys list"],
    ["a time in the past", ["create", "x", "--expires", "2020-01-01"], "--expires"],
    ["an invalid time", ["create", "x", "--expires", "soon"], "--expires"],
  ])("exits with 1 and advice for %s", async (_name, args, word) => {
    const { exitCode, stdout, stderr } = await workspace.run(["keys", ...args], dataDir());
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(word);
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+/);
  });
});

describe("gateway config sources", () => {
  beforeAll(async () => {
    expect((await workspace.run(["migrate"])).exitCode).toBe(0);
  });

  test("lists the settings that have no default, with the line or variable they come from", async () => {
    const file = join(workspace.folder, "sources.yaml");
    writeFileSync(file, "limits:\n  attempts: 2\n");
    const environment = { GATEWAY_CONFIG: file, GATEWAY_PORT: "", GATEWAY_ADMIN_KEY: "hush-hush-hush-3" };
    const { exitCode, stdout } = await workspace.run(["config", "sources"], environment);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(new RegExp(`limits\\.attempts +2 +${file}:2\\n`));
    expect(stdout).toMatch(/admin_key +"\*{8}" +GATEWAY_ADMIN_KEY\n/);
    expect(stdout).not.toContain("body_bytes");
    expect(stdout).not.toContain("hush");
  });

  test("lists all settings with --all, and as JSON with --json", async () => {
    const { exitCode, stdout } = await workspace.run(["config", "sources", "--all", "--json"], {
      GATEWAY_PORT: "",
    });
    expect(exitCode).toBe(0);
    const { data } = JSON.parse(stdout) as { data: { name: string }[] };
    expect(data.find(({ name }) => name === "limits.body_bytes")).toMatchObject({
      value: 33_554_432,
      source: "default",
      is_secret: false,
    });
  });
});

describe.concurrent("gateway config print", () => {
  test("prints the defaults without a configuration file", async () => {
    const { exitCode, stdout } = await workspace.run(["config", "print"], { GATEWAY_PORT: "" });
    expect(exitCode).toBe(0);
    expect(stdout).toContain("host: 127.0.0.1");
    expect(stdout).toContain("port: 8080");
  });

  test("masks secrets from the file and from the environment", async () => {
    const file = join(workspace.folder, "secrets.yaml");
    writeFileSync(
      file,
      "providers:\n  mine:\n    base_url: http://x/v1\n    api_keys: [hush-1]\n    headers: {a: hush-2}\n",
    );
    const environment = {
      GATEWAY_CONFIG: file,
      GATEWAY_ADMIN_KEY: "hush-hush-hush-3",
      GATEWAY_WEBHOOK_SECRET: "hush-hush-hush-hush-hush-hush-hush-5",
      OPENAI_API_KEY: "hush-4",
    };
    const { exitCode, stdout, stderr } = await workspace.run(["config", "print"], environment);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).not.toContain("hush");
    expect(stdout).toContain('admin_key: "********"');
    expect(stdout).toContain('webhook_secret: "********"');
    expect(stdout).toContain("http://x/v1");
  });

  test("a command on a folder without data fails and creates nothing, and migrate creates a data directory", async () => {
    const own = createWorkspace();
    const folder = join(own.folder, "new");
    const environment = { DATABASE_URL: "", REDIS_URL: "", GATEWAY_DATA_DIR: folder };
    const { exitCode, stdout, stderr } = await own.run(["keys", "list", "--json"], environment);
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toStartWith(`There is no data in ${folder}. `);
    expect(existsSync(folder)).toBe(false);
    await own.run(["migrate"], environment);
    expect((await own.run(["keys", "list", "--json"], environment)).stdout).toBe('{"data":[]}\n');
    own.clear();
  });

  test("a relative data_dir of a file is relative to the file, and one of the environment to the working directory", async () => {
    const own = createWorkspace();
    mkdirSync(join(own.folder, "etc"));
    const file = join(own.folder, "etc", "gateway.yaml");
    writeFileSync(file, "data_dir: ./mine\n");
    const located = await own.run(["config", "print"], { GATEWAY_CONFIG: file });
    expect(located.stdout).toContain(`data_dir: ${join(own.folder, "etc", "mine")}\n`);
    const environment = { GATEWAY_CONFIG: file, GATEWAY_DATA_DIR: "./other" };
    expect((await own.run(["config", "print"], environment)).stdout).toContain("data_dir: ./other\n");
    own.clear();
  });

  test("a start and the doctor say where the data is if data_dir meant another folder before", async () => {
    const own = createWorkspace();
    mkdirSync(join(own.folder, "etc"));
    writeFileSync(join(own.folder, "etc", "gateway.yaml"), "data_dir: ./mine\n");
    copyMigratedDatabase(join(own.folder, "mine"));
    const environment = { DATABASE_URL: "", REDIS_URL: "", GATEWAY_CONFIG: join("etc", "gateway.yaml") };
    for (const words of [["keys", "list"], ["start"], ["doctor"]]) {
      const { exitCode, stdout, stderr } = await own.run(words, environment);
      expect([words, exitCode]).toEqual([words, 1]);
      expect(stdout + stderr).toContain(`The data is in ${join(own.folder, "mine")}, and data_dir is`);
    }
    expect(existsSync(join(own.folder, "etc", "mine"))).toBe(false);
    own.clear();
  });

  test("reads gateway.yaml of the working directory", async () => {
    const own = createWorkspace();
    writeFileSync(join(own.folder, "gateway.yaml"), "log_level: warn\n");
    expect((await own.run(["config", "print"])).stdout).toContain("log_level: warn");
    writeFileSync(join(own.folder, "gateway.yaml"), "log_level: warn\nport: 80\n");
    const { exitCode, stderr } = await own.run(["config", "print"]);
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      "Invalid configuration:\ngateway.yaml:2:1: port is not a known key. Did you mean server.port?\n",
    );
    own.clear();
  });

  test("names an invalid environment variable", async () => {
    const { exitCode, stderr } = await workspace.run(["config", "print"], { GATEWAY_LOG_LEVEL: "loud" });
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith("Invalid configuration:\nGATEWAY_LOG_LEVEL ");
  });

  test("names a configuration file that does not exist", async () => {
    const { exitCode, stderr } = await workspace.run(["config", "print"], { GATEWAY_CONFIG: "none.yaml" });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("GATEWAY_CONFIG names none.yaml, which does not exist");
  });
});

test.each(COMMAND_GROUPS.flatMap(({ commands }) => commands).map((listed) => [listed.term, listed] as const))(
  "the help lists `%s` as the code of the command declares it",
  async (term, { load }) => {
    const command = new Command(term.split(" ", 1).join());
    (await load())(command);
    expect(new Help().subcommandTerm(command)).toBe(term);
  },
);
