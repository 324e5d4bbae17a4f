import { describe, expect, test } from "bun:test";
import { readSchema } from "../../../src/app/config/schema-paths.ts";
import {
  findVariant,
  kindOf,
  nameField,
  type Schema,
  startValue,
  withMember,
} from "../../../src/console/parts/schema/schema.ts";
import { unitOf } from "../../../src/console/parts/schema/units.ts";
import { moveUp, putGuardrail } from "../../../src/console/screens/guardrails/guardrail-list.ts";
import {
  changeTarget,
  moveTargetUp,
  sharesOf,
} from "../../../src/console/screens/routing/route-definition.ts";
import { listUsers } from "../../../src/console/screens/settings/list-users.ts";
import {
  changeSetting,
  problemAt,
  readProblems,
  toEdits,
} from "../../../src/console/screens/settings/setting-draft.ts";
import {
  listFormSettings,
  OWN_SCREENS,
  searchSettings,
} from "../../../src/console/screens/settings/setting-tree.ts";

const schema = readSchema() as Schema;
const settings = listFormSettings(schema);
const found = (name: string) => settings.find(({ path }) => path.join(".") === name);

describe("the form of all settings", () => {
  test("has every setting of the schema once, and those with screens of their own not at all", () => {
    const names = settings.map(({ path }) => path.join("."));
    expect(new Set(names).size).toBe(names.length);
    const sections = new Set(names.map((name) => name.split(".")[0] ?? ""));
    const all = Object.keys(schema.properties ?? {});
    expect(all.filter((name) => !sections.has(name)).sort()).toEqual(Object.keys(OWN_SCREENS).sort());
    expect(settings.filter(({ group }) => group === "other")).toEqual([]);
  });

  test("edits every setting in a field of its kind, and only large ones as JSON", () => {
    const kinds = Object.fromEntries(settings.map(({ path, schema: one }) => [path.join("."), kindOf(one)]));
    expect(kinds).toMatchObject({
      "limits.attempts": "number",
      "policy.denied_models": "texts",
      "policy.zero_retention": "switch",
      log_level: "choice",
      "metrics.token": "secret",
      webhooks: "list",
      "pricing.rules": "list",
      "limits.models": "map",
      "console.oidc.rules": "list",
      "console.oidc.reauthenticate_ms": "union",
    });
    expect(Object.keys(kinds).filter((name) => kinds[name] === "json")).toEqual(["catalog.overrides"]);
  });

  test("marks settings that need a restart, and keeps those of a machine apart", () => {
    expect(found("timers.total_ms")).toMatchObject({ needsRestart: true, group: "timers" });
    expect(found("timers.silence_ms")).toMatchObject({ needsRestart: false });
    expect(found("database.url")).toMatchObject({
      isFileOnly: true,
      group: "machine",
      title: "Database: URL",
    });
    expect(found("limits.per_key.requests_per_minute")?.title).toBe("Per key: requests per minute");
  });

  test("is searched by all words in names, descriptions and values", () => {
    const names = (typed: string) =>
      searchSettings(settings, typed, ({ path }) => (path.at(-1) === "attempts" ? "four" : "")).map(
        ({ path }) => path.join("."),
      );
    expect(names("FIRST token")).toContain("timers.first_token_ms");
    expect(names("connection provider wait")).toEqual(["timers.connect_ms"]);
    expect(names("four")).toEqual(["limits.attempts"]);
  });

  test("names fields in words, and numbers in units that people read", () => {
    expect(["first_token_ms", "body_bytes", "issuer_url", "a"].map(nameField)).toEqual([
      "First token",
      "Body size",
      "Issuer URL",
      "A",
    ]);
    const print = (name: string, value: number) => unitOf(name)?.print(value) ?? null;
    expect(print("connect_ms", 90_000)).toBe("1.5 min");
    expect(print("connect_ms", 10)).toBeNull();
    expect(print("body_bytes", 33_554_432)).toBe("32 MiB");
    expect(print("error_share", 0.1)).toBe("10 %");
    expect(unitOf("attempts")).toBeNull();
  });
});

describe("changes of settings", () => {
  test("are edits at their paths, and none where the stored value is typed again", () => {
    const one = changeSetting({}, ["limits", "attempts"], 5, undefined);
    const two = changeSetting(one, ["log_level"], undefined, "warn");
    expect(toEdits(two)).toEqual([
      { path: ["limits", "attempts"], value: 5 },
      { path: ["log_level"], remove: true },
    ]);
    expect(toEdits(changeSetting(two, ["log_level"], "warn", "warn"))).toEqual([
      { path: ["limits", "attempts"], value: 5 },
    ]);
  });

  test("have what the API says about them at their fields, without the name of the field", () => {
    const problems = [{ field: "limits.attempts", message: "limits.attempts must be at most 20" }];
    const read = readProblems({ field: null, message: "no", metadata: { problems } });
    expect(problemAt(read, ["limits", "attempts"])).toBe("must be at most 20");
    expect(problemAt(read, ["limits", "repeats"])).toBeNull();
  });

  test("of an object leave the other members in their places", () => {
    expect(Object.keys(withMember({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
    expect(withMember({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
    expect(withMember(undefined, "a", 1)).toEqual({ a: 1 });
  });

  test("of an alternative begin with its constants", () => {
    const rule = found("console.oidc.rules")?.schema.items as Schema;
    expect(startValue(rule)).toEqual({ operator: true });
    expect(findVariant(rule.anyOf ?? [], { claim: "a", value: "b", organization: "o", role: "owner" })).toBe(
      1,
    );
  });

  test("name the settings that refer to a secret", () => {
    const document = { webhooks: [{ url: `\${secret:a}` }], metrics: { token: `\${secret:ab}` } };
    expect(listUsers(document, "a")).toEqual(["webhooks.0.url"]);
  });
});

describe("the order of guardrails and targets", () => {
  const list = (["a", "b", "c"] as const).map((name) => ({ name, kind: "pii" as const }));

  test("changes by one place, and a guardrail is replaced in its place", () => {
    expect(moveUp(list, "c").map(({ name }) => name)).toEqual(["a", "c", "b"]);
    expect(moveUp(list, "a")).toEqual(list);
    expect(putGuardrail(list, "b", { name: "x", kind: "regex" }).map(({ name }) => name)).toEqual([
      "a",
      "x",
      "c",
    ]);
    expect(putGuardrail(list, null, { name: "x", kind: "regex" }).map(({ name }) => name)).toEqual([
      "a",
      "b",
      "c",
      "x",
    ]);
  });

  test("of targets decides the fallbacks, and weights are shares of their sum", () => {
    const targets = [
      { model: "a/a", weight: 3 },
      { model: "b/b", weight: 1 },
      { model: "c/c", weight: 0 },
    ];
    expect(sharesOf(targets)).toEqual([0.75, 0.25, 0]);
    expect(sharesOf([{ model: "a/a", weight: 0 }])).toEqual([0]);
    expect(moveTargetUp(targets, 2).map(({ model }) => model)).toEqual(["a/a", "c/c", "b/b"]);
    expect(changeTarget(targets, 0, { weight: 2 })[0]).toEqual({
      model: "a/a",
      weight: 2,
    });
  });
});
