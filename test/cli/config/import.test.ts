import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expandReferences } from "../../../src/app/config/expand-references.ts";
import { expectPromisedOutput } from "../../support/gateway/promised-output.ts";
import { createWorkspace } from "../../support/gateway/run-gateway.ts";
import { RUNS_SLOW_TESTS } from "../../support/long-run.ts";
import { startVendor } from "../../support/vendors/vendor.ts";

const workspace = createWorkspace();
afterAll(() => workspace.clear());

const pathOf = (name: string) => join(workspace.folder, name);

interface Entry {
  readonly outcome: string;
  readonly line: number;
  readonly source: string;
  readonly target: string | null;
  readonly text: string;
}

/** Runs an import of a text and returns what it wrote and reported. */
async function convert(kind: "litellm" | "portkey", text: string, options: readonly string[] = []) {
  const file = pathOf(kind === "litellm" ? "config.yaml" : "config.json");
  writeFileSync(file, text);
  const output = pathOf("imported.yaml");
  rmSync(output, { force: true });
  const run = await workspace.run(["import", kind, file, "--output", output, "--json", ...options]);
  expect(run.stderr).toBe("");
  const { data } = JSON.parse(run.stdout) as { data: { variables: string[]; entries: Entry[] } };
  expect(run.exitCode).toBe(data.entries.some(({ outcome }) => outcome === "missing") ? 2 : 0);
  return { ...data, config: parse(readFileSync(output, "utf8")), output, printed: run.stdout };
}

/** The variables that a configuration refers to, all with a valid value. */
const setAll = (variables: readonly string[]) =>
  Object.fromEntries(variables.map((name) => [name, "https://unset.invalid/a-long-value"]));

async function expectValid(output: string, variables: readonly string[]): Promise<void> {
  const { stdout, exitCode } = await workspace.run(["config", "check", output], setAll(variables));
  expect(stdout).toEndWith("are valid.\n");
  expect(exitCode).toBe(0);
}

const LITELLM = `
model_list:
  - model_name: chat
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/FIRST_KEY
      rpm: 30
  - model_name: chat
    litellm_params:
      model: azure/our-4o
      api_base: https://north.openai.azure.com/
      api_key: os.environ/AZURE_NORTH
      api_version: "2024-10-21"
      rpm: 10
    model_info: { base_model: azure/gpt-4o }
  - model_name: Small
    litellm_params:
      model: azure/our-small
      api_base: https://south.openai.azure.com
      api_key: sk-literal-secret
      timeout: 5
      input_cost_per_token: 0.00000015
      output_cost_per_token: 6e-7
  - model_name: local
    litellm_params: { model: hosted_vllm/acme/model-7b, api_base: "http://127.0.0.1:8000/v1" }
  - model_name: embeddings
    litellm_params: { model: hosted_vllm/bge, api_base: "http://127.0.0.1:8000/v1" }
    model_info: { mode: embedding }
  - model_name: "anthropic/*"
    litellm_params: { model: "anthropic/*", api_key: os.environ/ANTHROPIC_API_KEY }
  - model_name: video
    litellm_params: { model: openai/sora-2 }
    model_info: { mode: video_generation }
  - model_name: strange
    litellm_params: { model: unheard-of/model }
router_settings:
  routing_strategy: simple-shuffle
  enable_pre_call_checks: true
  num_retries: 9
  cooldown_time: 30
  fallbacks: [{ chat: [Small] }]
  context_window_fallbacks: [{ Small: [chat] }]
  model_group_alias: { gpt-4o: chat }
litellm_settings:
  drop_params: true
  request_timeout: 90
  callbacks: [langfuse]
general_settings:
  master_key: os.environ/MASTER
  database_url: postgres://someone:hidden@db/other
environment_variables:
  FIRST_KEY: sk-from-variables
`;

