import { describe, expect, test } from "bun:test";
import { loadProviders } from "../../src/app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";
import { configSchema } from "../../src/app/config/config-schema.ts";
import { listSettings } from "../../src/app/config/list-settings.ts";
import { LiveConfig } from "../../src/app/config/live-config.ts";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { isSecretSetting, maskConfig } from "../../src/app/config/print-config.ts";
import type { Setting } from "../../src/core/settings/setting.ts";

const PROVIDERS = loadProviders(SHIPPED_CATALOG_DIRECTORY);

function list(yaml: string, environment: Readonly<Record<string, string>> = {}): readonly Setting[] {
  const config = checkConfig(yaml, "gateway.yaml", environment);
  return listSettings({ live: new LiveConfig(config), environment, providers: PROVIDERS });
}

function find(settings: readonly Setting[], name: string): Setting | undefined {
  return settings.find((setting) => setting.name === name);
}

const FILE = `
# The first line is empty.
server:
  port: 9000
limits: {attempts: 2,
  per_key: {concurrent: 3}}
storage:
  # retention_days: 90
providers:
  openai:
    api_keys: [hush-1, hush-2]
    headers:
      x-team: hush-3
`;

describe("the list of settings", () => {
  test.each([
    ["server.port", 9000, 4],
    ["limits.attempts", 2, 5],
    ["limits.per_key.concurrent", 3, 6],
    ["providers.openai.api_keys", ["********", "********"], 11],
    ["providers.openai.headers", { "x-team": "********" }, 12],
  ])("%s of the file has the file and its line", (name, value, line) => {
    const origin = { source: "file", file: "gateway.yaml", line, variable: null };
    expect(find(list(FILE), name)).toMatchObject({ value, ...origin });
  });

  test.each([
    ["server.host", "127.0.0.1"],
    ["storage.retention_days", null],
    ["admin_key", null],
    ["providers.openai.enabled", true],
  ])("%s that is neither in the file nor in a variable has its default", (name, value) => {
    const origin = { source: "default", file: null, line: null, variable: null };
    expect(find(list(FILE), name)).toMatchObject({ value, ...origin });
  });

  test("a variable takes precedence over the file", () => {
    const setting = find(list(FILE, { GATEWAY_PORT: "7000" }), "server.port");
    expect(setting).toMatchObject({
      value: 7000,
      source: "environment",
      variable: "GATEWAY_PORT",
      line: null,
    });
  });

  test("a provider's own variables are listed unless the file has the setting", () => {
    const variables = { OPENAI_API_KEY: "hush-4", MISTRAL_API_KEY: "hush-5", AZURE_RESOURCE_NAME: "ours" };
    const settings = list(FILE, variables);
    expect(find(settings, "providers.openai.api_keys")).toMatchObject({ source: "file" });
    expect(find(settings, "providers.mistral.api_keys")).toMatchObject({
      value: ["********"],
      source: "environment",
      variable: "MISTRAL_API_KEY",
      isSecret: true,
    });
    expect(find(settings, "providers.azure.parts.resource")).toMatchObject({
      value: "ours",
      variable: "AZURE_RESOURCE_NAME",
      isSecret: false,
    });
  });

  test("no secret of the file or the environment is shown", () => {
    const settings = list(`${FILE}catalog: {source: "https://us:hush-6@example.com/models.json"}\n`, {
      DATABASE_URL: "postgres://us:hush-7@localhost/gateway?password=hush-8",
      REDIS_URL: "redis://us:hush-9@localhost",
      GATEWAY_ADMIN_KEY: "hush-hush-hush-10",
      GATEWAY_WEBHOOK_SECRET: "hush-hush-hush-hush-hush-hush-hush-11",
      GATEWAY_SECRETS_KEY: Buffer.alloc(32, "hush").toString("base64"),
      ANTHROPIC_API_KEY: "hush-12",
      OPENAI_BASE_URL: "https://us:hush-13@example.com/v1",
    });
    expect(JSON.stringify(settings)).not.toContain("hush");
    expect(JSON.stringify(settings)).not.toContain(Buffer.from("hushhush").toString("base64").slice(0, 8));
  });

  test("every setting has a name of its own, and nearly every one a description", () => {
    const settings = list("");
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    expect(settings.length).toBeGreaterThan(50);
    expect(settings.filter(({ description }) => description === "").map(({ name }) => name)).toEqual([]);
  });

  test("every section of the schema is listed, except providers that are not configured", () => {
    const sections = new Set(list("").map(({ name }) => name.split(".")[0] as string));
    expect([...sections].sort()).toEqual(
      Object.keys(configSchema.shape)
        .filter((name) => name !== "providers")
        .sort(),
    );
  });

  test("a copy of a configuration has the same sources", () => {
    const config = checkConfig(FILE, "gateway.yaml", {});
    const settings = listSettings({
      live: new LiveConfig({ ...config, data_dir: "/x" }),
      environment: {},
      providers: [],
    });
    expect(find(settings, "server.port")).toMatchObject({ source: "file", line: 4 });
  });

  test("a setting is marked as secret exactly if it is masked", () => {
    const config = checkConfig(FILE, "gateway.yaml", {
      GATEWAY_ADMIN_KEY: "hush-hush-hush-10",
      GATEWAY_WEBHOOK_SECRET: "hush-hush-hush-hush-hush-hush-hush-11",
    });
    const settings = listSettings({ live: new LiveConfig(config), environment: {}, providers: [] });
    const masked = settings.filter(({ value }) => JSON.stringify(value)?.includes("***"));
    expect(masked.map(({ name }) => name).sort()).toEqual(
      settings
        .filter(({ isSecret, value }) => isSecret && JSON.stringify(value) !== "[]" && value !== null)
        .map(({ name }) => name)
        .sort(),
    );
    expect(JSON.stringify(maskConfig(config))).not.toContain("hush");
    expect(isSecretSetting("server.port")).toBe(false);
  });
});
