import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS } from "../../../src/app/connect/client-files.ts";
import { planConnect, planUndo } from "../../../src/app/connect/connect-file.ts";
import { createWorkspace } from "../../support/gateway/run-gateway.ts";

const workspace = createWorkspace();
afterAll(() => workspace.clear());

const URL_OF_GATEWAY = "https://gateway.example/base/";
const BASE = "https://gateway.example/base/api/gateway";
const MODELS = "anthropic/claude-sonnet-5,openai/gpt-5.4-mini";

/** A file of each client as people have them: with settings of their own, comments and an order. */
const FILES: Readonly<Record<string, string>> = {
  claude: `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": { "allow": ["Bash(npm run:*)"], "deny": [] },
  "env": {
    "BASH_DEFAULT_TIMEOUT_MS": "60000"
  },
  "hooks": { "Stop": [ { "matcher": "", "hooks": [ { "type": "command", "command": "say \\"done\\"" } ] } ] }
}
`,
  codex: `# Settings of mine
model = "gpt-6" # the fast one
approval_policy = "on-request"

# documents
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]

[profiles.deep]
model = "gpt-6-pro"
`,
  opencode: `{
  // the schema helps the editor
  "$schema": "https://opencode.ai/config.json",
  "theme": "dark", /* not light */
  "provider": { "mine": { "options": { "baseURL": "http://127.0.0.1:1/v1" } } }, // kept
}
`,
};
const PATHS: Readonly<Record<string, string>> = {
  claude: ".claude/settings.json",
  codex: ".codex/config.toml",
  opencode: ".config/opencode/opencode.jsonc",
};
const NAMES = Object.keys(FILES);

/** Creates a home folder with a file of a client, and returns what the tests do with it. */
function createHome(client: string, text: string | null = FILES[client] as string) {
  const home = join(workspace.folder, `home-${client}`);
  rmSync(home, { recursive: true, force: true });
  const file = join(home, PATHS[client] as string);
  mkdirSync(dirname(file), { recursive: true });
  if (text !== null) writeFileSync(file, text);
  const run = (args: readonly string[]) => workspace.run(["connect", client, "--home", home, ...args]);
  const read = () => readFileSync(file, "utf8");
  const { editor } = CLIENTS[client] as (typeof CLIENTS)[string];
  return { home, file, run, read, parsed: () => editor.parse(read()), record: `${file}.before-gateway.json` };
}

const WRITE = ["--url", URL_OF_GATEWAY, "--model", MODELS];

