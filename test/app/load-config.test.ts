import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Config } from "../../src/app/config/config-schema.ts";
import { ConfigError, checkConfig, loadConfig } from "../../src/app/config/load-config.ts";
import { printConfig } from "../../src/app/config/print-config.ts";
import { countProcesses } from "../../src/app/processes/count-processes.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

let folder: string;

beforeAll(() => {
  folder = makeTempFolder("gateway-config-");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the message of a configuration's error, without columns. */
function problemOf(yaml: string, environment: Record<string, string> = {}): string {
  try {
    checkConfig(yaml, "gateway.yaml", environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.replace(/^(\S+:\d+):\d+: /gm, "$1: ");
  }
  throw new Error("this should have been refused");
}

test("the example tiers of docs/tiers.md load", () => {
  const text = readFileSync(join(import.meta.dir, "..", "..", "docs", "tiers.md"), "utf8");
  const yaml = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  expect(checkConfig(yaml, "gateway.yaml", {}).tiers?.map(({ id }) => id)).toEqual(["gateway-auto/review"]);
});

/** Returns the values of a configuration file, without their origins. */
function valuesOf(text: string): Config {
  return structuredClone(checkConfig(text, "gateway.yaml", {}));
}

describe("the error of an invalid configuration", () => {
  test.each<[string, string, string[]]>([
    [
      "an unknown key at the top",
      "log_level: info\nsurprise: 1",
      ["gateway.yaml:2: surprise is not a known key"],
    ],
    [
      "an unknown key in a section",
      "server:\n  host: 0.0.0.0\n  prot: 80",
      ["gateway.yaml:3: server.prot is not a known key"],
    ],
    [
      "an invalid id of a tier",
      "tiers:\n  - id: fast\n    name: Fast\n    rule: { by: free }",
      ["gateway.yaml:2: tiers.0.id must be gateway-auto/"],
    ],
    [
      "an invalid effort of a tier",
      "tiers:\n  - id: gateway-auto/fast\n    name: Fast\n    rule:\n      by: balance\n      paid: { models: [a/b], reasoning: hard }\n      else: { models: [a/b] }",
      ["gateway.yaml:6: tiers.0.rule.paid.reasoning "],
    ],
    [
      "an unknown rule of a tier",
      "tiers:\n  - id: gateway-auto/fast\n    name: Fast\n    rule: { by: weather }",
      ["gateway.yaml:4: tiers.0.rule.by "],
    ],
    [
      "an unknown key of a provider",
      "providers:\n  openai:\n    api_key: x",
      ["gateway.yaml:3: providers.openai.api_key is not a known key"],
    ],
    [
      "an unknown key of a model",
      "providers:\n  mine:\n    base_url: http://x\n    models:\n      - id: a/b\n      - id: a/c\n        price: 1",
      ["gateway.yaml:7: providers.mine.models.1.price is not a known key"],
    ],
    [
      "a price that is a number",
      "providers:\n  mine:\n    models:\n      - id: a/b\n        prices:\n          prompt: 0.1\n          completion: '0'",
      ["gateway.yaml:6: providers.mine.models.0.prices.prompt"],
    ],
    ["a value of the wrong type", "server:\n  port: eighty", ["gateway.yaml:2: server.port"]],
    [
      "less room for all bodies than for one",
      "limits:\n  body_bytes: 2048\n  total_body_bytes: 2047",
      ["gateway.yaml:3: limits.total_body_bytes must not be less than limits.body_bytes"],
    ],
    [
      "a management key that can be guessed",
      "log_level: info\nadmin_key: fifteen-letters",
      ["gateway.yaml:2: admin_key must have at least 16 characters"],
    ],
    [
      "a management key with spaces in it",
      'admin_key: "a long text in words"',
      ["gateway.yaml:1: admin_key must not contain spaces"],
    ],
    ["a value out of range", "\n\nserver:\n  port: 70000", ["gateway.yaml:4: server.port"]],
    [
      "a word that is none of those allowed",
      "sandbox: maybe",
      ["gateway.yaml:1: sandbox", '"on"|"off"|"auto"'],
    ],
    [
      "an item of a list",
      "server:\n  extra_prefixes:\n    - /ok\n    - nope/",
      ["gateway.yaml:4: server.extra_prefixes.1"],
    ],
    [
      "a header name that is none",
      "server:\n  header_aliases:\n    x-mode: 'x gateway mode'",
      ["gateway.yaml:3: server.header_aliases.x-mode", "header name"],
    ],
    [
      "a pricing rule that does nothing",
      "pricing:\n  rules:\n    - plans: [pro]",
      ["gateway.yaml:3: pricing.rules.0 must have markup_percent, prices or byok_fee_percent"],
    ],
    [
      "a pricing rule that adds to prices and replaces them",
      "pricing:\n  rules:\n    - prices: {prompt: '0', completion: '0'}\n      markup_percent: 5",
      ["gateway.yaml:4: pricing.rules.0.markup_percent must not be given with prices"],
    ],
    [
      "a discount of more than everything",
      "pricing:\n  rules:\n    - markup_percent: -100.5",
      ["gateway.yaml:3: pricing.rules.0.markup_percent must be a percentage from -100 to 10000"],
    ],
    [
      "a pricing rule that ends before it begins",
      "pricing:\n  rules:\n    - {from: 2027-02-01, until: 2027-01-01, markup_percent: 5}",
      ["gateway.yaml:3: pricing.rules.0.until must not be before from"],
    ],
    [
      "an address that is none",
      "providers:\n  mine:\n    base_url: ftp://x",
      ["gateway.yaml:3: providers.mine.base_url", "http or https"],
    ],
    [
      "an address with a password",
      "providers:\n  mine:\n    base_url: http://user:secret@x",
      ["gateway.yaml:3: providers.mine.base_url", "must not contain a user name or password"],
    ],
    [
      "a model id without author",
      "providers:\n  mine:\n    models:\n      - id: llama",
      ["gateway.yaml:4: providers.mine.models.0.id", "author/model"],
    ],
    [
      "a slug in capitals",
      "log_level: info\nproviders:\n  Mine: {}",
      ["gateway.yaml:3: providers.Mine", "lower-case"],
    ],
    [
      "an empty key",
      "providers:\n  mine:\n    api_keys: ['']",
      ["gateway.yaml:3: providers.mine.api_keys.0", "must not be empty"],
    ],
    ["a section that is a text", "server: yes", ["gateway.yaml:1: server"]],
    ["a list in place of everything", "- a\n- b", ["gateway.yaml:1:", "mapping"]],
    ["a text in place of everything", "hello", ["gateway.yaml:1:", "mapping"]],
    ["YAML that is none", "server:\n  host: [", ["gateway.yaml:"]],
    ["a key that stands twice", "log_level: info\nlog_level: warn", ["gateway.yaml:2:"]],
    ["a tab as indentation", "server:\n\thost: x", ["gateway.yaml:2:"]],
    ["an alias without anchor", "log_level: info\ndata_dir: *none", ["gateway.yaml:2:"]],
  ])("%s", (_name, yaml, parts) => {
    const problem = problemOf(yaml);
    for (const part of parts) expect(problem).toContain(part);
    expect(problem).not.toContain("secret");
  });

  test("lists all problems, one per line", () => {
    const problem = problemOf("a: 1\nb: 2\nserver:\n  port: -1\nlog_level: loud");
    const lines = problem.split("\n").map((line) => line.split(" ").slice(0, 2).join(" "));
    expect(lines.sort()).toEqual(
      [
        "gateway.yaml:1: a",
        "gateway.yaml:2: b",
        "gateway.yaml:4: server.port",
        "gateway.yaml:5: log_level",
      ].sort(),
    );
  });

  test.each([
    [
      "in a section",
      "server:\n  prot: 80",
      "gateway.yaml:2:3: server.prot is not a known key. Did you mean port?",
    ],
    [
      "in an item of a list",
      "providers: { mine: { base_url: http://x, models: [{ id: a/b, price: 1 }] } }",
      "gateway.yaml:1:62: providers.mine.models.0.price is not a known key. Did you mean prices, price_tiers or price_changes?",
    ],
    [
      "in another section",
      "retention_days: 5",
      "gateway.yaml:1:1: retention_days is not a known key. Did you mean storage.retention_days or responses.retention_days?",
    ],
    ["nowhere", "weather: 5", "gateway.yaml:1:1: weather is not a known key"],
  ])("names the line, the column and what was meant by a key that belongs %s", (_name, yaml, message) => {
    expect(() => checkConfig(yaml, "gateway.yaml", {})).toThrow(new ConfigError(message));
  });

  test("lists all errors of the syntax", () => {
    expect(problemOf("a: *x\nb: *y").split("\n")).toHaveLength(2);
  });

  test("never contains a secret", () => {
    for (const yaml of [
      "admin_key: [hush-hush]",
      "providers:\n  x:\n    api_keys: {a: hush-hush}",
      "admin_key:\n  hush-hush: 1",
    ]) {
      expect(problemOf(yaml).replace("hush-hush is not", "")).not.toContain("hush-hush:");
    }
  });
});

describe("an environment variable", () => {
  test.each([
    ["fifteen-letters", "must have at least 16 characters"],
    ["   ", "must have at least 16 characters"],
    ["    fifteen-letters    ", "must have at least 16 characters"],
    ["a long text in words", "must not contain spaces"],
    ["a-long-text\twith-a-tab", "must not contain spaces"],
  ])("with the invalid management key %j is rejected by its name, without its value", (key, problem) => {
    const told = problemOf("", { GATEWAY_ADMIN_KEY: key });
    expect(told).toStartWith(`GATEWAY_ADMIN_KEY ${problem}`);
    expect(told).not.toContain(key.trim() || "\0");
  });

  test("sets a value that the file sets or does not set", () => {
    const environment = {
      GATEWAY_HOST: "::1",
      GATEWAY_PORT: "9000",
      GATEWAY_DATA_DIR: "/data",
      GATEWAY_ADMIN_KEY: " an-operators-own-key\n",
      GATEWAY_LOG_LEVEL: "warn",
      GATEWAY_SANDBOX: "off",
    };
    for (const yaml of ["", "server: { host: 0.0.0.0, port: 1 }\nlog_level: debug\nsandbox: on"]) {
      expect(checkConfig(yaml, "gateway.yaml", environment)).toMatchObject({
        server: { host: "::1", port: 9000 },
        data_dir: "/data",
        admin_key: "an-operators-own-key",
        log_level: "warn",
        sandbox: "off",
      });
    }
  });

  test("is ignored if it is empty", () => {
    expect(checkConfig("server: { port: 81 }", "gateway.yaml", { GATEWAY_PORT: "" }).server.port).toBe(81);
  });

  test.each([
    ["GATEWAY_PORT", "eighty"],
    ["GATEWAY_PORT", "-1"],
    ["GATEWAY_PORT", "70000"],
    ["GATEWAY_PORT", "80.5"],
    ["GATEWAY_PORT", "tcp://10.0.0.1:80"],
    ["GATEWAY_LOG_LEVEL", "loud"],
    ["GATEWAY_SANDBOX", "yes"],
  ])("with an invalid value is rejected by its name: %s=%s", (name, value) => {
    const problem = problemOf("", { [name]: value });
    expect(problem).toStartWith(`${name} `);
    expect(problem).not.toContain("gateway.yaml");
  });

  test("does not hide an invalid section of the file", () => {
    expect(problemOf("server: 5", { GATEWAY_PORT: "80" })).toContain("gateway.yaml:1: server");
  });

  test.each([
    ["server.port", 2, "server:\n  port: eighty", { GATEWAY_PORT: "9000" }],
    ["server.host", 2, "server:\n  host: ''", { GATEWAY_HOST: "::1" }],
    ["data_dir", 1, "data_dir: 5", { GATEWAY_DATA_DIR: "/data" }],
    ["admin_key", 1, "admin_key: short", { GATEWAY_ADMIN_KEY: "an-operators-own-key" }],
    ["log_level", 1, "log_level: loud", { GATEWAY_LOG_LEVEL: "warn" }],
    ["sandbox", 1, "sandbox: maybe", { GATEWAY_SANDBOX: "off" }],
    [
      "billing.webhook_secret",
      2,
      "billing:\n  webhook_secret: short",
      { GATEWAY_WEBHOOK_SECRET: "x".repeat(32) },
    ],
    ["secrets.keys.0", 3, "secrets:\n  keys:\n    - short", { GATEWAY_SECRETS_KEY: "a".repeat(64) }],
  ])("does not hide an invalid %s in the file that it replaces", (path, line, yaml, environment) => {
    expect(problemOf(yaml, environment)).toStartWith(`gateway.yaml:${line}: ${path} `);
  });

  test("is reported once together with each problem of the file", () => {
    const problem = problemOf("server:\n  port: eighty\nlog_level: loud", { GATEWAY_PORT: "ninety" });
    expect(problem.split("\n").map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "gateway.yaml:2: server.port",
      "gateway.yaml:3: log_level",
      "GATEWAY_PORT Invalid",
    ]);
  });

  test("set by Kubernetes for a service named gateway is rejected with an explanation", () => {
    expect(problemOf("", { GATEWAY_PORT: "tcp://10.0.0.1:80" })).toContain("enableServiceLinks");
  });
});

describe("the configuration file", () => {
  test("may be absent, empty, or contain only comments", () => {
    const defaults = valuesOf("");
    expect(defaults).toMatchObject({
      server: { host: "127.0.0.1", port: 8080 },
      data_dir: "./data",
      sandbox: "auto",
    });
    for (const text of ["# nothing\n", "\n\n", "---\n", "{}"]) expect(valuesOf(text)).toEqual(defaults);
  });

  test("may have sections in which every key is commented out", () => {
    const yaml = "server:\n  # host: 0.0.0.0\nlimits:\nproviders:\nlog_level: warn\n";
    expect(valuesOf(yaml)).toEqual(valuesOf("log_level: warn"));
  });

  test("is the one named by GATEWAY_CONFIG", () => {
    const file = join(folder, "other.yaml");
    writeFileSync(file, "log_level: error\n");
    expect(loadConfig({ GATEWAY_CONFIG: file }).log_level).toBe("error");
    writeFileSync(file, "log_level: error\nx: 1\n");
    expect(() => loadConfig({ GATEWAY_CONFIG: file })).toThrow(`${file}:2:1: x is not a known key`);
  });

  test("named by GATEWAY_CONFIG must exist and be a file", () => {
    const missing = join(folder, "missing.yaml");
    expect(() => loadConfig({ GATEWAY_CONFIG: missing })).toThrow(
      new ConfigError(`GATEWAY_CONFIG names ${missing}, which does not exist`),
    );
    const directory = join(folder, "directory.yaml");
    mkdirSync(directory);
    expect(() => loadConfig({ GATEWAY_CONFIG: directory })).toThrow(ConfigError);
  });
});

describe("the printed configuration", () => {
  test("masks every secret and nothing else", () => {
    const yaml = `
admin_key: hush-hush-hush-1
providers:
  mine:
    base_url: http://127.0.0.1:8000/v1
    api_keys: [hush-2, hush-3]
    headers: { x-token: hush-4 }
    models: [{ id: a/b }]
`;
    const printed = printConfig(checkConfig(yaml, "gateway.yaml", {}));
    expect(printed).not.toContain("hush");
    expect(printed.match(/\*{8}/g)).toHaveLength(4);
    for (const shown of [
      "http://127.0.0.1:8000/v1",
      "x-token",
      "a/b",
      "port: 8080",
      "first_token_ms: 120000",
    ]) {
      expect(printed).toContain(shown);
    }
  });

  test("shows the address of a database and of Redis without their passwords", () => {
    const printed = printConfig(
      checkConfig("database: { url: 'postgres://gateway:hush-1@db:5432/gateway?password=hush-2' }", "x", {
        REDIS_URL: "redis://:hush-3@cache:6379",
      }),
    );
    expect(printed).not.toContain("hush");
    expect(printed).toContain("@db:5432/gateway");
    expect(printed).toContain("@cache:6379");
  });

  test("can be loaded again", () => {
    const config = checkConfig(
      "providers: { mine: { base_url: http://x/v1, models: [{ id: a/b }] } }",
      "x",
      {},
    );
    expect(valuesOf(printConfig(config))).toEqual(structuredClone(config));
  });
});

describe("the addresses of databases", () => {
  test("DATABASE_URL and REDIS_URL replace the addresses of the file", () => {
    const environment = { DATABASE_URL: "postgresql://new/gateway", REDIS_URL: "rediss://new" };
    const config = checkConfig("database: { url: postgres://old/gateway }", "gateway.yaml", environment);
    expect([config.database.url, config.redis.url]).toEqual(Object.values(environment));
  });

  test("the address of another database is rejected by the name of its variable", () => {
    const load = () => checkConfig("", "gateway.yaml", { DATABASE_URL: "mysql://root@db/app" });
    expect(load).toThrow("DATABASE_URL must be the URL of a PostgreSQL server: postgres://…");
  });

  test.each([
    ["the file", "redis: { url: redis://cache }", {}, "gateway.yaml:1:10: redis.url needs database.url"],
    ["the environment", "", { REDIS_URL: "redis://cache" }, "REDIS_URL needs database.url (DATABASE_URL)"],
  ])("Redis in %s without PostgreSQL is rejected with an explanation", (_, yaml, environment, message) => {
    expect(() => checkConfig(yaml, "gateway.yaml", environment)).toThrow(message);
  });

  test("Redis in the file is accepted if the environment names the database", () => {
    const environment = { DATABASE_URL: "postgres://db/gateway" };
    const config = checkConfig("redis: { url: redis://cache }", "gateway.yaml", environment);
    expect(config.redis.url).toBe("redis://cache");
  });
});

describe("server.processes", () => {
  const database = "database: { url: postgres://db/gateway }";

  test.each([
    [
      "the file",
      "server: { processes: 2 }",
      {},
      "gateway.yaml:1:11: server.processes needs database.url (DATABASE_URL)",
    ],
    [
      "the environment",
      "",
      { GATEWAY_PROCESSES: "4" },
      "GATEWAY_PROCESSES needs database.url (DATABASE_URL)",
    ],
  ])("in %s is rejected without PostgreSQL, with an explanation", (_, yaml, environment, message) => {
    expect(() => checkConfig(yaml, "gateway.yaml", environment)).toThrow(message);
  });

  test.each(["0", "65", "many"])("of %s is rejected", (processes) => {
    const load = () => checkConfig(database, "gateway.yaml", { GATEWAY_PROCESSES: processes });
    expect(load).toThrow(/^GATEWAY_PROCESSES .*(>=1|<=64|must be a number from 1 to 64, or auto)$/);
  });

  test("`auto` is the number of cores with PostgreSQL, and 1 with SQLite", () => {
    const environment = { GATEWAY_PROCESSES: "auto" };
    const count = (yaml: string) => countProcesses(checkConfig(yaml, "gateway.yaml", environment));
    expect([count(database), count("")]).toEqual([availableParallelism(), 1]);
  });
});
