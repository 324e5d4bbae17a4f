import { describe, expect, test } from "bun:test";
import { Command } from "commander";
import { addFieldOptions, readFieldOptions } from "../../../src/cli/endpoint/field-options.ts";
import { KEY_SETTINGS } from "../../../src/core/accounts/fields/key-fields.ts";
import { readFields, type SettableFields } from "../../../src/core/accounts/fields/resource-fields.ts";
import { ORGANIZATION_SETTINGS } from "../../../src/core/accounts/records/account-fields.ts";
import { MEMBER_SETTINGS } from "../../../src/core/accounts/records/member-fields.ts";
import { PROVIDER_KEY_SETTINGS } from "../../../src/core/provider-keys/provider-key-fields.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");

/** Parses arguments with the options of some fields, and returns the change that they ask for. */
function readArguments<Fields extends SettableFields>(fields: Fields, args: readonly string[]) {
  const command = addFieldOptions(new Command().exitOverride(), fields, "change");
  return readFields(fields, readFieldOptions(fields, command.parse(args, { from: "user" }).opts(), NOW));
}

/** The fields without an option; a field with parts needs an option for each part. */
function listWithoutOption(fields: SettableFields): string[] {
  return Object.entries(fields).flatMap(([name, { option, parts }]) => {
    if (parts !== undefined) return listWithoutOption(parts);
    return option === undefined ? [name] : [];
  });
}

describe("options of fields", () => {
  test.each<[string, SettableFields]>([
    ["a key", KEY_SETTINGS],
    ["an account", ORGANIZATION_SETTINGS],
    ["a member", MEMBER_SETTINGS],
    ["a provider key", PROVIDER_KEY_SETTINGS],
  ])("every field of %s that requests can set has an option", (_resource, fields) => {
    expect(listWithoutOption(fields)).toEqual([]);
  });

  test("given options become the change that a request with these fields asks for", () => {
    const args = ["--spend-limit", "2.50", "--models", "openai/*, *:free", "--tokens-per-minute", "100"];
    expect(readArguments(KEY_SETTINGS, [...args, "--expires", "2027-01-31"])).toEqual({
      spendLimit: 2_500_000_000,
      models: ["openai/*", "*:free"],
      rateLimit: { tokensPerMinute: 100 },
      expiresAt: Date.parse("2027-01-31T00:00:00Z"),
    });
  });

  test("options that are not given change nothing", () => {
    expect(readArguments(ORGANIZATION_SETTINGS, [])).toEqual({});
  });

  test("the value none unsets a field, and empties a list that cannot be unset", () => {
    expect(readArguments(KEY_SETTINGS, ["--spend-limit", "none", "--prompt-log", "none"])).toEqual({
      spendLimit: null,
      promptLog: null,
    });
    expect(
      readArguments(ORGANIZATION_SETTINGS, ["--allowed-models", "none", "--denied-models", "none"]),
    ).toEqual({ policy: { allowedModels: null, deniedModels: [] } });
  });

  test.each<[string, SettableFields, readonly string[], string]>([
    ["a negative amount", KEY_SETTINGS, ["--spend-limit=-1"], "--spend-limit must be an amount"],
    ["an amount with an exponent", KEY_SETTINGS, ["--spend-limit", "1e2"], "--spend-limit must be"],
    ["ten decimal places", KEY_SETTINGS, ["--spend-limit", "0.0000000001"], "--spend-limit must be"],
    ["more seconds than 30 days", KEY_SETTINGS, ["--prompt-log", "2592001"], "1 to 2592000 seconds, or none"],
    [
      "a time in the past",
      KEY_SETTINGS,
      ["--expires", "2026-11-22"],
      "--expires must be a time in the future",
    ],
    ["an empty name", KEY_SETTINGS, ["--name", " "], "--name must be a text of 1 to 200 characters"],
    ["an unknown role", MEMBER_SETTINGS, ["--role", "root"], "--role must be one of owner, admin"],
    ["a negative order", PROVIDER_KEY_SETTINGS, ["--order=-1"], "--order must be a whole number"],
    ["another word than yes or no", PROVIDER_KEY_SETTINGS, ["--enabled", "maybe"], "must be yes or no"],
  ])("%s is rejected with the option's name", (_value, fields, args, message) => {
    expect(() => readArguments(fields, args)).toThrow(message);
  });

  test("help states defaults for a new resource, and what none stands for in a change", () => {
    const helpFor = (use: "new" | "change") =>
      addFieldOptions(
        new Command().configureHelp({ helpWidth: 200 }),
        ORGANIZATION_SETTINGS,
        use,
      ).helpInformation();
    expect(helpFor("new")).toContain("US dollars, or none for no bound (default: 0)");
    expect(helpFor("new")).toContain("may call, comma-separated (default: all)");
    expect(helpFor("change")).toContain("may call, comma-separated, or none for all\n");
  });
});
