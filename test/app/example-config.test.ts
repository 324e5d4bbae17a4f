import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import { EXAMPLE_FILE, renderExampleConfig } from "../../scripts/generate/example-config.ts";
import { type Config, configSchema } from "../../src/app/config/config-schema.ts";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { startTestGateway } from "../support/gateway/gateway.ts";

const FILE = readFileSync(EXAMPLE_FILE, "utf8");

/** Returns the commented block that begins with a line, without its comment signs. */
function uncomment(from: string): string {
  const lines = FILE.split("\n");
  const begin = lines.indexOf(from);
  expect(begin).toBeGreaterThan(0);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith("#"));
  const block = length < 0 ? lines.slice(begin) : lines.slice(begin, begin + length);
  return block.map((line) => line.replace(/^# ?/, "")).join("\n");
}

/** Returns the values of a configuration, without their origins. */
function load(text: string): Config {
  return structuredClone(checkConfig(text, "gateway.example.yaml", {}));
}

describe("gateway.example.yaml", () => {
  test("equals the output of `npm run generate`", () => {
    expect(FILE).toBe(renderExampleConfig());
  });

  test("loads without error and contains only defaults", () => {
    expect(load(FILE)).toEqual(load(""));
  });

  test("has every key of the schema, active or commented out", () => {
    const keys = collectKeys(z.toJSONSchema(configSchema, { io: "input" }));
    expect(keys.length).toBeGreaterThan(30);
    for (const key of keys) expect(FILE).toMatch(new RegExp(`^[# ]*(- )?${key}:`, "m"));
  });

  test("has commented sections and keys that load when they are uncommented", () => {
    expect(load(uncomment("# billing:")).billing.buy_credits_url).toBeString();
    expect(load(uncomment("# admin_key: a-long-random-text")).admin_key).toBe("a-long-random-text");
  });

  test("has example overrides that a gateway starts with", async () => {
    const [block = ""] = /^ {2}# overrides:\n(?: {2}# {3}.*\n)+/m.exec(FILE) ?? [];
    const overrides = parse(block.replace(/^ {2}# /gm, ""));
    const gateway = await startTestGateway({ yaml: JSON.stringify({ catalog: overrides }) });
    const models = await (await fetch(`${gateway.base}/models?all=true`)).text();
    expect(models).toContain('"id":"acme/every-key"');
    expect(models).not.toContain('"id":"openai/gpt-4"');
    await gateway.stop();
  });

  test("has example providers that a gateway starts with", async () => {
    const yaml = uncomment("# providers:");
    const { providers } = load(yaml);
    expect(providers["openai"]?.api_keys).toHaveLength(2);
    expect(Object.keys(providers["vllm"] ?? {}).sort()).toEqual(
      [
        "base_url",
        "api_keys",
        "headers",
        "auth",
        "formats",
        "name",
        "models",
        "trains_on_data",
        "takes",
        "send",
        "zero_retention",
        "enabled",
      ].sort(),
    );
    const gateway = await startTestGateway({ yaml });
    const { data } = (await (await fetch(`${gateway.base}/models`)).json()) as { data: { id: string }[] };
    const ids = data.map(({ id }) => id);
    expect(ids).toContainValues(["ollama/llama3.2", "qwen/qwen3-32b"]);
    await gateway.stop();
  });

  test("contains nothing that looks like a real secret", () => {
    expect(FILE).not.toMatch(/gw_\w{20}|sk-\w{12}/);
    expect(parse(FILE)).not.toHaveProperty("admin_key");
  });
});

function collectKeys(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { properties } = schema as { properties?: Record<string, unknown> };
  const own = Object.keys(properties ?? {});
  const { properties: _, ...others } = schema as Record<string, unknown>;
  return [...own, ...[...Object.values(properties ?? {}), ...Object.values(others)].flatMap(collectKeys)];
}
