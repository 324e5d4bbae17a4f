import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { originsOf } from "../../src/app/config/config-origins.ts";
import { diffConfigs, keepUntilRestart, needsRestart } from "../../src/app/config/diff-configs.ts";
import { checkConfig } from "../../src/app/config/load-config.ts";
import { listPaths } from "../../src/app/config/schema-paths.ts";

const load = (yaml: string) => checkConfig(yaml, "gateway.yaml", {});
const namesOf = (before: string, after: string) =>
  diffConfigs(load(before), load(after)).map(({ name }) => name);

describe("the difference of two configurations", () => {
  test("is empty for the same settings in another order", () => {
    expect(namesOf("log_level: warn\nsandbox: on", "sandbox: on\nlog_level: warn")).toEqual([]);
  });

  test("names settings, those of each provider, and maps and lists as a whole", () => {
    const before = "providers: { openai: { api_keys: [a] }, groq: { enabled: false } }";
    const after =
      "providers: { openai: { api_keys: [b] } }\nlimits: { models: { 'a/*': { concurrent: 1 } } }\npolicy: { denied_models: [a/b] }";
    expect(namesOf(before, after)).toEqual([
      "limits.models",
      "policy.denied_models",
      "providers.openai.api_keys",
      "providers.groq.enabled",
    ]);
  });

  test("shows no secret, and says that one has changed", () => {
    const [change] = diffConfigs(load("admin_key: hush-hush-hush-1"), load("admin_key: hush-hush-hush-2"));
    expect(change).toMatchObject({
      name: "admin_key",
      before: "********",
      after: "********",
      isSecret: true,
    });
  });
});

test("a reload keeps the values that need a restart, and the places of all others", () => {
  const before = load("server: { port: 1000 }\ntimers: { total_ms: 5000 }");
  const kept = keepUntilRestart(
    before,
    load("\nserver: { port: 2000, drain_ms: 7 }\ntimers: { silence_ms: 9 }"),
  );
  expect(kept).toMatchObject({
    server: { port: 1_000, drain_ms: 7 },
    timers: { total_ms: 5_000, silence_ms: 9 },
  });
  expect(originsOf(kept)?.placeOf(["timers", "silence_ms"])).toMatchObject({ line: 3, column: 11 });
  expect(before.timers.silence_ms).toBe(60_000);
});

test("docs/configuration.md names every setting that needs a restart", () => {
  const text = readFileSync(join(import.meta.dir, "..", "..", "docs", "configuration.md"), "utf8");
  const [, listed = ""] = /- These settings change only with a restart: ([\s\S]*?)\. `GET/.exec(text) ?? [];
  const words = [...listed.matchAll(/`([\w.]+)`/g)].map(([, word]) => word as string);
  const isNamed = (path: readonly string[]) =>
    words.some((word) => path.slice(0, word.split(".").length).join(".") === word || path.at(-1) === word);
  const settings = listPaths().filter(needsRestart);
  expect(settings.length).toBeGreaterThan(15);
  expect(settings.filter((path) => !isNamed(path)).map((path) => path.join("."))).toEqual([]);
});
