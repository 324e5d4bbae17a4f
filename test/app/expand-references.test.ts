// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of references
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listSettings } from "../../src/app/config/list-settings.ts";
import { LiveConfig } from "../../src/app/config/live-config.ts";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { printConfig } from "../../src/app/config/print-config.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

let folder: string;

beforeAll(() => {
  folder = makeTempFolder("gateway-references-");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const load = (yaml: string, environment: Readonly<Record<string, string>> = {}) =>
  checkConfig(yaml, "gateway.yaml", environment);

describe("a reference in the configuration file", () => {
  test.each<[string, string, Record<string, string>, string]>([
    ["a variable", "${DIR}", { DIR: "/data" }, "/data"],
    ["a variable within a text", "/var/${NAME}/data", { NAME: "one" }, "/var/one/data"],
    ["several variables", "${A}${B}", { A: "1", B: "2" }, "12"],
    ["the default of a variable that is not set", "${DIR:-/default}", {}, "/default"],
    ["the default of a variable that is empty", "${DIR:-/default}", { DIR: "" }, "/default"],
    ["a variable that has a default", "${DIR:-/default}", { DIR: "/data" }, "/data"],
    ["an escaped reference as it is written", "$${DIR}", { DIR: "/data" }, "${DIR}"],
    ["a dollar sign without a brace as it is written", "$DIR", { DIR: "/data" }, "$DIR"],
    ["a value with a reference, which is not expanded again", "${A}", { A: "${B}", B: "x" }, "${B}"],
  ])("expands to %s", (_name, text, environment, expected) => {
    expect(load(`data_dir: "${text}"`, environment).data_dir).toBe(expected);
  });

  test("expands to the content of a file without newlines at its end", () => {
    const file = write("secret", "a-long-random-text\r\n\n");
    expect(load(`admin_key: \${file:${file}}`).admin_key).toBe("a-long-random-text");
  });

  test("expands in lists and to numbers and booleans, where a setting has them", () => {
    const yaml = [
      "server: { port: '${PORT}', processes: '${COUNT}' }",
      "console: { enabled: '${ON}' }",
      "providers: { openai: { api_keys: ['${FIRST}', '${SECOND}'] } }",
    ].join("\n");
    const config = load(yaml, { PORT: "81", COUNT: "1", ON: "false", FIRST: "123", SECOND: "true" });
    expect(config).toMatchObject({
      server: { port: 81, processes: 1 },
      console: { enabled: false },
      providers: { openai: { api_keys: ["123", "true"] } },
    });
  });

  test.each([
    ["a variable that is not set", "${GONE}", "the environment variable GONE is not set"],
    ["a file that does not exist", "${file:/gone/secret}", "the file cannot be read: ENOENT"],
    ["a folder", "${file:/}", "it is not a regular file"],
    ["no end", "${DIR", "must be ${NAME}"],
    ["a name that no variable has", "${a b}", "must be ${NAME}"],
  ])("is rejected with its line and column for %s", (_name, text, problem) => {
    const yaml = `server:\n  host: "x"\ndata_dir: "${text}"`;
    expect(() => load(yaml)).toThrow(`gateway.yaml:3:1: data_dir has "${text}": ${problem}`);
  });

  test("is rejected once, and together with the other problems", () => {
    const yaml = "server: { port: '${GONE}', prot: 1 }";
    expect(() => load(yaml)).toThrow(
      /^gateway.yaml:1:11: server.port has .*GONE is not set\ngateway.yaml:1:28: server.prot is not a known key.*$/,
    );
  });

  test("is rejected if its file is too large, or if it is a pipe, which would keep a start waiting", () => {
    const large = write("large", "x".repeat(65_537));
    expect(() => load(`data_dir: \${file:${large}}`)).toThrow("the file has more than 65536 bytes");
    expect(load(`data_dir: \${file:${write("fits", "x".repeat(65_536))}}`).data_dir).toHaveLength(65_536);
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    // Opened for reading and writing, so that opening it does not wait.
    const writer = Bun.spawn(["sh", "-c", `exec 3<>'${pipe}'; exec sleep 60`]);
    try {
      expect(() => load(`data_dir: \${file:${pipe}}`)).toThrow("it is not a regular file");
    } finally {
      writer.kill();
    }
  });

  test("is rejected if all references together expand to too much", () => {
    const big = "x".repeat(60_000);
    const yaml = `policy: { denied_models: [${Array(20).fill("'${BIG}'").join(", ")}] }`;
    expect(() => load(yaml, { BIG: big })).toThrow("all references together may expand to 1048576 bytes");
  });
});

describe("where settings are listed, a value with references", () => {
  const settingsOf = (yaml: string, environment: Readonly<Record<string, string>> = {}) =>
    listSettings({ live: new LiveConfig(load(yaml, environment)), environment, providers: [] });

  test("names the variables and files that it is read from", () => {
    const file = write("listed", "hush-1");
    const yaml = `data_dir: \${DIR}\nproviders: { openai: { api_keys: ["\${OPENAI}", "\${file:${file}}"] } }`;
    const settings = settingsOf(yaml, { DIR: "/data", OPENAI: "hush-2" });
    expect(settings.find(({ name }) => name === "data_dir")).toMatchObject({
      value: "/data",
      source: "file",
      line: 1,
      references: ["DIR"],
      isSecret: false,
    });
    expect(settings.find(({ name }) => name === "providers.openai.api_keys")).toMatchObject({
      line: 2,
      references: ["OPENAI", `file:${file}`],
    });
    expect(JSON.stringify(settings)).not.toContain("hush");
  });

  test("is masked if it may be a secret, also where the setting is none by itself", () => {
    const yaml = `billing: { buy_credits_url: "https://x.example/?t=\${MY_TOKEN}" }\ndata_dir: "\${file:${write("hidden", "hush-4")}}"`;
    const environment = { MY_TOKEN: "hush-3" };
    const settings = settingsOf(yaml, environment);
    expect(settings.filter(({ isSecret, value }) => isSecret && value === "********")).toHaveLength(2);
    expect(JSON.stringify(settings)).not.toContain("hush");
    expect(printConfig(load(yaml, environment))).not.toContain("hush");
  });
});