describe("gateway connect", () => {
  test.each(NAMES)(
    "%s writes the address, the models and the variable of the key, and nothing else",
    async (client) => {
      const { run, read, parsed, record } = createHome(client);
      const before = parsed();
      const { exitCode, stdout, stderr } = await run([...WRITE, "--yes"]);
      expect([exitCode, stderr]).toEqual([0, ""]);
      const added = stdout
        .split("\n")
        .filter((line) => line.startsWith("+ "))
        .map((line) => line.slice(2));
      expect(added.length).toBeGreaterThan(3);
      for (const line of added) expect(read().split("\n")).toContain(line);
      for (const line of (FILES[client] as string).split("\n"))
        if (!/gpt-6"|"provider"/.test(line)) expect(read()).toContain(line.replace(/[,\s]*$/, ""));
      const { editor, edits } = CLIENTS[client] as (typeof CLIENTS)[string];
      expect(editor.parse(read())).toMatchObject(client === "codex" ? {} : before);
      expect(edits({ url: "u", models: ["a/b"], key: null }).length).toBeGreaterThan(1);
      expect(read()).toContain(BASE);
      expect(read()).toContain("GATEWAY_API_KEY");
      expect(statSync(record).mode & 0o777).toBe(0o600);
    },
  );

  test.each(NAMES)("%s a second time changes nothing", async (client) => {
    const { run, read } = createHome(client);
    await run([...WRITE, "--yes"]);
    const once = read();
    const { stdout } = await run([...WRITE, "--yes"]);
    expect([stdout, read()]).toEqual([expect.stringContaining("as it should be"), once]);
  });

  test.each(NAMES)(
    "%s --undo restores every byte, also after it was connected to another address",
    async (client) => {
      const { run, read, record } = createHome(client);
      await run([...WRITE, "--yes"]);
      await run(["--url", "https://other.example", "--model", "a/b", "--yes"]);
      expect(read()).toContain("https://other.example/api/gateway");
      expect((await run(["--undo", "--yes"])).exitCode).toBe(0);
      expect([read(), existsSync(record)]).toEqual([FILES[client] as string, false]);
    },
  );

  test.each(NAMES)("%s --undo keeps what was changed in between, and takes back the rest", async (client) => {
    const { run, read } = createHome(client);
    await run([...WRITE, "--yes"]);
    const changes: Readonly<Record<string, readonly [string, string]>> = {
      claude: ['"60000"', '"90000"'],
      codex: ['"on-request"', '"never"'],
      opencode: ['"dark"', '"light"'],
    };
    const [from, to] = changes[client] as readonly [string, string];
    writeFileSync(join(createPath(client)), read().replace(from, to));
    await run(["--undo", "--yes"]);
    expect(read()).toBe((FILES[client] as string).replace(from, to));
  });

  test("--undo leaves a value that was changed since, and says so", async () => {
    const { run, read, parsed } = createHome("claude");
    await run([...WRITE, "--yes"]);
    writeFileSync(createPath("claude"), read().replace(BASE, "https://third.example"));
    const { stdout } = await run(["--undo", "--yes"]);
    expect(stdout).toContain("env.ANTHROPIC_BASE_URL was changed since, and stays as it is.");
    expect(parsed()).toMatchObject({ env: { ANTHROPIC_BASE_URL: "https://third.example" } });
    expect(read()).not.toContain("apiKeyHelper");
  });

  test.each(NAMES)(
    "%s without a file creates one that only its owner reads, and --undo deletes it",
    async (client) => {
      const { home, run } = createHome(client, null);
      await run([...WRITE, "--yes"]);
      const file = join(home, CLIENTS[client]?.files[0] as string);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await run(["--undo", "--yes"]);
      expect(existsSync(file)).toBe(false);
    },
  );

  test.each([
    ["claude", '{ "env": ', "1:10"],
    ["claude", '{ "env": "text" }', "env is not an object"],
    ["claude", '{ "a": 1, "a": 2 }', "repeated"],
    ["codex", "model = ", "cannot be read"],
    ["codex", 'model_providers.gateway.name = "mine"\n', "Nothing was changed"],
    ["codex", 'model = """\ntwo\nlines"""\n', "Nothing was changed"],
    ["opencode", "[]", "must be an object"],
  ])("%s changes nothing in a file that it cannot edit, and says why: %s", async (client, text, words) => {
    const { run, read, record } = createHome(client, text);
    const { exitCode, stderr } = await run([...WRITE, "--yes"]);
    expect([exitCode, read(), existsSync(record)]).toEqual([1, text, false]);
    expect(stderr).toContain(words);
  });

  test("asks before it writes, and without a terminal it writes only with --yes", async () => {
    const { run, read } = createHome("codex");
    const { exitCode, stderr } = await run(WRITE);
    expect([exitCode, read()]).toEqual([1, FILES["codex"] as string]);
    expect(stderr).toContain("--yes");
    const dry = await run([...WRITE, "--dry-run"]);
    expect([dry.exitCode, read()]).toEqual([0, FILES["codex"] as string]);
    expect(dry.stdout).toContain("+ [model_providers.gateway]");
  });

  test.each(NAMES)("%s without --model names what is missing", async (client) => {
    const { exitCode, stderr } = await createHome(client).run(["--url", URL_OF_GATEWAY, "--yes"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("--model")]);
  });

  test("--undo without a connection says that there is none", async () => {
    const { exitCode, stderr } = await createHome("claude").run(["--undo", "--yes"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("was not changed by gateway connect")]);
  });

  function createPath(client: string): string {
    return join(workspace.folder, `home-${client}`, PATHS[client] as string);
  }
});

describe("a key in the file of a client", () => {
  test.each(NAMES)("of %s is only for its owner, and is taken back", (client) => {
    const { file, read } = createHome(client);
    const { editor, edits } = CLIENTS[client] as (typeof CLIENTS)[string];
    const parameters = { url: "https://g.example", models: ["a/b"] as [string], key: "gw_secret" };
    planConnect(file, editor, { edits: edits(parameters), hasSecret: true }).apply();
    expect(read()).toContain("gw_secret");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    planUndo(file, editor).apply();
    expect(read()).toBe(FILES[client] as string);
  });
});