describe("gateway import litellm", () => {
  test("writes names as routes with weights and fallbacks, and keys as references", async () => {
    const { config, output, variables, printed } = await convert("litellm", LITELLM);
    expectPromisedOutput([{ command: "import litellm", json: JSON.parse(printed) }]);
    expect(config.named_routes).toEqual({
      chat: {
        kind: "group",
        sticky: "request",
        targets: [
          { model: "openai/gpt-4o", provider: "openai", weight: 30 },
          { model: "azure/our-4o", weight: 10 },
          { model: "south-openai-azure-com/our-small", weight: 0 },
        ],
      },
      small: {
        kind: "group",
        sticky: "request",
        targets: [
          { model: "south-openai-azure-com/our-small", weight: 1 },
          { model: "openai/gpt-4o", provider: "openai", weight: 0 },
          { model: "azure/our-4o", weight: 0 },
        ],
      },
      local: { kind: "alias", target: "127-0-0-1-8000/acme/model-7b" },
      embeddings: { kind: "alias", target: "127-0-0-1-8000/bge" },
      "anthropic/*": { kind: "alias", target: "*", provider: "anthropic", replaces_model: true },
      "claude-*": { kind: "alias", target: "claude-*", provider: "anthropic" },
      "gpt-4o": { kind: "alias", target: "chat" },
    });
    expect(config.policy.allowed_models.sort()).toEqual(Object.keys(config.named_routes).sort());
    expect(config.providers.openai.api_keys).toEqual(["sk-from-variables"]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
    expect(config.providers.azure.api_keys).toEqual(["${AZURE_NORTH}"]);
    expect(config.providers.azure.parts).toEqual({ resource: "north", api_version: "2024-10-21" });
    expect(config.providers["south-openai-azure-com"]).toMatchObject({
      base_url: "https://south.openai.azure.com/openai/v1",
      auth: "api-key",
      models: [{ name: "our-small", prices: { prompt: "0.00000015", completion: "0.0000006" } }],
    });
    expect(config.providers["127-0-0-1-8000"].models[1]).toMatchObject({ name: "bge", output: "embedding" });
    expect(config.limits).toMatchObject({
      repeats: 5,
      models: { "openai/gpt-4o": { requests_per_minute: 30 }, "azure/our-4o": { requests_per_minute: 10 } },
    });
    expect(config.timers).toEqual({ total_ms: 90_000 });
    expect(variables).toEqual(["ANTHROPIC_API_KEY", "AZURE_NORTH", "MASTER"]);
    await expectValid(output, variables);
  });

  test("a model under a name of the operator's own has the catalog's prices of its base model", async () => {
    const { config } = await convert("litellm", LITELLM);
    const [model] = config.providers.azure.models;
    expect(Number(model.prices.prompt)).toBeGreaterThan(0);
    expect(Number(model.prices.completion)).toBeGreaterThan(Number(model.prices.prompt));
  });

  test("the report names the line of each setting that was not taken over, and contains no secret", async () => {
    const { entries, printed } = await convert("litellm", LITELLM);
    const missing = entries.filter(({ outcome }) => outcome === "missing").map(({ source }) => source);
    expect(missing.sort()).toEqual([
      "general_settings.database_url",
      "litellm_settings.callbacks",
      "model_list.2.litellm_params.timeout",
      "model_list.6",
      "model_list.7",
    ]);
    const lines = LITELLM.split("\n");
    for (const { line, source } of entries)
      if (!/\d$/.test(source)) expect(lines[line - 1]).toContain(source.split(".").at(-1) as string);
    for (const secret of ["sk-literal-secret", "sk-from-variables", "hidden"])
      expect(printed).not.toContain(secret);
  });

  test("writes a file that only its owner may read, and replaces none without --force", async () => {
    const { output } = await convert("litellm", LITELLM);
    expect(statSync(output).mode & 0o777).toBe(0o600);
    const again = ["import", "litellm", pathOf("config.yaml"), "--output", output];
    expect(await workspace.run(again)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("exists"),
    });
    expect(await workspace.run([...again, "--force"])).toMatchObject({ exitCode: 2, stderr: "" });
  });

  test("models of one catalog id under different names stay at their own provider", async () => {
    const { config, output } = await convert(
      "litellm",
      `
model_list:
  - { model_name: ours, litellm_params: { model: azure/gpt-4o, api_base: "https://x.openai.azure.com", api_key: k } }
  - { model_name: theirs, litellm_params: { model: openai/gpt-4o, api_key: k } }
`,
    );
    expect(config.named_routes).toEqual({
      ours: { kind: "alias", target: "openai/gpt-4o", provider: "azure" },
      theirs: { kind: "alias", target: "openai/gpt-4o", provider: "openai" },
    });
    await expectValid(output, []);
  });

  test("reads the files that include names", async () => {
    writeFileSync(
      pathOf("more.yaml"),
      "model_list:\n  - { model_name: extra, litellm_params: { model: groq/some-model } }\n",
    );
    const { config, entries } = await convert("litellm", "include: [more.yaml]\n");
    expect(config.named_routes.extra).toEqual({ kind: "alias", target: "groq/some-model" });
    expect(entries.every((entry) => "file" in entry && String(entry.file).endsWith("more.yaml"))).toBe(true);
  });

  test("credentials that models share by name are the key and address of each", async () => {
    const { config } = await convert(
      "litellm",
      `
credential_list:
  - credential_name: office
    credential_values: { api_key: os.environ/OFFICE_KEY, api_base: "http://127.0.0.1:9000/v1" }
model_list:
  - { model_name: one, litellm_params: { model: openai/first, litellm_credential_name: office } }
`,
    );
    expect(config.providers["127-0-0-1-9000"]).toMatchObject({
      base_url: "http://127.0.0.1:9000/v1",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
      api_keys: ["${OFFICE_KEY}"],
    });
  });

  test("models whose names are not ASCII get ids of their own that are, and keep their names at the host", async () => {
    const model = (name: string, at: number) => `
  - model_name: chat-${at}
    litellm_params: {model: "openai/${name}", api_base: "http://10.0.0.1:8000/v1", api_key: os.environ/OWN_KEY}`;
    const names = ["модель", "模型", "modèle"];
    const { config, output, variables } = await convert(
      "litellm",
      `model_list:${names.map(model).join("")}\n`,
    );
    const [provider] = Object.values(
      config.providers as Record<string, { models: { id: string; name: string }[] }>,
    );
    expect(provider?.models.map(({ name }) => name)).toEqual(names);
    const ids = provider?.models.map(({ id }) => id) ?? [];
    expect(new Set(ids).size).toBe(names.length);
    expect(ids.filter((id) => !/^[!-~]+$/.test(id))).toEqual([]);
    await expectValid(output, variables);
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  test("texts with ${…} are literals wherever they are written, and only os.environ is a reference", async () => {
    const secret = pathOf("secret.txt");
    writeFileSync(secret, "SECRET-OF-A-FILE");
    const evil = `\${file:${secret}}`;
    const { config, output } = await convert(
      "litellm",
      `
model_list:
  - model_name: "name-${evil}"
    litellm_params: {model: "hosted_vllm/m-${evil}", api_base: "https://x.example/${evil}/v1", api_key: "k-${evil}"}
  - model_name: "azure-one"
    litellm_params: {model: "azure/d-${evil}", api_base: "https://y.openai.azure.com", api_version: "v-${evil}", api_key: os.environ/AZURE}
  - model_name: "\uf8ffHOME\uf8ff"
    litellm_params: {model: "hosted_vllm/\uf8ffHOME\uf8ff", api_base: "https://z.example/v1"}
router_settings:
  model_group_alias: {"other": "name-${evil}"}
general_settings: {master_key: "sk-master-${evil}"}
`,
    );
    const written = readFileSync(output, "utf8");
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
    expect(written.match(/(?<!\$)\$\{[^}]*\}/g)).toEqual(["${AZURE}"]);
    const { value, problems } = expandReferences(config, {
      environment: { AZURE: "a-key" },
      placeOf: () => ({ file: "", line: 1, column: 1 }),
    });
    expect(problems).toEqual([]);
    expect(JSON.stringify(value)).not.toContain("SECRET-OF-A-FILE");
    expect(JSON.stringify(value)).toContain(`m-${evil}`);
    expect(JSON.stringify(value)).toContain(`k-${evil}`);
  });

  test.skipIf(!RUNS_SLOW_TESTS)(
    "a file with more models than are imported is rejected with the number",
    async () => {
      const file = pathOf("large.yaml");
      writeFileSync(
        file,
        `model_list:\n${"  - {model_name: a, litellm_params: {model: openai/gpt-4o}}\n".repeat(6_000)}`,
      );
      const { stderr, exitCode } = await workspace.run([
        "import",
        "litellm",
        file,
        "--output",
        pathOf("none.yaml"),
      ]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("model_list has more than 5000 entries");
      expect(existsSync(pathOf("none.yaml"))).toBe(false);
    },
  );

  test("a file that is not YAML is an error with its line, and writes nothing", async () => {
    writeFileSync(pathOf("broken.yaml"), "model_list: [\n");
    const output = pathOf("never.yaml");
    const run = await workspace.run(["import", "litellm", pathOf("broken.yaml"), "--output", output]);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain("broken.yaml:");
    expect(existsSync(output)).toBe(false);
  });
});

test.skipIf(!RUNS_SLOW_TESTS)(
  "a gateway on an imported file answers a request for the old model name",
  async () => {
    const vendor = startVendor();
    const { output } = await convert(
      "litellm",
      `
model_list:
  - model_name: gpt-office
    litellm_params: { model: openai/office-model, api_base: "${vendor.baseUrl}", api_key: os.environ/OFFICE_KEY }
general_settings: { master_key: sk-a-master-key-of-enough-length }
`,
    );
    const environment = { GATEWAY_CONFIG: output, OFFICE_KEY: "sk-office" };
    await workspace.run(["migrate"], environment);
    const key = JSON.parse(
      (await workspace.run(["keys", "create", "old client", "--json"], environment)).stdout,
    );
    const gateway = await workspace.start(environment);
    try {
      const answer = await fetch(`${gateway.url}/api/gateway/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key.key}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ model: "gpt-office", messages: [{ role: "user", content: "Hello" }] }),
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { choices: [{ message: { content: "Alpha one two" } }] },
      ]);
      expect(vendor.calls[0]?.body).toMatchObject({ model: "office-model" });
      expect(vendor.calls[0]?.head).toContain("Bearer sk-office");
    } finally {
      await gateway.stop();
      vendor.stop();
    }
  },
);

describe("gateway import portkey", () => {
  test("a load balance with a nested fallback becomes one group", async () => {
    const source = {
      strategy: { mode: "loadbalance" },
      retry: { attempts: 2, on_status_codes: [429] },
      request_timeout: 20_000,
      cache: { mode: "simple" },
      targets: [
        {
          provider: "openai",
          api_key: "sk-hidden",
          weight: 0.7,
          override_params: { model: "gpt-4o", temperature: 1 },
        },
        {
          weight: 0.3,
          strategy: { mode: "fallback", on_status_codes: [429] },
          targets: [
            { provider: "anthropic", virtual_key: "vk", override_params: { model: "claude-of-ours" } },
            {
              provider: "ollama",
              custom_host: "http://127.0.0.1:11434/v1",
              override_params: { model: "llama" },
            },
          ],
        },
      ],
    };
    const { config, entries, output, printed } = await convert("portkey", JSON.stringify(source, null, 1), [
      "--name",
      "assistant",
    ]);
    expectPromisedOutput([{ command: "import portkey", json: JSON.parse(printed) }]);
    expect(config.named_routes.assistant).toEqual({
      kind: "group",
      sticky: "request",
      targets: [
        { model: "openai/gpt-4o", provider: "openai", weight: 700 },
        { model: "anthropic/claude-of-ours", weight: 300 },
        { model: "127-0-0-1-11434/llama", weight: 0 },
      ],
    });
    expect(config.limits.repeats).toBe(2);
    expect(config.timers.total_ms).toBe(20_000);
    const missing = entries.filter(({ outcome }) => outcome === "missing").map(({ source: path }) => path);
    expect(missing.sort()).toEqual(["cache", "targets.0.override_params.temperature"]);
    expect(printed).not.toContain("sk-hidden");
    await expectValid(output, []);
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  test("texts with ${…} in it are literals", async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
    const evil = "${file:/etc/hostname}";
    const { output } = await convert(
      "portkey",
      JSON.stringify({
        targets: [
          { provider: "openai", api_key: `k-${evil}`, override_params: { model: `m-${evil}` } },
          {
            provider: "openai",
            custom_host: `https://x.example/${evil}`,
            override_params: { model: `n-${evil}` },
          },
        ],
        strategy: { mode: "fallback" },
      }),
    );
    const written = readFileSync(output, "utf8");
    expect(written).toContain("m-$${file:/etc/hostname}");
    expect(written.match(/(?<!\$)\$\{[^}]*\}/g)).toBeNull();
  });

  test("conditions on the model name become routes, and others are named", async () => {
    const source = `{
      "strategy": {
        "mode": "conditional",
        "conditions": [
          { "query": { "params.model": { "$eq": "smart" } }, "then": "big" },
          { "query": { "metadata.plan": { "$eq": "paid" } }, "then": "big" }
        ],
        "default": "small"
      },
      "targets": [
        { "name": "big", "provider": "openai", "overrideParams": { "model": "gpt-4o" } },
        { "name": "small", "provider": "@openai", "override_params": { "model": "gpt-4o-mini" } }
      ]
    }`;
    const { config, entries, output } = await convert("portkey", source, ["--name", "rest"]);
    expect(config.named_routes).toEqual({
      smart: { kind: "alias", target: "openai/gpt-4o", provider: "openai" },
      rest: { kind: "alias", target: "openai/gpt-4o-mini", provider: "openai" },
    });
    expect(config.policy.allowed_models).toEqual(["smart", "rest"]);
    expect(entries).toContainEqual(
      expect.objectContaining({ outcome: "missing", source: "strategy.conditions.1" }),
    );
    await expectValid(output, []);
  });
});

