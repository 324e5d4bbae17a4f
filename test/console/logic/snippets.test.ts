import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listSnippets } from "../../../src/console/state/snippets.ts";
import { startTestGateway, type TestGateway } from "../../support/gateway/gateway.ts";

const MODEL = "sandbox/echo:free";
const KEY = "gw_abc";
let gateway: TestGateway;
/** A key that needs no account. */
const key = "anonymous";

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const codeOf = (id: string, key: string | null, baseUrl = "https://gw.example") =>
  listSnippets({ baseUrl, key, model: MODEL })
    .find((snippet) => snippet.id === id)!
    .pieces.map(({ code }) => code);

/** Runs a program where it finds the packages of this project. The key is in the environment, as the console asks for. */
async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], {
    env: { PATH: process.env["PATH"] ?? "", GATEWAY_API_KEY: key },
    cwd: `${import.meta.dir}/../../..`,
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
  });
  const [out, problems, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect([code, code === 0 ? "" : problems]).toEqual([0, ""]);
  return out;
}

describe.each([true, false])("a snippet, with a key that is known: %p,", (isKnown) => {
  const known = () => (isKnown ? key : null);

  test("of curl runs in a shell as it is", async () => {
    const [code = ""] = codeOf("curl", known(), gateway.url);
    expect(await run(["sh", "-c", code])).toContain("You said: Hello!");
  });

  test("of the OpenAI SDK runs as it is", async () => {
    const [code = ""] = codeOf("openai", known(), gateway.url);
    expect(await run([process.execPath, "-e", code])).toContain("You said: Hello!");
  });

  test("of Python is a program that Python accepts, and reads the key", async () => {
    const [code = ""] = codeOf("python", known(), gateway.url);
    if (Bun.which("python3") === null) return expect(code).toContain("api_key=");
    // A package of the same name stands for the real one, which is not installed.
    const stub = [
      "import sys, types",
      "module = types.ModuleType('openai')",
      "message = types.SimpleNamespace(content='')",
      "class OpenAI:",
      "    def __init__(self, base_url, api_key):",
      "        message.content = base_url + ' ' + api_key",
      "        create = lambda **given: types.SimpleNamespace(choices=[types.SimpleNamespace(message=message)])",
      "        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=create))",
      "module.OpenAI = OpenAI",
      "sys.modules['openai'] = module",
    ].join("\n");
    const printed = await run(["python3", "-c", `${stub}\n${code}`]);
    expect(printed.trim()).toBe(`${gateway.url}/api/gateway ${key}`);
  });

  test.each(["claude-code", "codex", "opencode"])(
    "of %s starts it with the key in the environment",
    async (id) => {
      const command = codeOf(id, known()).at(-1) ?? "";
      const [program = ""] = /claude|codex|opencode/.exec(command) ?? [];
      const name = id === "claude-code" ? "ANTHROPIC_AUTH_TOKEN" : "GATEWAY_API_KEY";
      const fake = `${program}() { printenv ${name}; }\n${command}`;
      expect((await run(["sh", "-c", fake])).trim()).toBe(key);
    },
  );
});

test("files for Codex and OpenCode are valid and name the variable in place of the key", () => {
  const [toml = ""] = codeOf("codex", KEY);
  expect(Bun.TOML.parse(toml)).toMatchObject({
    model: MODEL,
    model_providers: { gateway: { env_key: "GATEWAY_API_KEY", wire_api: "responses" } },
  });
  const [json = ""] = codeOf("opencode", KEY);
  expect(JSON.parse(json).provider.gateway.options.apiKey).toBe("{env:GATEWAY_API_KEY}");
});

test("no snippet has a shell variable where no shell replaces it", () => {
  for (const id of ["openai", "python", "codex", "opencode"])
    expect([id, codeOf(id, null)[0]?.includes("$GATEWAY")]).toEqual([id, false]);
});