describe("the documents about migration", () => {
  for (const kind of ["litellm", "portkey"] as const) {
    test(`every command of ${kind}.md runs`, async () => {
      const text = readFileSync(join(import.meta.dir, `../../../docs/migrate-from/${kind}.md`), "utf8");
      const example = /```(?:yaml|json)\n([\s\S]*?)```/.exec(text)?.[1] as string;
      const { output } = await convert(kind, example);
      const environment = {
        ...setAll([...text.matchAll(/os\.environ\/([A-Z][A-Z_]+)/g)].map(([, name]) => name as string)),
        OPENAI_API_KEY: "sk-unused",
        GATEWAY_CONFIG: output,
        GATEWAY_DATA_DIR: pathOf(`data-${kind}`),
      };
      const block = /```sh\n([\s\S]*?)```/.exec(text)?.[1] as string;
      const commands = block.split("\n").filter((line) => line.startsWith("gateway "));
      expect(commands.length).toBeGreaterThan(2);
      for (const command of commands) {
        const args = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(
          ([, quoted, bare]) => quoted ?? bare ?? "",
        );
        // Another test starts a gateway on an imported file.
        if (args[1] === "start") continue;
        const placed = args.slice(1).map((arg) => {
          if (arg === "gateway.yaml") return pathOf(`${kind}-gateway.yaml`);
          return /^config\.(yaml|json)$/.test(arg) ? pathOf(arg) : arg;
        });
        const run = await workspace.run(placed, environment);
        expect([command, run.exitCode, run.stderr]).toEqual([command, 0, expect.any(String)]);
      }
    });
  }
});
